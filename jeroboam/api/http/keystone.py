"""Authentication with keystonemiddleware, the library that operators trust.

It is WSGI. So each request's credentials become a minimal WSGI environment, the middleware runs
in a thread, and a tiny inner application catches the identity that it lets through.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog
from keystoneauth1 import loading
from keystonemiddleware.auth_token import AuthProtocol, list_opts
from openstack.config import OpenStackConfig
from oslo_config import cfg

from jeroboam.api.http.caller import Credentials, Refusal
from jeroboam.api.http.token_cache import TokenCache
from jeroboam.errors import ConfigurationError
from jeroboam.models import Identity
from jeroboam.settings import Settings

SERVICE_TYPE = "container-infra"
GROUP = "keystone_authtoken"
CACHE_KEY = "jeroboam.token_cache"
LONGEST_CONNECT_SECONDS = 10
THREADS = 16
LONGEST_TOKEN = 8192
"""Tokens are a few hundred characters; those of the days of PKI had some thousand."""
NOT_AUTHENTICATED = 401

UNAUTHENTICATED = "The request you have made requires authentication."
UNAVAILABLE = "The Keystone service is temporarily unavailable, so the token cannot be checked."
NO_PROJECT = (
    "The token is not scoped to a project. Ask for one with a project, for example by setting "
    "OS_PROJECT_NAME or project_name in clouds.yaml."
)

PROGRAM = (
    "Users of programs in clusters may not use this service. Log in as yourself, with an entry of "
    "clouds.yaml for example."
)

log = structlog.get_logger(__name__)


class KeystoneAuthenticator:
    """Validates tokens against the Keystone of the cloud in the settings.

    Args:
        settings: Names the entry of ``clouds.yaml`` with the service user's credentials.

    Raises:
        ConfigurationError: There is no such entry.
    """

    def __init__(self, settings: Settings) -> None:
        options = _middleware_options(settings)
        self._protocol = AuthProtocol(_catch_identity, {"oslo_config_config": options})
        self._challenge = {
            "WWW-Authenticate": f'Keystone uri="{options[GROUP].www_authenticate_uri}"'
        }
        self._cache = TokenCache(settings.token_cache_seconds)
        self._timeout = settings.cloud_timeout_seconds
        self._programs = settings.trustee_domain.casefold()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="keystone")

    async def __call__(self, credentials: Credentials) -> Identity | Refusal:
        """Return who sent the request, or why it is refused."""
        if not _may_be_tokens(credentials.token, credentials.service_token):
            return Refusal(NOT_AUTHENTICATED, UNAUTHENTICATED, self._challenge)
        call = asyncio.get_running_loop().run_in_executor(self._threads, self._check, credentials)
        try:
            return await asyncio.wait_for(call, self._timeout)
        except TimeoutError:
            log.warning("keystone_timeout", seconds=self._timeout)
            return Refusal(503, UNAVAILABLE)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check(self, credentials: Credentials) -> Identity | Refusal:
        environ = _environ(credentials) | {CACHE_KEY: self._cache}
        answer = _Answer()
        try:
            self._protocol(environ, answer.start)
        except Exception:
            # Anything else than a verdict means that Keystone, or our account on it, is at fault.
            log.exception("keystone_check_failed")
            return Refusal(503, UNAVAILABLE)
        identity: Identity | None = environ.get(_IDENTITY_KEY)
        if identity is None:
            return answer.refusal()
        if self._is_program(identity):
            return Refusal(403, PROGRAM)
        return identity if identity.project_id else Refusal(403, NO_PROJECT)

    def _is_program(self, identity: Identity) -> bool:
        """Whether a program in a cluster asks; its roles would let it delete all of the project."""
        # Keystone finds domains whatever the case of their letters.
        return bool(self._programs) and identity.user_domain_name.casefold() == self._programs


_IDENTITY_KEY = "jeroboam.identity"
StartResponse = Callable[..., object]


class _Answer:
    """What the middleware answered in our place."""

    def __init__(self) -> None:
        self._status = NOT_AUTHENTICATED
        self._headers: dict[str, str] = {}

    def start(self, status: str, headers: Iterable[tuple[str, str]], *_: object) -> None:
        self._status = int(status.split(maxsplit=1)[0])
        self._headers = {key: value for key, value in headers if key == "WWW-Authenticate"}

    def refusal(self) -> Refusal:
        message = UNAUTHENTICATED if self._status == NOT_AUTHENTICATED else UNAVAILABLE
        return Refusal(self._status, message, self._headers)


def _may_be_tokens(*tokens: str | None) -> bool:
    """Whether Keystone needs to be asked; it would take such headers for a broken request."""
    return all(
        len(token) <= LONGEST_TOKEN and token.isascii() and token.isprintable()
        for token in tokens
        if token
    )


def _catch_identity(environ: dict[str, Any], start_response: StartResponse) -> list[bytes]:
    def header(name: str) -> str:
        # The middleware sets what a token does not have to None.
        return environ.get(f"HTTP_X_{name}") or ""

    environ[_IDENTITY_KEY] = Identity(
        user_id=header("USER_ID"),
        project_id=header("PROJECT_ID"),
        user_name=header("USER_NAME"),
        project_name=header("PROJECT_NAME"),
        roles=tuple(role for role in header("ROLES").split(",") if role),
        user_domain_id=header("USER_DOMAIN_ID"),
        user_domain_name=header("USER_DOMAIN_NAME"),
        project_domain_id=header("PROJECT_DOMAIN_ID"),
        project_domain_name=header("PROJECT_DOMAIN_NAME"),
    )
    start_response("204 No Content", [])
    return []


def _environ(credentials: Credentials) -> dict[str, Any]:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": credentials.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": credentials.path,
        "SERVER_NAME": "jeroboam",
        "SERVER_PORT": "0",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
    }
    if credentials.token:
        environ["HTTP_X_AUTH_TOKEN"] = credentials.token
    if credentials.service_token:
        environ["HTTP_X_SERVICE_TOKEN"] = credentials.service_token
    return environ


def _middleware_options(settings: Settings) -> cfg.ConfigOpts:
    """Translate the entry of ``clouds.yaml`` to the options of the middleware."""
    try:
        cloud = OpenStackConfig().get_one(settings.cloud)
    except Exception as error:
        raise ConfigurationError(
            f"The cloud '{settings.cloud}' cannot be read from clouds.yaml: {error}. "
            "Set JEROBOAM_CLOUD to one of its entries."
        ) from error
    options = cfg.ConfigOpts()
    options([], project="jeroboam", default_config_files=[], default_config_dirs=[])
    for group, declared in list_opts():
        options.register_opts(declared, group=group)
    loader: Any = loading.get_plugin_loader(cloud.config["auth_type"])
    options.register_opts(loading.get_auth_plugin_conf_options(loader), group=GROUP)
    known = {option.dest for option in loader.get_options()}
    _override(options, {k: v for k, v in cloud.config["auth"].items() if k in known})
    _override(options, _connection(settings, cloud))
    return options


def _connection(settings: Settings, cloud: Any) -> dict[str, Any]:
    verify, cert = cloud.get_requests_verify_args()
    certificate, key = cert if isinstance(cert, tuple) else (cert, None)
    return {
        "auth_type": cloud.config["auth_type"],
        "www_authenticate_uri": cloud.config["auth"].get("auth_url"),
        "interface": cloud.get_interface("identity") or "public",
        "region_name": cloud.get_region_name(),
        "cafile": verify if isinstance(verify, str) else None,
        "insecure": verify is False,
        "certfile": certificate,
        "keyfile": key,
        "service_type": SERVICE_TYPE,
        "include_service_catalog": False,
        "cache": CACHE_KEY,
        "token_cache_time": settings.token_cache_seconds,
        "http_connect_timeout": min(LONGEST_CONNECT_SECONDS, round(settings.cloud_timeout_seconds)),
        "http_request_max_retries": 1,
    }


def _override(options: cfg.ConfigOpts, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if value is not None and value != "":
            options.set_override(name.replace("-", "_"), value, group=GROUP)
