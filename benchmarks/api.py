"""How long a tenant waits for the answer to a create, beside a plain read of the same API.

A create validates against the real Keystone and Glance, writes the rows and starts the run before
it answers. The fake driver needs no trust; one costs two more calls to Keystone.
"""

import argparse
import asyncio
import statistics
import time
from pathlib import Path

import httpx
from product import new_template, running_product

CHECKOUT = Path(__file__).parent.parent


async def timed(client: httpx.AsyncClient, method: str, path: str, body: object) -> float:
    """Return the milliseconds of one request, which must succeed."""
    started = time.perf_counter()
    answer = await client.request(method, path, json=body)
    answer.raise_for_status()
    return 1000 * (time.perf_counter() - started)


def show(name: str, times: list[float]) -> None:
    """Print the figures of one kind of request."""
    cuts = statistics.quantiles(times, n=20)
    print(f"{name:34}p50 {statistics.median(times):7.1f} ms   p95 {cuts[18]:7.1f} ms", flush=True)


async def bench(count: int, home: Path, venv: Path) -> None:
    """Take the requests in turns, so that both meet the same load of the machine."""
    async with running_product(home, venv) as product, product.client() as client:
        template = await new_template(client)
        body = {
            "name": "bench",
            "cluster_template_id": template,
            "labels": {"fake_create_seconds": "0"},
        }
        reads, creates = [], []
        for number in range(count + 3):
            read = await timed(client, "GET", "/clusters?limit=10", None)
            create = await timed(client, "POST", "/clusters", body)
            if number >= 3:
                reads.append(read)
                creates.append(create)
        show("GET /v1/clusters?limit=10", reads)
        show("POST /v1/clusters", creates)
        ratio = statistics.median(creates) / statistics.median(reads)
        print(f"ratio of the medians, create to read: {ratio:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--home", type=Path, default=CHECKOUT / ".devcloud-bench")
    parser.add_argument("--venv", type=Path, default=CHECKOUT / ".devcloud" / "venv")
    arguments = parser.parse_args()
    asyncio.run(bench(arguments.count, arguments.home, arguments.venv))
