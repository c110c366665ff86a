"""The virtual environment of the checkout, made from the committed lock file."""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
LOCK = CHECKOUT / "requirements.lock"
VENV = CHECKOUT / ".venv"
BOOT = CHECKOUT / ".jeroboam-boot"
PYTHON = VENV / "bin" / "python"
CONSTRAINTS = CHECKOUT / "tools" / "build-constraints.txt"
INPUTS = (LOCK, CHECKOUT / "pyproject.toml", CONSTRAINTS)

FREE_BYTES = 1_500_000_000
"""What both environments and the state of a first quickstart take, with some room."""

OF_OTHER_PYTHONS = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_USER",
)


class Problem(Exception):  # noqa: N818 - a user reads the word in no message
    """What hinders the installation, in one line which says what to do."""


class Progress:
    """Prints a line with the elapsed time for each step."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, step: str) -> None:
        """Report one step."""
        sys.stdout.write(f"[{time.monotonic() - self._started:6.1f} s] {step}\n")
        sys.stdout.flush()


def ensure(progress: Progress, *, devcloud: bool) -> None:
    """Install what is missing.

    Args:
        progress: Told about each step that takes time.
        devcloud: Also install the OpenStack services, into the devcloud's own environment.

    Raises:
        Problem: It cannot be done.
    """
    from devcloud import install  # noqa: PLC0415 - only the checkout has it, not every caller

    home = Path(os.environ.get("DEVCLOUD_VENV") or CHECKOUT / ".devcloud" / "venv")
    services_missing = devcloud and not install.is_installed(home)
    product_missing = not _is_complete()
    if not services_missing and not product_missing:
        return
    try:
        with _exclusive(progress):
            _require_room()
            uv = _uv(progress)
            with _services(progress, uv) if services_missing else contextlib.nullcontext():
                if not _is_complete():
                    _install_product(progress, uv)
    except OSError as error:
        raise Problem(_explain_os_error(error)) from error
    progress("all packages are installed")


def digest() -> str:
    """Return a digest of all that decides what the environment holds."""
    content = hashlib.sha256(sys.version.encode())
    for path in INPUTS:
        content.update(path.read_bytes())
    return content.hexdigest()


def _marker() -> Path:
    return VENV / "bootstrap.sha256"


def _is_complete() -> bool:
    try:
        return PYTHON.exists() and _marker().read_text(encoding="utf-8") == digest()
    except OSError:
        return False


@contextlib.contextmanager
def _exclusive(progress: Progress) -> Iterator[None]:
    """Let one bootstrap work at a time; the others find everything done."""
    BOOT.mkdir(exist_ok=True)
    with (BOOT / "lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another bootstrap of this checkout")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _require_room() -> None:
    free = shutil.disk_usage(CHECKOUT).free
    if free < FREE_BYTES:
        raise Problem(
            f"the disk of {CHECKOUT} has {free / 1e9:.1f} GB left and {FREE_BYTES / 1e9:.1f} GB "
            "are needed: free some and run the command again."
        )


def _uv(progress: Progress) -> Path:
    """Return uv, in the version that the lock file pins."""
    pin = _pin_of_uv()
    uv = BOOT / "bin" / "uv"
    requirements = BOOT / "uv.txt"
    if uv.exists() and requirements.exists() and requirements.read_text(encoding="utf-8") == pin:
        return uv
    progress("installing uv, which installs the rest")
    # Debian ships the module without what it needs.
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        raise Problem(
            "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv"
        )
    _run([sys.executable, "-m", "venv", "--clear", str(BOOT / "venv")])
    requirements.write_text(pin, encoding="utf-8")
    pip = [str(BOOT / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    try:
        _run([*pip, "--retries", "2", "--require-hashes", "-r", str(requirements)])
    except Problem:
        requirements.unlink()
        raise
    uv.parent.mkdir(exist_ok=True)
    shutil.copy2(BOOT / "venv" / "bin" / "uv", uv)
    return uv


def _pin_of_uv() -> str:
    found = re.search(
        r"^uv==.*?(?=^\S)", LOCK.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    if not found:
        raise Problem("requirements.lock does not pin uv: restore the file (git checkout).")
    return found[0]


def _install_product(progress: Progress, uv: Path) -> None:
    progress("installing Jeroboam's packages")
    _marker().unlink(missing_ok=True)
    if not _fits_this_python():
        _run([str(uv), "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)])
    pip = [str(uv), "pip"]
    target = ["--quiet", "--python", str(PYTHON)]
    _run([*pip, "sync", *target, str(LOCK)])
    editable = ["--no-deps", "--build-constraints", str(CONSTRAINTS), "--editable", str(CHECKOUT)]
    _run([*pip, "install", *target, *editable])
    _marker().write_text(digest(), encoding="utf-8")


def _fits_this_python() -> bool:
    """Tell whether the environment works, and with the Python that runs this program."""
    with contextlib.suppress(OSError):
        asked = subprocess.run(  # noqa: S603 - the command is our own
            [str(PYTHON), "-c", "import sys; sys.stdout.write(sys.version)"],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return asked.stdout == sys.version
    return False


@contextlib.contextmanager
def _services(progress: Progress, uv: Path) -> Iterator[None]:
    """Install the OpenStack services meanwhile; both wait for the network most of the time."""
    environment = _environment() | {"PATH": f"{uv.parent}:{os.environ.get('PATH', os.defpath)}"}
    child = subprocess.Popen(
        [sys.executable, "-m", "devcloud", "install"],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []
    reader = threading.Thread(target=_relay, args=(child, said, progress), daemon=True)
    reader.start()
    try:
        yield
        child.wait()
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()
        reader.join()
    if child.returncode:
        complaints = [line.removeprefix("devcloud: ") for line in said]
        raise Problem(" ".join(complaints[-2:]) or "devcloud could not be installed.")


def _relay(child: "subprocess.Popen[str]", said: list[str], progress: Progress) -> None:
    """Show the devcloud's steps with our clock, and keep its complaints for the end."""
    for line in child.stderr or ():
        step = re.sub(r"^\[.*?\] ", "", line.strip())
        if line.startswith("devcloud: "):
            said.append(line.strip())
        else:
            progress(f"devcloud: {step}")


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in OF_OTHER_PYTHONS}


def _run(command: list[str]) -> None:
    done = subprocess.run(  # noqa: S603 - the commands are our own
        command,
        cwd=CHECKOUT,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Problem(explain(command, done.stdout))


def explain(command: list[str], output: str) -> str:
    """Return one line that says why an installer failed and what to do.

    Args:
        command: What was run.
        output: All that it printed.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = lines[-1] if lines else "it printed nothing"
    said = output.lower()
    if "no space left" in said:
        return f"the disk of {CHECKOUT} (or of the cache in ~/.cache) is full: free about 2 GB."
    if "ensurepip" in said:
        return "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv"
    network = ("failed to fetch", "dns error", "resolve", "connection", "timed out", "unreachable")
    if any(word in said for word in network):
        return (
            "the packages cannot be downloaded: check the network, the proxy, and the index that "
            f"pip and uv are configured with. The installer said: {_most_telling(lines)}"
        )
    return f"{Path(command[0]).name} failed: {last}"


def _most_telling(lines: list[str]) -> str:
    causes = [line for line in lines if re.search(r"caused by|error|failed", line, re.IGNORECASE)]
    return (causes or lines)[-1][:200]


def _explain_os_error(error: OSError) -> str:
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{place}: mend that and run the command again."
