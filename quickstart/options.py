"""What can be said on the command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from quickstart.layout import DEFAULT_PORT_BASE, Layout, is_name

LOWEST_PORT_BASE = 1024
HIGHEST_PORT_BASE = 65000


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, understood.

    Attributes:
        layout: Which quickstart.
        once: End when the cluster is complete, instead of staying up.
        new: Create one more cluster even if there is one.
    """

    layout: Layout
    once: bool = False
    new: bool = False


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line; a wrong one ends the program with a line that says why."""
    parser = argparse.ArgumentParser(
        prog="make quickstart ARGS=...",
        description="Runs Jeroboam, Temporal and an OpenStack on this machine, creates a cluster, "
        "and stays up until Ctrl-C.",
    )
    parser.add_argument("--once", action="store_true", help="stop everything after success")
    parser.add_argument("--new", action="store_true", help="create one more cluster")
    parser.add_argument(
        "--port-base",
        type=_port_base,
        default=DEFAULT_PORT_BASE,
        metavar="N",
        help=f"first of the ports, {DEFAULT_PORT_BASE}",
    )
    parser.add_argument("--name", type=_name, help="run beside another quickstart, under this name")
    given = parser.parse_args(arguments)
    return Options(Layout(given.name or "", given.port_base), once=given.once, new=given.new)


def _port_base(text: str) -> int:
    if not text.isdecimal() or not LOWEST_PORT_BASE <= int(text) <= HIGHEST_PORT_BASE:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number between {LOWEST_PORT_BASE} and {HIGHEST_PORT_BASE}"
        )
    return int(text)


def _name(text: str) -> str:
    if not is_name(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not made of small letters and digits")
    return text
