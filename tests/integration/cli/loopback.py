"""An application on a loopback port."""

import asyncio
import socket
from typing import Any

import uvicorn

from tests.conftest import free_port


class LoopbackApi:
    """An application on a port, which can go away and come back."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.port = free_port()
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Listen, and serve from now on; who comes earlier waits."""
        listening = socket.create_server(("127.0.0.1", self.port), backlog=100)
        config = uvicorn.Config(self._app, log_config=None, lifespan="off")
        self._server = uvicorn.Server(config)
        self._task = asyncio.create_task(self._server.serve([listening]))

    async def stop(self) -> None:
        if self._server and self._task:
            self._server.should_exit = True
            await self._task
