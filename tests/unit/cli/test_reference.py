"""The page on the command line says what the commands say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli import reference

JEROBOAM = Path(sys.executable).with_name("jeroboam")


def test_page_is_up_to_date() -> None:
    """The page has all commands with their options, as the program has them."""
    _, _, rest = reference.PAGE.read_text().partition(reference.BEGIN)
    found, _, _ = rest.partition(reference.END)
    assert found == f"\n\n{reference.commands()}\n", "Run: python -m tests.unit.cli.reference"


@pytest.mark.parametrize("group", ["operation", "cluster", "hook", "schedule", "db"])
def test_help_loads_nothing_large(group: str) -> None:
    """Help is there at once: neither the engine nor OpenStack's libraries are loaded for it."""
    heavy = "temporalio|sqlalchemy|openstack|keystoneauth1|fastapi|httpx"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(JEROBOAM), group, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "jeroboam.cli.main" in loaded
    assert not {name for name in loaded if name.split(".")[0] in heavy.split("|")}
