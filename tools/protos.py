"""Makes the Python of the protocol buffers: ``python -m tools.protos``."""

import re
import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

from tools.environment import CHECKOUT

PROTOS = CHECKOUT / "jeroboam/api/grpc/proto"
STUBS = CHECKOUT / "jeroboam/api/grpc/v1"

_IMPORT = re.compile(r"^(from|import) jeroboam\.v1\b", re.MULTILINE)
_PACKAGE = "jeroboam.api.grpc.v1"


def generate(target: Path) -> list[Path]:
    """Write the modules of all protocol files into a folder; return their paths.

    What protoc writes imports by the names of the protocol's package. These are no names of
    Python's packages here, so the imports are led to where the modules are.

    Raises:
        RuntimeError: protoc refuses a file; it has said why.
    """
    names = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    inside = target / "jeroboam/v1"
    kinds = ("python", "grpc_python", "mypy", "mypy_grpc")
    plugins = [f"--plugin=protoc-gen-{kind}={_plugin(kind)}" for kind in ("mypy", "mypy_grpc")]
    outputs = [f"--{kind}_out={'quiet:' if kind in kinds[2:] else ''}{target}" for kind in kinds]
    includes = [f"-I{PROTOS}", f"-I{files('grpc_tools') / '_proto'}"]
    if protoc.main(["protoc", *includes, *plugins, *outputs, *names]):
        raise RuntimeError("protoc failed")
    written = []
    for path in sorted(inside.iterdir()):
        made = target / path.name
        made.write_text(_IMPORT.sub(rf"\1 {_PACKAGE}", path.read_text()))
        path.unlink()
        written.append(made)
    inside.rmdir()
    inside.parent.rmdir()
    return written


def _plugin(kind: str) -> Path:
    """Return the program beside this Python, which need not be on the path."""
    return Path(sys.executable).with_name(f"protoc-gen-{kind}")


if __name__ == "__main__":
    for path in generate(STUBS):
        sys.stdout.write(f"{path.relative_to(CHECKOUT)}\n")
