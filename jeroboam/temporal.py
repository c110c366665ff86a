"""How every process connects to Temporal: one converter, one set of search attributes."""

import asyncio
import time
from datetime import timedelta

import structlog
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode

from jeroboam.errors import ConfigurationError
from jeroboam.settings import Settings

CLUSTER_ID = SearchAttributeKey.for_keyword("ClusterId")
CLUSTER_NAME = SearchAttributeKey.for_keyword("ClusterName")
PROJECT_ID = SearchAttributeKey.for_keyword("ProjectId")
OPERATION = SearchAttributeKey.for_keyword("Operation")
DRIVER = SearchAttributeKey.for_keyword("Driver")
CLOUD = SearchAttributeKey.for_keyword("Cloud")

SEARCH_ATTRIBUTES = (CLUSTER_ID, CLUSTER_NAME, PROJECT_ID, OPERATION, DRIVER, CLOUD)

RPC_TIMEOUT = timedelta(seconds=10)
START_TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = 2.0

log = structlog.get_logger(__name__)


async def connect(settings: Settings, *, lazy: bool = False) -> Client:
    """Return a client.

    Args:
        lazy: Connect at the first call, so that a process can start before the server.
    """
    key = settings.temporal_api_key
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        data_converter=pydantic_data_converter,
        tls=settings.temporal_tls,
        api_key=key.get_secret_value() if key else None,
        lazy=lazy,
    )


async def connect_when_up(settings: Settings) -> Client:
    """Return a client as soon as the server answers.

    Raises:
        ConfigurationError: It did not within ``START_TIMEOUT_SECONDS``.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            return await connect(settings)
        except RuntimeError as error:
            if time.monotonic() > deadline:
                raise ConfigurationError(
                    f"Temporal at {settings.temporal_address} does not answer "
                    "(JEROBOAM_TEMPORAL_ADDRESS). Is the server running?"
                ) from error
            log.warning("waiting_for_temporal", address=settings.temporal_address)
        await asyncio.sleep(RETRY_SECONDS)


async def register_search_attributes(client: Client) -> None:
    """Make the search attributes known to the namespace; those that exist are left alone."""
    for key in SEARCH_ATTRIBUTES:
        request = AddSearchAttributesRequest(
            namespace=client.namespace,
            search_attributes={key.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD},
        )
        try:
            await client.operator_service.add_search_attributes(request, timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.ALREADY_EXISTS:
                raise
