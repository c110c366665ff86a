"""A folder that looks like a booted node to the scripts, with stub programs on the path."""

import hashlib
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.unit.drivers.heat.nodes import files

TIMEOUT_SECONDS = 30

# Notes its call; then behaves as its plan says: a line for each call, "fail" or "ok", the last
# one for all further calls.
_STUB = """#!/usr/bin/bash
name="$(basename "$0")"
echo "$name $*" >> "$SANDBOX/calls"
count="$(($(cat "$SANDBOX/$name.count" 2>/dev/null || echo 0) + 1))"
echo "$count" > "$SANDBOX/$name.count"
for answer in "$SANDBOX/$name-answers"/*; do
    # A file's name is what the call must hold, its text the answer.
    if [ -e "$answer" ] && [[ " $* " == *" $(basename "$answer") "* ]]; then
        cat "$answer"
        exit 0
    fi
done
if [ -e "$SANDBOX/$name.plan" ]; then
    step="$(sed -n "${count}p" "$SANDBOX/$name.plan")"
    [ -n "$step" ] || step="$(tail -n 1 "$SANDBOX/$name.plan")"
    case "$step" in
        fail) exit 1 ;;
        ok) exit 0 ;;
        *) echo "$step" ;;
    esac
fi
"""

# Serves files by the last part of their address; what is listed in "broken" comes out wrong once.
_CURL = """#!/usr/bin/bash
echo "curl $*" >> "$SANDBOX/calls"
output=/dev/null
url=""
while [ $# -gt 0 ]; do
    case "$1" in
        --output) output="$2"; shift ;;
        --data) data="$2"; shift ;;
        --cacert) authority="$2"; shift ;;
        http*) url="$1" ;;
    esac
    shift
done
name="$(basename "$url")"
if [ "$name" = tokens ]; then
    cat > "$SANDBOX/login"
    if [ -e "$SANDBOX/keystone-is-down" ]; then rm "$SANDBOX/keystone-is-down"; exit 22; fi
    printf 'HTTP/1.1 201 CREATED\r\nX-Subject-Token: gAAAAABmToken-_\r\nVary: X-Auth-Token\r\n\r\n'
    exit 0
fi
if [ "$name" = signal ]; then
    cat > "$SANDBOX/signal.conf"
    if [ -e "$SANDBOX/heat-is-down" ]; then rm "$SANDBOX/heat-is-down"; exit 7; fi
    echo "$data" >> "$SANDBOX/signals"
    exit 0
fi
if [ "$name" = readyz ] && [ -n "${authority:-}" ]; then
    [ -e "$SANDBOX/other-masters" ] || exit 7
    exit 0
fi
if [ "$name" = readyz ]; then
    if [ -e "$SANDBOX/api-is-down" ]; then rm "$SANDBOX/api-is-down"; exit 7; fi
    exit 0
fi
[ -e "$SANDBOX/web/$name" ] || exit 22
if [ -e "$SANDBOX/broken-$name" ]; then
    rm "$SANDBOX/broken-$name"
    echo garbage > "$output"
    exit 0
fi
cat "$SANDBOX/web/$name" > "$output"
"""


@dataclass(frozen=True)
class Sandbox:
    """One node.

    Args:
        folder: Holds the node's root and what the stubs note.
        scripts: Where the node's scripts are.
    """

    folder: Path
    scripts: str = "/usr/local/lib/jeroboam"

    @classmethod
    def of(cls, folder: Path, document: dict[str, Any]) -> "Sandbox":
        """Lay out the files of a document."""
        laid_out = files(document)
        library = next(path for path in laid_out if path.endswith("/library.sh"))
        sandbox = cls(folder, str(Path(library).parent))
        for path, text in laid_out.items():
            target = sandbox.path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        sandbox.web.mkdir()
        sandbox.programs.mkdir()
        for name in (
            "kubeadm",
            "kubectl",
            "blkid",
            "mkfs.xfs",
            "mountpoint",
            "mount",
            "restorecon",
        ):
            sandbox.program(name, _STUB)
        sandbox.program("curl", _CURL)
        sandbox.program("timeout", '#!/usr/bin/bash\nshift\nexec "$@"\n')
        return sandbox

    @property
    def web(self) -> Path:
        return self.folder / "web"

    @property
    def programs(self) -> Path:
        return self.folder / "programs"

    def path(self, path: str) -> Path:
        return self.folder / "root" / path.lstrip("/")

    def program(self, name: str, text: str = _STUB) -> None:
        target = self.programs / name
        target.write_text(text)
        target.chmod(0o755)

    def plan(self, name: str, *steps: str) -> None:
        (self.folder / f"{name}.plan").write_text("".join(f"{step}\n" for step in steps))

    def answer(self, name: str, word: str, text: str) -> None:
        """Have a program answer calls that hold a word."""
        folder = self.folder / f"{name}-answers"
        folder.mkdir(exist_ok=True)
        (folder / word).write_text(text)

    def mark(self, name: str) -> None:
        (self.folder / name).touch()

    def serve(self, name: str, content: bytes, checksum: str = ".sha256") -> None:
        (self.web / name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        (self.web / f"{name}{checksum}").write_text(f"{digest}  {name}\n")

    def serve_archive(self, name: str, member: str, checksum: str = ".sha256") -> None:
        source = self.folder / "member"
        source.write_text(f"#!/bin/sh\n# {member}\n")
        source.chmod(0o755)
        archive = self.folder / "archive"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(source, arcname=member)
        self.serve(name, archive.read_bytes(), checksum)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run one of the node's scripts to its end."""
        environment = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "SANDBOX": str(self.folder),
            "JEROBOAM_ROOT": str(self.folder / "root"),
            "JEROBOAM_PAUSE": "0",
        }
        return subprocess.run(
            ["bash", str(self.path(f"{self.scripts}/{script}"))],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    def calls(self, *programs: str) -> list[str]:
        """Return the calls of some programs in their order."""
        noted = self.folder / "calls"
        lines = noted.read_text().splitlines() if noted.exists() else []
        return [line for line in lines if line.split(" ", 1)[0] in programs]

    def signals(self) -> list[str]:
        noted = self.folder / "signals"
        return noted.read_text().splitlines() if noted.exists() else []
