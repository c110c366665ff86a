"""The real ``openstack`` command, many times in one process; to start it costs seconds each.

It reads one JSON list of arguments a line, and writes one JSON object a line.
"""

import contextlib
import io
import json
import sys
import traceback
from typing import Any

from openstackclient.shell import OpenStackShell


def main() -> None:
    """Run each command as ``openstack`` would be run by a shell."""
    for line in sys.stdin:
        sys.__stdout__.write(json.dumps(run(json.loads(line))) + "\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]


def run(arguments: list[str]) -> dict[str, Any]:
    """Return exit code and output of one command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: Any = OpenStackShell().run(arguments)
        except SystemExit as stopped:
            code = stopped.code
        except Exception:  # noqa: BLE001 - the parent shows what broke
            traceback.print_exc()
            code = 255
    return {"code": code or 0, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    main()
