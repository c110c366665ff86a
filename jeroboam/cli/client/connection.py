"""Logs in the way every OpenStack client does: clouds.yaml, ``OS_*`` variables, ``--os-cloud``."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jeroboam.cli.client.problems import (
    NotLoggedInError,
    RequestRefusedError,
    ServiceUnreachableError,
)
from jeroboam.cli.client.text import one_line
from jeroboam.errors import ConfigurationError

SERVICE_TYPE = "container-infra"
REQUEST_SECONDS = 60.0
"""The longest that a request may take, unless clouds.yaml or OS_API_TIMEOUT says otherwise."""

SERVER_ERROR = 500


@dataclass(frozen=True)
class Connection:
    """A way to the service.

    Args:
        session: A keystoneauth session, which logs in at the first request.
        base: URL of the API with its version, without a trailing slash.
    """

    session: Any
    base: str


def connect(cloud_name: str | None) -> Connection:
    """Find the service of a cloud.

    Args:
        cloud_name: An entry of clouds.yaml; ``None`` lets the environment decide.

    Raises:
        NotLoggedInError: There are no credentials, or Keystone refuses them.
        ConfigurationError: clouds.yaml cannot be used, or the cloud lacks the service.
        ServiceUnreachableError: Keystone does not answer.
    """
    cloud = _chosen_cloud(cloud_name)
    with translated():
        session = cloud.get_session()
        session.timeout = session.timeout or REQUEST_SECONDS
        endpoint = cloud.get_endpoint(SERVICE_TYPE) or session.get_endpoint(
            service_type=SERVICE_TYPE,
            interface=cloud.get_interface(SERVICE_TYPE),
            region_name=cloud.get_region_name(SERVICE_TYPE),
        )
    if not endpoint:
        raise ConfigurationError(
            f"The cloud's catalogue has no service {SERVICE_TYPE} in this region. Set "
            "OS_REGION_NAME, or give its URL in OS_CONTAINER_INFRA_ENDPOINT_OVERRIDE."
        )
    return Connection(session, versioned(endpoint))


def log_in(cloud_name: str | None) -> Any:
    """Return what Keystone says of who logs in: a keystoneauth ``AccessInfo``.

    Raises:
        NotLoggedInError: There are no credentials, or Keystone refuses them.
        ConfigurationError: clouds.yaml cannot be used.
        ServiceUnreachableError: Keystone does not answer.
    """
    cloud = _chosen_cloud(cloud_name)
    with translated():
        session = cloud.get_session()
        session.timeout = session.timeout or REQUEST_SECONDS
        return session.auth.get_access(session)


def versioned(endpoint: str) -> str:
    """Return an endpoint with the API's version, which an override may lack."""
    base = endpoint.rstrip("/")
    return base if urlsplit(base).path.endswith("/v1") else f"{base}/v1"


def _chosen_cloud(name: str | None) -> Any:
    import openstack.config  # noqa: PLC0415 - half a second that no help page shall cost
    import yaml  # noqa: PLC0415
    from keystoneauth1 import exceptions  # noqa: PLC0415
    from openstack.exceptions import ConfigException  # noqa: PLC0415

    # What the libraries will remove, or try next, is no news for who lists operations.
    warnings.simplefilter("ignore")
    logging.getLogger("keystoneauth").setLevel(logging.ERROR)
    try:
        return openstack.config.OpenStackConfig().get_one(cloud=name)
    except ConfigException as error:
        raise ConfigurationError(one_line(str(error))) from error
    except (yaml.YAMLError, OSError) as error:
        raise ConfigurationError(f"clouds.yaml cannot be read: {one_line(str(error))}") from error
    except exceptions.MissingRequiredOptions as error:
        missing = ", ".join(option.dest for option in error.options)
        raise NotLoggedInError(f"The credentials lack: {missing}.") from error


@contextmanager
def translated() -> Iterator[None]:
    """Turn what keystoneauth raises into errors for the user."""
    from keystoneauth1 import exceptions  # noqa: PLC0415 - see above

    try:
        yield
    except exceptions.Unauthorized as error:
        raise NotLoggedInError("Keystone refuses the credentials.") from error
    except exceptions.SSLError as error:
        raise ConfigurationError(_root_of(error)) from error
    except (exceptions.ConnectionError, exceptions.DiscoveryFailure) as error:
        raise ServiceUnreachableError(_unreachable(error)) from error
    except exceptions.HttpError as error:
        raise _of_status(error.http_status, one_line(str(error))) from error
    except exceptions.ClientException as error:
        raise NotLoggedInError(one_line(str(error))) from error


def _unreachable(error: BaseException) -> str:
    """Return who does not answer and why, without the libraries' nested words."""
    request = next(filter(None, (getattr(one, "request", None) for one in _chain(error))), None)
    if request is None:
        return one_line(str(error))
    where = urlsplit(request.url)
    return f"{where.scheme}://{where.netloc} does not answer: {_root_of(error)}"


def _root_of(error: BaseException) -> str:
    *_, root = _chain(error)
    return one_line(str(root)) or type(root).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and, outermost first, what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _of_status(status: int, message: str) -> RequestRefusedError | ServiceUnreachableError:
    if status >= SERVER_ERROR:
        return ServiceUnreachableError(message)
    return RequestRefusedError(status, message)
