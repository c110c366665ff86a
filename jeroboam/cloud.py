"""Access to a cloud: sessions of the service user, of a cluster's owner, and of a requester.

The service user acts for a cluster's owner by a Keystone trust, made with the owner's token when
the cluster is requested. A trust holds no secret: only the service user can use it.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from http.cookiejar import DefaultCookiePolicy
from typing import Any, cast

import requests
from keystoneauth1 import access, plugin
from keystoneauth1.identity import v3
from keystoneauth1.identity.access import AccessInfoPlugin
from keystoneauth1.session import Session, TCPKeepAliveAdapter
from openstack.config import OpenStackConfig
from openstack.config.cloud_region import CloudRegion
from openstack.exceptions import ConfigException

from jeroboam import __version__
from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import (
    ConfigurationError,
    CredentialRejectedError,
    NotAuthorizedError,
    NotFoundError,
)
from jeroboam.models import Identity

MAX_TENANT_SESSIONS = 512
MAX_CONNECTIONS = 64

DELEGATED_ROLES = frozenset(
    {"reader", "member", "_member_", "load-balancer_member", "creator", "heat_stack_owner"}
)
"""What a cluster's resources need; of these a trust delegates those that the requester has."""

USELESS_ROLES = frozenset({"reader"})
"""Roles with which nothing can be built."""

_KEYSTONE = "Keystone"
_TRUSTS = "/OS-TRUST/trusts"
_IDENTITY_API = {"interface": plugin.AUTH_INTERFACE, "version": "3"}
_USER_OPTIONS = ("username", "user_id", "user_domain_id", "user_domain_name", "password")


class Cloud(CloudAccess):
    """One cloud, as an entry of ``clouds.yaml`` describes it. Safe to share between threads.

    Args:
        name: The entry; its user is Jeroboam's service user, who logs in with a password.
        timeout_seconds: The longest to wait for a connection, or for the next byte of an answer.

    Raises:
        ConfigurationError: There is no such entry, or it cannot be used.
    """

    def __init__(self, name: str, *, timeout_seconds: float) -> None:
        self._name = name
        self._timeout = timeout_seconds
        self._config = _read_config(name)
        self._options: Mapping[str, Any] = self._config.config["auth"]
        self._lock = threading.Lock()
        self._tenants: OrderedDict[str, Session] = OrderedDict()
        self._discovered: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Cloud({self._name!r})"

    @property
    def name(self) -> str:
        """The cloud's name in ``clouds.yaml``."""
        return self._name

    @property
    def region(self) -> str | None:
        """The region in which endpoints are looked up."""
        return self._config.get_region_name() or None

    @property
    def interface(self) -> str:
        """The endpoint interface: ``public``, ``internal`` or ``admin``."""
        configured = self._config.get_interface()
        if isinstance(configured, str):
            return configured
        return configured[0] if configured else "public"

    @property
    def auth_url(self) -> str:
        """Keystone's URL, as it stands in ``clouds.yaml``."""
        return str(self._options["auth_url"])

    def service_session(self) -> Session:
        """Return a session of Jeroboam's own service user."""
        return self._service

    def domain_session(self, domain: str) -> Session:
        """Return a session of the service user in a domain, in which it manages users.

        Args:
            domain: The domain's name.

        Raises:
            ConfigurationError: Keystone does not let the service user log in to it.
        """
        auth = v3.Password(self.auth_url, domain_name=domain, **self._user_options)
        session = self._session(auth)
        try:
            with translate_cloud_errors(_KEYSTONE):
                session.get_token()
        except (CredentialRejectedError, NotAuthorizedError) as error:
            raise ConfigurationError(
                f"The service user cannot log in to the domain '{domain}' of "
                "JEROBOAM_TRUSTEE_DOMAIN. The domain has to exist, and the user needs the role "
                f"admin on it. ({error.message})"
            ) from None
        return session

    def public_auth_url(self) -> str:
        """Return the URL under which everybody finds Keystone, by its own catalogue."""
        with translate_cloud_errors(_KEYSTONE):
            found = self._service.get_endpoint(
                service_type="identity", interface="public", region_name=self.region
            )
        base = str(found or self.auth_url).rstrip("/")
        return base if base.endswith("/v3") else f"{base}/v3"

    def service_user_id(self) -> str:
        """Return the Keystone id of Jeroboam's service user.

        Raises:
            CredentialRejectedError: Keystone does not accept the user of ``clouds.yaml``.
        """
        with translate_cloud_errors(_KEYSTONE):
            return str(self._service.get_user_id())

    def tenant_session(self, trust_id: str | None) -> Session:
        """Return a session that acts for the owner of a cluster, in the owner's project.

        It renews its token by itself. The first one of a trust asks Keystone for a token.

        Raises:
            CredentialRejectedError: The cluster has no trust, or it was revoked.
        """
        if trust_id is None:
            raise CredentialRejectedError(
                "The cluster has no Keystone trust, so Jeroboam cannot act for its owner. "
                "Create the cluster anew."
            )
        session = self._cached_tenant(trust_id)
        try:
            with translate_cloud_errors(_KEYSTONE):
                session.get_token()
        except CredentialRejectedError as error:
            self._forget_tenant(trust_id)
            raise CredentialRejectedError(
                "Keystone does not let Jeroboam act for the cluster's owner any more: the trust "
                "was deleted, or its owner was disabled or lost a role. Delete the cluster, or "
                f"ask the operator to repair the owner's account. ({error.message})"
            ) from None
        return session

    def token_session(self, token: str, project_id: str) -> Session:
        """Return a session which uses the requester's own token as it is; it is never cached.

        The service user asks what the token says: of a trust's own token Keystone refuses to tell.

        Raises:
            NotAuthorizedError: The token is not valid, or not for this project.
        """
        try:
            with translate_cloud_errors(_KEYSTONE):
                answer = self._service.get(
                    "/auth/tokens",
                    headers={"X-Subject-Token": token},
                    endpoint_filter=_IDENTITY_API,
                )
        except (CredentialRejectedError, NotFoundError):
            raise NotAuthorizedError("Your token is not valid any more. Log in again.") from None
        found = access.create(resp=answer, auth_token=token)
        if found.project_id != project_id:
            raise NotAuthorizedError(
                f"Your token is not for project {project_id}. Log in to that project."
            )
        return self._session(AccessInfoPlugin(found, self.auth_url))

    def create_trust(self, token: str, identity: Identity) -> str:
        """Let the service user act for the requester in the project of the request.

        The trust can be delegated once more: Heat makes one of its own from it, to act on the
        stack later. Of the requester's roles it carries ``DELEGATED_ROLES``, or all of them when
        only they allow anything, as for an administrator with no other role.

        Args:
            token: The requester's own.
            identity: What the token was found to say.

        Returns:
            The trust's id.

        Raises:
            NotAuthorizedError: Keystone refuses, or the requester has no role to delegate.
        """
        roles = delegated_roles(identity.roles)
        trust_id = self._post_trust(token, identity, roles)
        implied = self.roles_carried(trust_id) - set(roles)
        if not implied:
            return trust_id
        # Heat delegates all roles of the token that it gets, the implied ones too, and Keystone
        # refuses that unless the trust names each of them.
        self.delete_trust(trust_id)
        return self._post_trust(token, identity, (*roles, *sorted(implied)))

    def delete_trust(self, trust_id: str) -> None:
        """Revoke a trust, and with it all that was delegated from it. None is success.

        Raises:
            NotAuthorizedError: It exists, and Jeroboam may not delete it.
        """
        try:
            # Only the trustor may delete a trust, and whoever holds it acts as the trustor.
            self._delete_trust(self.tenant_session(trust_id), trust_id)
        except (CredentialRejectedError, NotAuthorizedError):
            self._delete_unusable_trust(trust_id)
        self._forget_tenant(trust_id)

    def trust_works(self, trust_id: str) -> bool:
        """Return whether one can log in with a trust now; a token from before would not tell."""
        self._forget_tenant(trust_id)
        try:
            self.tenant_session(trust_id)
        except CredentialRejectedError:
            return False
        return True

    def retire_trust(self, trust_id: str) -> bool:
        """Revoke a trust unless something that was delegated from it is still there.

        That is Heat's own trust, where a cluster's credential was replaced by another one of the
        same user. One of which nobody can make use goes in any case.

        Returns:
            Whether it is gone.

        Raises:
            NotAuthorizedError: It exists, and Jeroboam may not delete it.
        """
        if self.trust_works(trust_id) and self.delegated(trust_id):
            return False
        self.delete_trust(trust_id)
        return True

    def roles_carried(self, trust_id: str) -> set[str]:
        """Return the names of the roles of which a trust makes use, the implied ones included."""
        session = self.tenant_session(trust_id)
        auth = cast("v3.Password", session.auth)
        with translate_cloud_errors(_KEYSTONE):
            return set(auth.get_access(session).role_names or ())

    def delegated(self, trust_id: str) -> Sequence[Mapping[str, Any]]:
        """Return Keystone's records of the trusts that were delegated from a trust."""
        session = self.tenant_session(trust_id)
        with translate_cloud_errors(_KEYSTONE):
            user = session.get_user_id()
            given = session.get(
                _TRUSTS, params={"trustor_user_id": user}, endpoint_filter=_IDENTITY_API
            ).json()["trusts"]
        return [one for one in given if one.get("redelegated_trust_id") == trust_id]

    def _post_trust(self, token: str, identity: Identity, roles: Sequence[str]) -> str:
        trust = {
            "trustor_user_id": identity.user_id,
            "trustee_user_id": self.service_user_id(),
            "project_id": identity.project_id,
            "impersonation": True,
            "allow_redelegation": True,
            "redelegation_count": 1,
            "roles": [{"name": role} for role in roles],
        }
        try:
            with translate_cloud_errors(_KEYSTONE):
                answer = self._service.post(
                    _TRUSTS,
                    json={"trust": trust},
                    headers={"X-Auth-Token": token},
                    authenticated=False,
                    endpoint_filter=_IDENTITY_API,
                )
        except (CredentialRejectedError, NotAuthorizedError) as error:
            raise NotAuthorizedError(
                "Keystone does not let you delegate your roles to Jeroboam, which it needs to act "
                "for your cluster. Log in with a password and not with an application credential "
                f"or another trust, then try again. ({error.message})"
            ) from None
        return str(answer.json()["trust"]["id"])

    def _delete_unusable_trust(self, trust_id: str) -> None:
        """Delete a trust without logging in with it; most often it is gone already."""
        try:
            with translate_cloud_errors(_KEYSTONE):
                self._service.get(f"{_TRUSTS}/{trust_id}", endpoint_filter=_IDENTITY_API)
            self._delete_trust(self._service, trust_id)
        except NotFoundError:
            return
        except NotAuthorizedError as error:
            raise NotAuthorizedError(
                f"Trust {trust_id} cannot be used any more, and only an administrator may delete "
                f"it: `openstack trust delete {trust_id}`. ({error.message})"
            ) from None

    def _delete_trust(self, session: Session, trust_id: str) -> None:
        try:
            with translate_cloud_errors(_KEYSTONE):
                session.delete(f"{_TRUSTS}/{trust_id}", endpoint_filter=_IDENTITY_API)
        except NotFoundError:
            return

    @property
    def _user_options(self) -> Mapping[str, Any]:
        return {name: self._options[name] for name in _USER_OPTIONS if self._options.get(name)}

    @cached_property
    def _service(self) -> Session:
        return self._session(self._config.get_auth())

    @cached_property
    def _connections(self) -> requests.Session:
        """The connections that all sessions share; cookies, which could mix users up, are off."""
        shared = requests.Session()
        shared.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("https://", "http://"):
            shared.mount(scheme, TCPKeepAliveAdapter(pool_maxsize=MAX_CONNECTIONS))
        return shared

    def _cached_tenant(self, trust_id: str) -> Session:
        with self._lock:
            session = self._tenants.pop(trust_id, None) or self._new_tenant(trust_id)
            self._tenants[trust_id] = session
            if len(self._tenants) > MAX_TENANT_SESSIONS:
                self._tenants.popitem(last=False)
        return session

    def _forget_tenant(self, trust_id: str) -> None:
        with self._lock:
            self._tenants.pop(trust_id, None)

    def _new_tenant(self, trust_id: str) -> Session:
        if "password" not in self._user_options:
            raise ConfigurationError(
                f"The cloud '{self._name}' in clouds.yaml has no password; Keystone lets a user "
                "act by a trust only after a log-in with a password."
            )
        return self._session(v3.Password(self.auth_url, trust_id=trust_id, **self._user_options))

    def _session(self, auth: Any) -> Session:
        verify, cert = self._config.get_requests_verify_args()
        return Session(
            auth=auth,
            session=self._connections,
            verify=verify,
            cert=cert,
            timeout=self._timeout,
            app_name="jeroboam",
            app_version=__version__,
            discovery_cache=self._discovered,
        )


def delegated_roles(roles: Sequence[str]) -> tuple[str, ...]:
    """Return the roles to delegate, of those that a requester has.

    Raises:
        NotAuthorizedError: There is none with which anything can be built.
    """
    chosen = tuple(role for role in roles if role.lower() in DELEGATED_ROLES)
    for candidates in (chosen, tuple(roles)):
        if any(role.lower() not in USELESS_ROLES for role in candidates):
            return candidates
    raise NotAuthorizedError(
        "You have no role in this project that lets you create anything. Ask its administrator "
        "for the role 'member'."
    )


def _read_config(name: str) -> CloudRegion:
    try:
        config = OpenStackConfig(app_name="jeroboam", app_version=__version__).get_one(name)
    except ConfigException as error:
        raise ConfigurationError(
            f"The cloud '{name}' cannot be read from clouds.yaml: {error} Correct JEROBOAM_CLOUD "
            "or the file; OS_CLIENT_CONFIG_FILE names another one."
        ) from None
    if not config.config.get("auth", {}).get("auth_url"):
        raise ConfigurationError(f"The cloud '{name}' in clouds.yaml has no auth_url.")
    return config
