"""Memory of API and worker: at rest, and while many clusters are being created."""

import argparse
import asyncio
import time
from pathlib import Path

import httpx
from product import Product, new_template, running_product

CHECKOUT = Path(__file__).parent.parent


def show(product: Product, when: str) -> dict[str, float]:
    """Print the resident memory of each process in MB."""
    found = {
        name: process.memory_info().rss / 1e6
        for name, process in (
            ("api", product.api),
            ("worker", product.worker),
            ("temporal", product.server),
        )
    }
    figures = "   ".join(f"{name} {size:6.0f} MB" for name, size in found.items())
    print(f"{when:34}{figures}", flush=True)
    return found


async def create_many(client: httpx.AsyncClient, count: int) -> None:
    """Ask for many clusters that take an hour each."""
    template = await new_template(client)
    slots = asyncio.Semaphore(8)

    async def create(number: int) -> None:
        async with slots:
            body = {
                "name": f"bench-{number}",
                "cluster_template_id": template,
                "labels": {"fake_create_seconds": "3600"},
            }
            (await client.post("/clusters", json=body)).raise_for_status()

    await asyncio.gather(*(create(number) for number in range(count)))


async def bench(count: int, home: Path, venv: Path) -> None:
    """Measure, fill, measure."""
    async with running_product(home, venv) as product, product.client() as client:
        await asyncio.sleep(5)
        rest = show(product, "at rest")
        started = time.monotonic()
        await create_many(client, count)
        print(f"{count} creates accepted in {time.monotonic() - started:.0f} s", flush=True)
        await asyncio.sleep(30 + count / 20)
        busy = show(product, f"{count} creates in progress")
        before = product.worker.cpu_times(), product.server.cpu_times()
        await asyncio.sleep(60)
        after = product.worker.cpu_times(), product.server.cpu_times()
        for name, then, now in zip(("worker", "temporal"), before, after, strict=True):
            share = (sum(now[:2]) - sum(then[:2])) / 60
            print(f"CPU of one core while they wait: {name} {share:.0%}")
        each = {name: 1000 * (busy[name] - rest[name]) / count for name in rest}
        print("for each cluster: " + "   ".join(f"{name} {kb:.0f} KB" for name, kb in each.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--home", type=Path, default=CHECKOUT / ".devcloud-bench")
    parser.add_argument("--venv", type=Path, default=CHECKOUT / ".devcloud" / "venv")
    arguments = parser.parse_args()
    asyncio.run(bench(arguments.count, arguments.home, arguments.venv))
