"""What the documentation says is true, as far as a program can tell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jeroboam.errors import HookRejectedError
from jeroboam.hooks.base import Hook, HookEvent
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import ClusterSpec, HookPhase, OperationKind
from jeroboam.settings import Settings
from tests.fakes import NoCloud
from tests.unit.docs import tables
from tests.unit.specs import make_spec

ROOT = tables.DOCS.parent
PAGES = sorted([ROOT / "README.md", *tables.DOCS.rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
TESTABLE = re.compile(r"<!-- testable -->\n```console\n(.*?)```", re.DOTALL)
ADR_HEADINGS = ["Context", "Decision", "Options", "Rationale", "Consequences"]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def headings(page: Path) -> list[str]:
    prose = FENCE.sub("", page.read_text())
    return re.findall(r"^#+ (.+)$", prose, re.MULTILINE)


def anchor(heading: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.replace(" ", "-")


def code(page: str) -> str:
    """Return the Python of a page, without the examples of tests."""
    blocks = re.findall(r"```python\n(.*?)```", (tables.DOCS / page).read_text(), re.DOTALL)
    return "\n\n".join(block for block in blocks if "import pytest" not in block)


def run_code(page: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(code(page), page, "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link leads to a file that exists, and every anchor to a heading."""
    broken = []
    for link in ("".join(found) for found in LINK.findall(FENCE.sub("", page.read_text()))):
        if re.match(r"\w+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        known = target.exists() and (
            not fragment or fragment in {anchor(heading) for heading in headings(target)}
        )
        if not known:
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=name_of)
def test_page_is_in_the_index(page: Path) -> None:
    """Every page can be reached from the index."""
    index = (tables.DOCS / "README.md").read_text()
    assert page.name == "README.md" or f"({page.relative_to(tables.DOCS)})" in index


@pytest.mark.parametrize("name", tables.TABLES)
def test_table_is_up_to_date(name: str) -> None:
    """Tables made from the code are what the code says; see ``tests.unit.docs.tables``."""
    page, make = tables.TABLES[name]
    found = tables.section(name).search((tables.DOCS / page).read_text())
    assert found, f"{page} has no place for '{name}'"
    assert found[1] == f"{make()}\n\n", "Run: python -m tests.unit.docs.tables"


def test_every_setting_is_explained() -> None:
    """Every setting has a meaning in the reference, and nothing else has."""
    assert tables.SETTINGS.keys() == Settings.model_fields.keys()


def test_every_fake_label_is_explained() -> None:
    """Every label of the fake driver has an effect in the table."""
    assert re.search(r"\|  \|$", tables.fake_labels(), re.MULTILINE) is None


@pytest.mark.parametrize("page", sorted((tables.DOCS / "adr").glob("*.md")), ids=name_of)
def test_decision_has_its_form(page: Path) -> None:
    """Each decision has the same headings and fits on a page."""
    title, *rest = headings(page)
    assert title.startswith(f"ADR-{page.name[:4]}: ")
    assert rest == ADR_HEADINGS
    assert len(page.read_text().splitlines()) <= 80


@pytest.mark.parametrize("page", ["driver-contract.md", "hook-contract.md"])
def test_rules_have_headings(page: str) -> None:
    """Every rule in a contract's table has a heading of its own, in the same order."""
    path = tables.DOCS / page
    rules = re.findall(r"^\| \[([^\]]+)\]\(#", path.read_text(), re.MULTILINE)
    assert [heading for heading in headings(path) if heading in rules] == rules


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_console_examples_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """A testable console example succeeds and prints what follows; ``...`` is anything."""
    for example in TESTABLE.findall(page.read_text()):
        for command, output in commands(example):
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                cwd=tmp_path,
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            )
            assert done.returncode == 0, done.stderr
            expected = ".*".join(re.escape(part) for part in output.split("..."))
            assert re.fullmatch(expected, done.stdout, re.DOTALL), done.stdout


def commands(example: str) -> list[tuple[str, str]]:
    """Return each command of an example with its output."""
    parts = re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.fixture
def spec() -> ClusterSpec:
    return make_spec()


def example_hook(name: str, *arguments: object) -> Hook:
    hook = run_code("how-to/write-a-hook.md")[name]
    assert isinstance(hook, type)
    made = hook(*arguments)
    assert isinstance(made, Hook)
    return made


def event(spec: ClusterSpec, operation: OperationKind, phase: HookPhase) -> HookEvent:
    return HookEvent(operation, phase, spec, NoCloud(), idempotency_key="c:o:s")


def test_example_hook_writes_once(spec: ClusterSpec, tmp_path: Path) -> None:
    """The hook of the page on writing hooks is loaded, and does its work once."""
    ledger = tmp_path / "ledger"
    hook = example_hook("LedgerHook", ledger)
    registry = HookRegistry([hook])
    assert registry.for_operation(OperationKind.CREATE, HookPhase.AFTER) == (hook,)
    for _ in range(2):
        hook.run(event(spec, OperationKind.CREATE, HookPhase.AFTER))
    assert len(ledger.read_text().splitlines()) == 1


def test_example_veto_refuses(spec: ClusterSpec) -> None:
    """The veto of the page on writing hooks refuses what is frozen, and nothing else."""
    hook = example_hook("FreezeHook")
    hook.run(event(spec, OperationKind.DELETE, HookPhase.BEFORE))
    frozen = make_spec(labels={"frozen": "true"})
    with pytest.raises(HookRejectedError, match="thaw"):
        hook.run(event(frozen, OperationKind.DELETE, HookPhase.BEFORE))
