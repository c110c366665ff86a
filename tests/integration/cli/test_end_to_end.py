"""Commands against the whole product: real Temporal, real database, the fake driver."""

import json

from jeroboam.models import OperationState
from tests.integration.cli.conftest import CommandLine
from tests.integration.cli.product import Product


async def test_a_reboot(product: Product, live: CommandLine) -> None:
    """A reboot is planned, done and watched to its end; what was watched is what was planned."""
    spec = await product.cluster("e2e-reboot")
    name = spec.cluster.name
    plan = json.loads(await live.ok("cluster", "plan", "reboot", name, "--hard", "-f", "json"))
    told = await live.ok("cluster", "reboot", name, "--hard", "--wait")
    for step in plan["plan"]["steps"]:
        assert f"SUCCEEDED  {step['name']}" in told
    assert f"hard reboot of {name}: SUCCEEDED after" in told.splitlines()[-1]
    rows = json.loads(await live.ok("operation", "list", "--cluster", name, "-f", "json"))
    assert [(row["kind"], row["state"]) for row in rows] == [
        ("hard_reboot", "SUCCEEDED"),
        ("create", "SUCCEEDED"),
    ]


async def test_a_failure_and_its_retry(product: Product, live: CommandLine) -> None:
    """A failed rebuild is exit code 2 and says why; its retry repeats nothing that is done."""
    spec = await product.cluster("e2e-retry", fake_fail="rebuild", fake_fail_times="1")
    done = await live.run("cluster", "rebuild", spec.cluster.name, "--wait")
    assert done.code == 2, done.err
    assert "Injected fault." in done.out.splitlines()[-1]
    rows = json.loads(await live.ok("operation", "list", "--state", "failed", "-f", "json"))
    (failed,) = [row["uuid"] for row in rows if row["cluster_name"] == spec.cluster.name]
    again = await live.ok("operation", "retry", failed, "--wait")
    assert "SUCCEEDED after" in again.splitlines()[-1]


async def test_a_cancellation(product: Product, live: CommandLine) -> None:
    """A reboot that is cancelled stops at a safe point; who watches is told, with exit code 2."""
    spec = await product.cluster("e2e-cancel", fake_reboot_seconds="6")
    accepted = await live.ok("cluster", "reboot", spec.cluster.name, "-f", "json")
    operation = json.loads(accepted)["operation_id"]
    watching = await live.start("operation", "watch", operation)
    await product.engine.at_step(await product.engine.store.operations.get(operation), "eboot")
    said = await live.ok("operation", "cancel", operation, "--yes", "--reason", "not today")
    assert "finished" in said
    out, _ = await watching.communicate()
    assert watching.returncode == 2
    assert "CANCELLED" in out.decode().splitlines()[-1]
    assert (await product.engine.store.operations.get(operation)).state is OperationState.CANCELLED


async def test_a_hanging_reboot_is_let_go(product: Product, live: CommandLine) -> None:
    """A cancellation that waits for ever names --now, and that ends it; a retry does the rest."""
    spec = await product.cluster("e2e-hanging", fake_lie="reboot")
    accepted = await live.ok("cluster", "reboot", spec.cluster.name, "-f", "json")
    operation = json.loads(accepted)["operation_id"]
    await product.engine.at_step(await product.engine.store.operations.get(operation), "Wait")
    assert "--now" in await live.ok("operation", "cancel", operation, "--yes")
    assert "at once" not in await live.ok("operation", "show", operation)
    assert "not waited for" in await live.ok("operation", "cancel", operation, "--yes", "--now")
    ended = await product.engine.ended(await product.engine.store.operations.get(operation))
    assert ended.state is OperationState.CANCELLED
    assert "May still be at work: " in (ended.reason or "")
    again = await live.ok("operation", "retry", operation, "--wait")
    assert "SUCCEEDED after" in again.splitlines()[-1]


async def test_a_removal(product: Product, live: CommandLine) -> None:
    """A removal can be watched to its end, though the cluster is gone by then."""
    spec = await product.cluster("e2e-delete")
    told = await live.ok("cluster", "delete", spec.cluster.name, "--yes", "--wait")
    assert f"delete of {spec.cluster.name}: SUCCEEDED" in told.splitlines()[-1]
    assert "could not be found" in await live.refused("cluster", "reboot", spec.cluster.name)
