"""Looking on at an operation: from a pipe, on a terminal, and while the API goes away."""

import asyncio
import os
import pty
import re
import signal
import struct
import termios
from asyncio.subprocess import Process
from fcntl import ioctl

from jeroboam.models import Operation, OperationState, Status, StepState
from tests.integration.api.conftest import Service
from tests.integration.cli.clusters import created, creating, step, write
from tests.integration.cli.conftest import DEADLINE_SECONDS, CommandLine, ended
from tests.integration.cli.loopback import LoopbackApi

QUICKLY = ("--interval", "0.1")
WAIT = "Wait for the backend"


async def line_with(process: Process, words: str) -> str:
    """Read a command's lines until one has the words, and return it."""
    assert process.stdout
    async with asyncio.timeout(DEADLINE_SECONDS):
        while line := (await process.stdout.readline()).decode():
            if words in line:
                return line
    assert process.stderr
    raise AssertionError(f"no line with '{words}': {(await process.stderr.read()).decode()}")


async def running(service: Service) -> Operation:
    """Begin an operation that waits for its backend."""
    operation = await creating(service)
    await write(service, operation, 1, steps=(step(WAIT, StepState.RUNNING),))
    return operation


async def finish(service: Service, operation: Operation, *, well: bool = True) -> None:
    """End the operation."""
    await write(
        service,
        operation,
        9,
        state=OperationState.SUCCEEDED if well else OperationState.FAILED,
        reason=None if well else "No valid host was found.",
        cluster_status=Status.CREATE_COMPLETE if well else Status.CREATE_FAILED,
        steps=(step(WAIT, StepState.SUCCEEDED if well else StepState.FAILED),),
    )


async def test_from_a_pipe(service: Service, cli: CommandLine) -> None:
    """Lines come as things happen, plain ones, and the end is exit code 0."""
    operation = await running(service)
    process = await cli.start("operation", "watch", operation.uuid, *QUICKLY)
    # It is flushed: the line is there long before the command ends.
    assert "RUNNING" in await line_with(process, WAIT)
    await finish(service, operation)
    assert "SUCCEEDED" in await line_with(process, WAIT)
    done = await ended(process)
    assert done.code == 0, done.err
    assert re.fullmatch(r"\[ +\d+ s\] create of demo: SUCCEEDED after \d+ s\n", done.out)
    assert done.err == ""


async def test_a_failure(service: Service, cli: CommandLine) -> None:
    """An operation that fails is exit code 2, with the reason in the last line."""
    operation = await running(service)
    await finish(service, operation, well=False)
    done = await cli.run("operation", "watch", operation.uuid)
    assert done.code == 2
    assert done.out.splitlines()[-1].endswith(": No valid host was found.")


async def test_wait_is_watch(service: Service, cli: CommandLine) -> None:
    """``--wait`` looks on at the operation that was begun, and ends with its exit code."""
    await created(service)
    process = await cli.start("cluster", "check-health", "demo", "--wait")
    await line_with(process, "check health of demo")
    await write(service, service.operations.started[-1], 1, state=OperationState.SUCCEEDED)
    assert (await ended(process)).code == 0


async def test_the_api_restarts(service: Service, cli: CommandLine, api: LoopbackApi) -> None:
    """An API that goes away and comes back is borne, said once, and nothing is missed."""
    operation = await running(service)
    process = await cli.start("operation", "watch", operation.uuid, *QUICKLY)
    await line_with(process, WAIT)
    await api.stop()
    said = await line_with(process, "does not answer")
    assert said.startswith("The API does not answer, trying for ")
    await finish(service, operation)
    api.start()
    assert "SUCCEEDED" in await line_with(process, WAIT)
    assert (await ended(process)).code == 0


async def test_the_api_stays_away(service: Service, cli: CommandLine, api: LoopbackApi) -> None:
    """Patience has an end: then it is the error that it would have been at once."""
    operation = await running(service)
    process = await cli.start("operation", "watch", operation.uuid, *QUICKLY, "--patience", "0.5")
    await line_with(process, WAIT)
    await api.stop()
    done = await ended(process)
    assert done.code == 1
    (line,) = done.err.splitlines()
    assert "does not answer" in line


async def test_an_api_that_never_answered(cli: CommandLine, api: LoopbackApi) -> None:
    """Nobody waits five minutes to learn that the address is wrong."""
    await api.stop()
    said = await cli.refused("operation", "watch", "7c1b2a00-0000-4000-8000-000000000000")
    assert "does not answer" in said


async def test_interrupted(service: Service, cli: CommandLine) -> None:
    """Ctrl-C ends the looking on, says that the operation goes on, and leaves it alone."""
    operation = await running(service)
    process = await cli.start("operation", "watch", operation.uuid, *QUICKLY)
    await line_with(process, WAIT)
    process.send_signal(signal.SIGINT)
    done = await ended(process)
    assert done.code == 130
    assert done.out.splitlines()[-1] == (
        f"The operation goes on. Look again: jeroboam operation watch {operation.uuid}"
    )
    assert done.err == ""
    assert service.operations.cancelled == []


async def on_a_terminal(
    service: Service, cli: CommandLine, operation: Operation, **environment: str
) -> str:
    """Watch an operation on a terminal from its middle to its end; return what it got."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = await cli.start(
        *("operation", "watch", operation.uuid, *QUICKLY),
        outputs=slave,
        **{"TERM": "xterm-256color", "LANG": "C.UTF-8", "CI": "", **environment},
    )
    os.close(slave)
    async with asyncio.timeout(DEADLINE_SECONDS):
        begun = await asyncio.to_thread(read, master, WAIT.encode())
        await finish(service, operation)
        rest = await asyncio.to_thread(read, master)
        os.close(master)
        assert await process.wait() == 0
    return (begun + rest).decode()


def read(terminal: int, words: bytes | None = None) -> bytes:
    """Read what a terminal gets until it has the words, or nobody has it open any more."""
    got = b""
    while words is None or words not in got:
        try:
            got += os.read(terminal, 65536)
        except OSError:
            break
    return got


async def test_on_a_terminal(service: Service, cli: CommandLine) -> None:
    """A terminal gets one table, redrawn in place; the last one stays."""
    got = await on_a_terminal(service, cli, await running(service))
    assert "\x1b[" in got
    assert got.count(WAIT) > 1
    assert "✔" in got
    assert "SUCCEEDED" in got


async def test_on_a_terminal_in_a_pipeline(service: Service, cli: CommandLine) -> None:
    """With CI set a terminal gets the lines of a pipe."""
    got = await on_a_terminal(service, cli, await running(service), CI="1")
    assert got.count(WAIT) == 2
    assert "\x1b[2K" not in got
