"""Makes what the checkout runs on, then runs a command in it.

Usage: ``python3 tools/bootstrap.py [--devcloud] [ARGUMENTS OF PYTHON...]``

``.venv`` gets exactly the versions of ``requirements.lock``; with ``--devcloud`` the packages of
the OpenStack services are installed at the same time. What is complete already is left alone, so
this costs a fraction of a second from the second time on.

The file has to be readable for Python 3.6 and later: an old one has to be told that it is old.
"""

import os
import sys
import time
from pathlib import Path

OLDEST = (3, 11)

if sys.version_info < OLDEST:
    sys.exit(
        "bootstrap: Python {}.{} is too old; {}.{} or newer is needed. If you have one, name it: "
        "make PYTHON=python3.12 ...".format(*sys.version_info[:2], *OLDEST)
    )

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.environment import CHECKOUT, PYTHON, Problem, Progress, ensure  # noqa: E402


def main() -> None:
    """Install what is missing, then become the command."""
    arguments = sys.argv[1:]
    with_devcloud = arguments[:1] == ["--devcloud"]
    command = arguments[1:] if with_devcloud else arguments
    started = time.time()
    try:
        ensure(Progress(), devcloud=with_devcloud)
    except Problem as problem:
        sys.exit(f"bootstrap: {problem}")
    except KeyboardInterrupt:
        sys.exit("bootstrap: interrupted; the next run goes on from here.")
    if command:
        os.environ.setdefault("QUICKSTART_STARTED", str(started))
        # The environment is ours, and every start would compile all of its modules anew.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.chdir(CHECKOUT)
        os.execv(PYTHON, [str(PYTHON), *command])  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
