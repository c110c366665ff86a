"""How commands log in, and what they say when they cannot."""

import asyncio

import pytest

from tests.conftest import free_port
from tests.integration.api.conftest import Service
from tests.integration.cli.clusters import creating
from tests.integration.cli.conftest import CommandLine
from tests.integration.cli.loopback import LoopbackApi

LIST = ("operation", "list", "-f", "value", "-c", "cluster_name")


async def test_by_clouds_yaml(service: Service, cli: CommandLine) -> None:
    """The cloud comes from OS_CLOUD, or before or after the command's name from --os-cloud."""
    await creating(service)
    assert await cli.ok(*LIST) == "demo\n"
    assert await cli.ok("--os-cloud", "admin", *LIST, OS_CLOUD="absent") == "demo\n"
    assert await cli.ok(*LIST, "--os-cloud", "admin", OS_CLOUD="absent") == "demo\n"


async def test_by_the_environment(service: Service, cli: CommandLine, api: LoopbackApi) -> None:
    """Without clouds.yaml the OS_* variables are enough; the override may lack the version."""
    await creating(service)
    (cli.directory / "clouds.yaml").unlink()
    environment = {
        "OS_CLOUD": "",
        "OS_AUTH_TYPE": "admin_token",
        "OS_TOKEN": "member-token",
        "OS_ENDPOINT": "http://127.0.0.1:1",
        "OS_CONTAINER_INFRA_ENDPOINT_OVERRIDE": api.url.removesuffix("/v1"),
    }
    assert await cli.ok(*LIST, **environment) == "demo\n"


async def test_nobody(cli: CommandLine) -> None:
    """Without any credentials the refusal says how to log in."""
    (cli.directory / "clouds.yaml").unlink()
    said = await cli.refused(*LIST, OS_CLOUD="")
    assert "Log in: choose a cloud of your clouds.yaml with --os-cloud" in said


async def test_a_token_that_is_not_valid(cli: CommandLine) -> None:
    """A 401 of the service says how to log in, too."""
    said = await cli.refused(*LIST, OS_CLOUD="thief")
    assert said.startswith("The request you have made requires authentication. Log in: ")


async def test_a_cloud_that_is_not_there(cli: CommandLine) -> None:
    """An unknown cloud is named."""
    assert await cli.refused(*LIST, OS_CLOUD="absent") == "Cloud absent was not found."


@pytest.mark.parametrize("text", ["clouds: [", "clouds:\n\t- x"])
async def test_a_file_that_is_no_yaml(cli: CommandLine, text: str) -> None:
    """A clouds.yaml with a mistake is said to have one."""
    (cli.directory / "clouds.yaml").write_text(text)
    assert "clouds.yaml" in await cli.refused(*LIST)


async def test_a_keystone_that_does_not_answer(cli: CommandLine) -> None:
    """Nobody at Keystone's address: the address and the reason, and nothing of the libraries."""
    port = free_port()
    auth = {"username": "u", "password": "hunter2", "project_name": "p"}
    auth |= {"user_domain_name": "d", "project_domain_name": "d"}
    cli.write_clouds({"gone": {"auth": {"auth_url": f"http://127.0.0.1:{port}/v3", **auth}}})
    said = await cli.refused(*LIST, OS_CLOUD="gone")
    assert said.startswith(f"http://127.0.0.1:{port} does not answer: ")
    assert "refused" in said
    assert "hunter2" not in said


async def test_an_api_that_does_not_answer(cli: CommandLine, api: LoopbackApi) -> None:
    """Nobody at the service's address: the same."""
    await api.stop()
    assert f"http://127.0.0.1:{api.port} does not answer" in await cli.refused(*LIST)


async def test_an_api_that_hangs(cli: CommandLine) -> None:
    """A service that accepts and says nothing is given up after the time-out."""

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        cli.write_clouds(
            {
                "slow": {
                    "auth_type": "admin_token",
                    "auth": {"endpoint": f"http://127.0.0.1:{port}/v1", "token": "t"},
                    "api_timeout": 1,
                }
            }
        )
        assert "timed out" in await cli.refused(*LIST, OS_CLOUD="slow")
    finally:
        server.close()


async def test_a_page_at_the_address(cli: CommandLine) -> None:
    """A proxy's page with status 200 is no API either."""

    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
        writer.close()

    server = await asyncio.start_server(page, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        auth = {"endpoint": url, "token": "t"}
        cli.write_clouds({"page": {"auth_type": "admin_token", "auth": auth}})
        said = await cli.refused(*LIST, OS_CLOUD="page")
        assert said == f"What answers at {url} is not this API."
    finally:
        server.close()


async def test_a_reader_that_goes_away(service: Service, cli: CommandLine) -> None:
    """A pipe that is closed early, as by head, makes no traceback."""
    await creating(service)
    process = await cli.start(*LIST)
    assert process.stdout
    process.stdout._transport.close()  # type: ignore[attr-defined]
    _, errors = await process.communicate()
    assert errors.decode() == ""


async def test_somebody_else_at_the_address(cli: CommandLine, api: LoopbackApi) -> None:
    """An answer that is no API's is one line, whatever it holds."""
    endpoint = {"endpoint": f"http://127.0.0.1:{api.port}/other", "token": "member-token"}
    cli.write_clouds({"wrong": {"auth_type": "admin_token", "auth": endpoint}})
    assert "404" in await cli.refused(*LIST, OS_CLOUD="wrong")


async def test_a_policy_that_forbids(cli: CommandLine) -> None:
    """A 403 is the service's own sentence."""
    assert "operation:get_all" in await cli.refused(*LIST, OS_CLOUD="guest")
