"""Asks a driver a question that needs no I/O, and does not wait for ever for the answer."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from jeroboam.errors import DriverContractError

ANSWER_SECONDS = 15.0
"""Far more than a check of labels takes, also on a busy machine."""

T = TypeVar("T")


async def asked(driver: str, function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function of a driver returns; the event loop goes on meanwhile.

    Python cannot stop a thread: one that hangs is left behind.

    Args:
        driver: Its name, for the message.

    Raises:
        DriverContractError: It did not answer in time.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(result)  # type: ignore[arg-type]
        else:
            answer.set_exception(error)

    def work() -> None:
        result, failure = None, None
        try:
            result = function(*arguments)
        except Exception as error:  # noqa: BLE001 - whoever asked gets it
            failure = error
        with suppress(RuntimeError):  # The loop may be closed by now.
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=work, name=f"ask {driver}", daemon=True).start()
    try:
        return await asyncio.wait_for(answer, ANSWER_SECONDS)
    except TimeoutError:
        raise DriverContractError(
            f"Driver '{driver}' did not answer within {ANSWER_SECONDS:g} s. Tell the operator."
        ) from None
