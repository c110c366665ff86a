"""Commands for those who write drivers; they need no service, only this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from jeroboam.drivers.base import ClusterDriver
    from jeroboam.drivers.registry import DriverRegistry

ENGINES = ("heat", "ansible", "mistral", "python")

NameArgument = Annotated[
    str, typer.Argument(help="Name of the new driver, with its major version: k8s_mine_v1.")
]
DirectoryOption = Annotated[
    Path, typer.Option("--directory", help="Where the project's folder is written.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(new)
    app.command()(fork)
    app.command()(lint)


def new(
    name: NameArgument,
    engine: Annotated[
        str, typer.Option(help=f"What builds its clusters: {', '.join(ENGINES)}.")
    ] = "heat",
    directory: DirectoryOption = Path(),
) -> None:
    """Write a new driver that works at once, with tests and packaging."""
    from jeroboam.authoring import engines  # noqa: PLC0415 - loads all of the drivers

    if engine not in set(engines.Engine):
        known = ", ".join(engines.Engine)
        raise typer.BadParameter(f"'{engine}' is none of: {known}.", param_hint="--engine")
    _copy(engines.example(engines.Engine(engine), _registry()), name, directory)


def fork(
    source: Annotated[str, typer.Argument(help="Name of an installed driver.")],
    name: NameArgument,
    directory: DirectoryOption = Path(),
) -> None:
    """Write a new driver that begins as a copy of an installed one."""
    _copy(_registry().installed(source), name, directory)


def lint(
    folder: Annotated[Path, typer.Argument(help="The folder with the driver's driver.py.")],
) -> None:
    """Look for what is missing or broken in a driver's folder; exit code 1 if there is anything."""
    from jeroboam.authoring.lint import lint as look  # noqa: PLC0415 - see above

    findings = look(folder)
    for finding in findings:
        typer.echo(str(finding))
    if findings:
        raise typer.Exit(1)
    typer.echo(f"{folder.resolve().name}: nothing is wrong.")


def _copy(driver: "ClusterDriver", name: str, directory: Path) -> None:
    from jeroboam.authoring import copying, names  # noqa: PLC0415 - see above

    project = copying.copy_driver(driver, names.DriverName.read(name), directory)
    typer.echo(f"{project} begins as a copy of {driver.name}. Its README.md says how to go on.")


def _registry() -> "DriverRegistry":
    from jeroboam import settings  # noqa: PLC0415 - see above
    from jeroboam.drivers.registry import DriverRegistry  # noqa: PLC0415 - see above

    return DriverRegistry.load(settings.load())
