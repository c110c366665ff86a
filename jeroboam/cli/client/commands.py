"""What all commands share: how to log in, and the form of the output."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from jeroboam.cli.client.api import Api
from jeroboam.cli.client.output import Format, Screen

CloudOption = Annotated[
    str | None,
    typer.Option("--os-cloud", help="An entry of clouds.yaml; else what OS_* variables say."),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="The form of the output.")]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option("--column", "-c", help="A column or field to show; may be repeated."),
]


@dataclass(frozen=True)
class Run:
    """One run of a command: where it asks, and where it prints."""

    api: Api
    screen: Screen


def group(summary: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=summary, no_args_is_help=True, pretty_exceptions_enable=False)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that all have, and its ``Run`` as the first argument."""

    @functools.wraps(function)
    def wrapper(
        context: typer.Context,
        cloud: str | None,
        output: Format,
        columns: list[str] | None,
        **arguments: Any,
    ) -> None:
        run = Run(Api(cloud or context.obj), Screen(output, columns or ()))
        function(run, **arguments)

    own = inspect.signature(function, eval_str=True)
    _run, *rest = own.parameters.values()
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in rest]
    parameters = [_parameter("context", typer.Context), *named, *_SHARED]
    wrapper.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in parameters}
    return wrapper


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


_SHARED = (
    _parameter("cloud", CloudOption, None),
    _parameter("output", FormatOption, Format.TABLE),
    _parameter("columns", ColumnOption, None),
)
