"""The quickstart's first second: nobody waits for large imports to be told what is wrong."""

import asyncio
import errno
from collections.abc import Sequence

from rich.console import Console

from devcloud.errors import DevcloudError
from quickstart.cloud import QuickstartCloud
from quickstart.errors import QuickstartError
from quickstart.instance import held
from quickstart.options import Options, parse
from quickstart.ports import require_ports
from quickstart.supervisor import Supervisor

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the quickstart and return the exit code."""
    options = parse(arguments)
    console = Console(highlight=False)
    try:
        with held(options.layout):
            return _run(options, console)
    except KeyboardInterrupt:
        console.print("Interrupted.")
        return EXIT_INTERRUPTED
    except (QuickstartError, DevcloudError) as error:
        return _complain(console, error.cause, error.remedy)
    except OSError as error:
        return _complain(console, *_explained(error))


def _run(options: Options, console: Console) -> int:
    supervisor = Supervisor(options.layout)
    left_over = supervisor.stop_left_over()
    if left_over:
        console.print(f"Stopped what an earlier quickstart had left: {', '.join(left_over)}.")
    cloud = QuickstartCloud(options.layout)
    require_ports(options.layout, cloud)

    from quickstart.session import Session  # noqa: PLC0415 - it loads all clients

    return asyncio.run(Session(options, console, supervisor, cloud).run())


def _complain(console: Console, cause: str, remedy: str) -> int:
    console.print(f"quickstart: {cause}", style="red", markup=False, soft_wrap=True)
    if remedy:
        console.print(f"quickstart: {remedy}", markup=False, soft_wrap=True)
    return EXIT_FAILURE


def _explained(error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOSPC:
        return "The disk is full.", "Free about 1 GB and run the command again."
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}", ""
