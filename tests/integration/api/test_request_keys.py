"""Creates that are sent again, because nobody knew what had become of the first one."""

import asyncio
from typing import Any

import httpx

from tests.integration.api.conftest import Service, error_of


async def create(service: Service, key: str, token: str = "member-token", **body: Any) -> Any:
    sent = {"name": "once", "cluster_template_id": "small"} | body
    headers = {"Idempotency-Key": key}
    return await service.call("POST", "/v1/clusters", token=token, json=sent, headers=headers)


def made(response: httpx.Response) -> tuple[str, str]:
    assert response.status_code == 202, response.text
    return response.json()["uuid"], response.headers["jeroboam-operation"]


async def clusters(service: Service) -> int:
    return len((await service.everything())["clusters"])


async def test_a_repeated_create_makes_one_cluster(service: Service) -> None:
    """It is answered as the first one was, also when the quota is full by now."""
    template = (await service.template())["uuid"]
    first = made(await create(service, "k1"))
    for name in ("a", "b"):
        await service.cluster(template, name=name)
    assert made(await create(service, "k1")) == first
    assert await clusters(service) == 3
    spec = await service.store.clusters.spec(first[0])
    assert {group.cluster_id for group in spec.node_groups} == {first[0]}


async def test_creates_that_are_sent_at_once(service: Service) -> None:
    """However many arrive together, one cluster is made, with one operation."""
    await service.template()
    answers = await asyncio.gather(*(create(service, "k2") for _ in range(6)))
    assert len({made(one) for one in answers}) == 1
    assert await clusters(service) == 1
    assert len(service.operations.started) == 1


async def test_the_key_of_another_request(service: Service) -> None:
    """A key that was used for something else is no permission to forget the request."""
    await service.template()
    made(await create(service, "k3"))
    response = await create(service, "k3", node_count=5)
    assert response.status_code == 409
    assert "Choose a new key" in error_of(response)["detail"]
    assert await clusters(service) == 1


async def test_keys_belong_to_projects(service: Service) -> None:
    """The same word of another project is another key; so is another word."""
    await service.template()
    await service.template(token="stranger-token")
    ours = made(await create(service, "k4"))
    theirs = made(await create(service, "k4", token="stranger-token"))
    other = made(await create(service, "k5"))
    assert len({ours, theirs, other}) == 3


async def test_a_key_that_is_none(service: Service) -> None:
    """An empty key, or one that is too long, is refused."""
    await service.template()
    for key in ("", "x" * 256):
        response = await create(service, key)
        assert response.status_code == 400, response.text
    assert await clusters(service) == 0
