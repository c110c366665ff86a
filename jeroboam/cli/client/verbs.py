"""Requests that change a cluster: what they would do, or doing it."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from jeroboam.cli.client.accepted import WaitOption, follow
from jeroboam.cli.client.commands import Run, command
from jeroboam.cli.client.plan_page import show_plan
from jeroboam.cli.client.questions import YesOption, confirm

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only show the plan and the changes; do nothing.")
]


@dataclass(frozen=True)
class Request:
    """One request that changes something.

    Args:
        query: Arguments; those that are ``None`` are not sent.
        question: What to ask before it is sent.
    """

    method: str
    path: tuple[str, ...]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    question: str | None = None


def preview(run: Run, request: Request) -> None:
    """Show what a request would do."""
    query = {**request.query, "dry_run": True}
    answer = run.api.send(request.method, *request.path, query=query, body=request.body)
    show_plan(run.screen, answer.body)


def perform(run: Run, request: Request, *, wait: bool, yes: bool) -> None:
    """Send a request, and look on if that is wished.

    Args:
        yes: Not to ask before.
    """
    if request.question and not yes:
        confirm(request.question)
    answer = run.api.send(request.method, *request.path, query=request.query, body=request.body)
    follow(run, answer, wait=wait)


def verb(
    name: str, deeds: typer.Typer, plans: typer.Typer, *, asks: bool = False
) -> Callable[[Callable[..., Request]], Callable[..., Request]]:
    """Make a function that builds a request into two commands: one does it, one plans it.

    Args:
        asks: Whether its requests have a question.
    """

    def register(build: Callable[..., Request]) -> Callable[..., Request]:
        def do(run: Run, *, wait: bool, dry_run: bool, yes: bool = True, **given: Any) -> None:
            if dry_run:
                preview(run, build(**given))
            else:
                perform(run, build(**given), wait=wait, yes=yes)

        def plan(run: Run, **given: Any) -> None:
            preview(run, build(**given))

        options = (_WAIT, _DRY_RUN, _YES) if asks else (_WAIT, _DRY_RUN)
        deeds.command(name)(command(_shaped(do, build, *options)))
        plans.command(name)(command(_shaped(plan, build)))
        return build

    return register


def _shaped(
    function: Callable[..., None], build: Callable[..., Request], *more: inspect.Parameter
) -> Callable[..., None]:
    """Give a command the arguments of the function that builds its request, and more."""
    functools.update_wrapper(function, build)
    own = inspect.signature(build, eval_str=True)
    run = inspect.Parameter("run", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Run)
    parameters = [run, *own.parameters.values(), *more]
    shape = inspect.Signature(parameters, return_annotation=None)
    function.__signature__ = shape  # type: ignore[attr-defined]
    return function


def _flag(name: str, annotation: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=False, annotation=annotation)


_WAIT = _flag("wait", WaitOption)
_DRY_RUN = _flag("dry_run", DryRunOption)
_YES = _flag("yes", YesOption)
