"""``jeroboam cluster`` against the API."""

import json

import pytest

from jeroboam.models import OperationKind
from tests.integration.api.conftest import Service
from tests.integration.cli.clusters import created, creating, latest
from tests.integration.cli.conftest import CommandLine

VERBS = {
    "rebuild": (("demo",), OperationKind.REBUILD),
    "reboot": (("demo",), OperationKind.SOFT_REBOOT),
    "resize": (("demo", "3"), OperationKind.RESIZE),
    "check-health": (("demo",), OperationKind.CHECK_HEALTH),
    "delete": (("demo",), OperationKind.DELETE),
}


@pytest.mark.parametrize("verb", VERBS)
async def test_each_verb(service: Service, cli: CommandLine, verb: str) -> None:
    """Each verb starts its kind of operation and says which one, in words and for programs."""
    operation = await created(service)
    arguments, kind = VERBS[verb]
    yes = ("--yes",) if verb == "delete" else ()
    said = json.loads(await cli.ok("cluster", verb, *arguments, *yes, "-f", "json"))
    begun = await latest(service, operation.cluster_id)
    assert said["operation_id"] == begun.uuid
    assert begun.kind is kind


@pytest.mark.parametrize("verb", VERBS)
async def test_each_plan(service: Service, cli: CommandLine, verb: str) -> None:
    """A plan shows changes and steps, by both names of the command, and touches nothing."""
    operation = await created(service)
    arguments, _ = VERBS[verb]
    planned = await cli.ok("cluster", "plan", verb, *arguments)
    assert await cli.ok("cluster", verb, *arguments, "--dry-run") == planned
    assert "Nothing was done." in planned
    body = json.loads(await cli.ok("cluster", "plan", verb, *arguments, "-f", "json"))
    assert all(step["name"] in planned for step in body["plan"]["steps"])
    assert all(change in planned for change in body["changes"].values())
    assert (await latest(service, operation.cluster_id)).uuid == operation.uuid
    assert service.operations.deleted == []


async def test_accepted_for_people(service: Service, cli: CommandLine) -> None:
    """People are told how to look on."""
    operation = await created(service)
    said = await cli.ok("cluster", "reboot", "demo", "--hard")
    begun = await latest(service, operation.cluster_id)
    assert said == f"Accepted. Look on: jeroboam operation watch {begun.uuid}\n"
    assert begun.kind is OperationKind.HARD_REBOOT


async def test_chosen_nodes(service: Service, cli: CommandLine) -> None:
    """Nodes and the size of batches get into the operation's input."""
    operation = await created(service)
    nodes = ("demo-default-worker-0", "demo-default-worker-1")
    options = [part for node in nodes for part in ("--node", node)]
    await cli.ok("cluster", "rebuild", "demo", *options, "--batch-size", "all")
    parameters = (await latest(service, operation.cluster_id)).parameters
    assert parameters.nodes == nodes
    assert parameters.batch_size is None


async def test_a_resize_that_names_nodes(service: Service, cli: CommandLine) -> None:
    """A resize can name its group and a node to go, and decline the roll-back."""
    operation = await created(service)
    await cli.ok(
        *("cluster", "resize", "demo", "1", "--node-group", "default-worker"),
        *("--remove", "demo-default-worker-0", "--no-rollback"),
    )
    begun = await latest(service, operation.cluster_id)
    assert begun.parameters.nodes_to_remove == ("demo-default-worker-0",)
    assert begun.parameters.node_count == 1
    assert not begun.rollback


async def test_a_busy_cluster(service: Service, cli: CommandLine) -> None:
    """A 409 names the operation at work, and how to look on at it."""
    operation = await creating(service)
    said = await cli.refused("cluster", "rebuild", "demo")
    assert said.startswith(f"Operation {operation.uuid} (create) is in progress on this cluster")
    assert said.endswith(f"jeroboam operation watch {operation.uuid}")


async def test_a_cluster_that_is_not_there(cli: CommandLine) -> None:
    """A name that nobody has is one line for every verb."""
    for verb, (arguments, _) in VERBS.items():
        yes = ("--yes",) if verb == "delete" else ()
        said = await cli.refused("cluster", verb, *arguments, *yes)
        assert "could not be found" in said


async def test_removal_asks(service: Service, cli: CommandLine) -> None:
    """Where nobody can be asked, nothing is removed."""
    await created(service)
    said = await cli.refused("cluster", "delete", "demo")
    assert "Remove cluster demo with all it has?" in said
    assert "--yes" in said
    assert service.operations.deleted == []


async def test_removal_by_force(service: Service, cli: CommandLine) -> None:
    """By force only operators remove."""
    operation = await created(service)
    delete = ("cluster", "delete", "demo", "--force", "--yes")
    assert "cluster:force_delete" in await cli.refused(*delete)
    await cli.ok(*delete, "--os-cloud", "admin")
    begun = await latest(service, operation.cluster_id)
    assert begun.kind is OperationKind.FORCE_DELETE


async def test_what_the_service_refuses(service: Service, cli: CommandLine) -> None:
    """The service's own sentence reaches the user, for a plan too."""
    await created(service)
    for verb in (("rebuild",), ("plan", "rebuild")):
        said = await cli.refused("cluster", *verb, "demo", "--node", "absent")
        assert "absent" in said
        assert "demo-default-worker-0" in said
    assert "from 1 on, or 'all'" in await cli.refused(
        "cluster", "rebuild", "demo", "--batch-size", "0"
    )
