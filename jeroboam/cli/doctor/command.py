"""``jeroboam doctor``."""

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from jeroboam.cli.client.commands import ColumnOption, FormatOption
from jeroboam.cli.client.output import Format, Screen

if TYPE_CHECKING:
    from jeroboam.cli.doctor.findings import Examination, Finding
    from jeroboam.settings import Settings

COLUMNS = ("state", "check", "detail", "mend")
HIDDEN = "***"
_PASSWORD_IN_URL = re.compile(r"(?<=://)([^/@\s:]*):[^/@\s]+(?=@)")


def doctor(
    seconds: Annotated[
        float, typer.Option("--timeout", min=1, help="How many seconds the looking may take.")
    ] = 20.0,
    output: FormatOption = Format.TABLE,
    columns: ColumnOption = None,
) -> None:
    """Look at all that the service needs, and say what is wrong and how to mend it.

    Changes nothing. The exit code is 1 if something fails; warnings leave it at 0.
    """
    import logging  # noqa: PLC0415 - help pages wait for none of this

    import structlog  # noqa: PLC0415 - likewise

    from jeroboam.cli.doctor import here  # noqa: PLC0415 - likewise
    from jeroboam.cli.doctor.findings import State, examine  # noqa: PLC0415 - likewise

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.CRITICAL)
    hanging = False
    settings, findings = here.read_settings()
    if settings is not None:
        found, hanging = examine(_examinations(settings), seconds)
        findings += found
    shown = [asdict(one) for one in _without_secrets(findings, settings)]
    Screen(output, columns or ()).rows(shown, COLUMNS)
    code = 1 if any(one.state is State.FAIL for one in findings) else 0
    if hanging:
        # Python would wait for the threads of a name look-up, for example.
        sys.stdout.flush()
        os._exit(code)
    raise typer.Exit(code)


def _examinations(settings: "Settings") -> list["Examination"]:
    from jeroboam.cli.doctor import here, services  # noqa: PLC0415 - see above
    from jeroboam.cli.doctor.findings import Examination  # noqa: PLC0415 - see above

    looks = (
        ("state directory", here.state_directory, "Correct JEROBOAM_STATE_DIRECTORY."),
        ("keys", here.keys, "Correct the key; 'openssl rand -base64 32' makes a new one."),
        ("drivers", here.drivers, "Correct JEROBOAM_ENABLED_DRIVERS or ..._DISABLED_DRIVERS."),
        ("hooks", here.hooks, "Correct JEROBOAM_HOOKS_FILE."),
        ("policy", here.policy, "Correct the file; 'jeroboam policy list' shows the rules."),
        ("database", services.database, "Start it, or correct JEROBOAM_DATABASE_URL."),
        ("temporal", services.workflow_engine, "Start it, or correct JEROBOAM_TEMPORAL_ADDRESS."),
        ("cloud", services.cloud, "Correct clouds.yaml or JEROBOAM_CLOUD; is Keystone up?"),
    )
    return [Examination(name, partial(look, settings), mend) for name, look, mend in looks]


def _without_secrets(findings: Iterable["Finding"], settings: "Settings | None") -> list["Finding"]:
    """Return findings without what no log may hold, whatever an error's text quotes."""
    known = set(_secrets(settings)) if settings else set()

    def clean(text: str) -> str:
        for secret in known:
            text = text.replace(secret, HIDDEN)
        return _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}", text)

    return [replace(one, detail=clean(one.detail), mend=clean(one.mend)) for one in findings]


def _secrets(settings: "Settings") -> Iterable[str]:
    from pydantic import SecretStr  # noqa: PLC0415 - see above
    from sqlalchemy.engine import make_url  # noqa: PLC0415 - see above
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415 - see above

    for _, value in settings:
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, SecretStr) and one.get_secret_value():
                yield one.get_secret_value()
    try:
        password = make_url(settings.resolved_database_url).password
    except ArgumentError:
        return
    if password:
        yield str(password)
