"""The users that programs in clusters log in to the cloud as, and what is delegated to them.

Each cluster has a user of its own, in a domain that holds nobody else. The cluster's trust is
delegated once more, to that user and with fewer roles: it goes when the cluster's trust goes. An
application credential would not do, as Keystone lets only its user make and delete one, and not by
a trust.
"""

import secrets
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any, cast

from keystoneauth1 import plugin
from keystoneauth1.exceptions import EndpointNotFound
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from jeroboam.cloud import Cloud
from jeroboam.drivers.context import CloudAccount
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    ConflictError,
    NotAuthorizedError,
    NotFoundError,
)

PROGRAM_ROLES = frozenset({"reader", "member", "_member_", "load-balancer_member"})
"""What volumes and load balancers need; programs get those of them that the cluster's trust has."""

_KEYSTONE = "Keystone"
_USERS = "/users"
_TRUSTS = "/OS-TRUST/trusts"
_IDENTITY_API = {"interface": plugin.AUTH_INTERFACE, "version": "3"}
_PASSWORD_BYTES = 32


def new_password() -> str:
    """Return a password for a new user."""
    return secrets.token_urlsafe(_PASSWORD_BYTES)


def user_name(cluster_id: str, operation_id: str) -> str:
    """Return the name of the user that an operation makes for a cluster."""
    return f"{_prefix(cluster_id)}{operation_id}"


class Accounts:
    """Makes and removes the users of clusters in one cloud. Every call may be repeated.

    Args:
        cloud: Its service user manages the users of the domain.
        domain: The domain's name; empty where the operator gave none.
    """

    def __init__(self, cloud: Cloud, domain: str) -> None:
        self._cloud = cloud
        self._domain = domain

    def make(self, name: str, password: str, trust_id: str) -> CloudAccount:
        """Make a user who may act in the project of a cluster.

        Args:
            name: The user's; one that is there gets the password.
            trust_id: The cluster's, from which the user's is delegated.

        Raises:
            ConfigurationError: There is no domain for such users.
            CredentialRejectedError: The cluster's trust is of no use.
            NotAuthorizedError: It has no role for programs.
        """
        session = self._domain_session()
        user_id = self._user(session, name, password)
        return CloudAccount(
            auth_url=self._cloud.public_auth_url(),
            user_id=user_id,
            password=password,
            trust_id=self._trust(user_id, trust_id),
            region=self._cloud.region,
            load_balancers=self._has_load_balancers(trust_id),
        )

    def remove(self, cluster_id: str, *, keep: str | None = None) -> None:
        """Remove the users of a cluster, and with them what was delegated to them.

        Without a domain for them there are none.

        Args:
            keep: Name of the one that stays.
        """
        if not self._domain:
            return
        session = self._domain_session()
        with translate_cloud_errors(_KEYSTONE):
            for user in list(_users(session, name__startswith=_prefix(cluster_id))):
                if user["name"] != keep:
                    _delete(session, f"{_USERS}/{user['id']}")

    def _domain_session(self) -> Session:
        if not self._domain:
            raise ConfigurationError(
                "Programs in clusters need users of their own, and JEROBOAM_TRUSTEE_DOMAIN names "
                "no domain for them."
            )
        return self._cloud.domain_session(self._domain)

    def _user(self, session: Session, name: str, password: str) -> str:
        wanted = {
            "name": name,
            "password": password,
            "domain_id": _domain_id(session),
            "description": "Programs in a cluster of Jeroboam",
            # Nobody is there to change it, and a program that is set up wrongly locks nobody out.
            "options": {
                "ignore_password_expiry": True,
                "ignore_change_password_upon_first_use": True,
                "ignore_lockout_failure_attempts": True,
            },
        }
        with suppress(ConflictError), translate_cloud_errors(_KEYSTONE):
            answer = session.post(_USERS, json={"user": wanted}, endpoint_filter=_IDENTITY_API)
            return str(answer.json()["user"]["id"])
        with translate_cloud_errors(_KEYSTONE):
            for user in _users(session, name=name):
                change = {"user": {"password": password}}
                session.patch(f"{_USERS}/{user['id']}", json=change, endpoint_filter=_IDENTITY_API)
                return str(user["id"])
        raise CloudUnavailableError(f"Keystone has a user {name} and does not show it.")

    def _has_load_balancers(self, trust_id: str) -> bool:
        session = self._cloud.tenant_session(trust_id)
        with translate_cloud_errors(_KEYSTONE):
            try:
                found = session.get_endpoint(
                    service_type="load-balancer", interface="public", region_name=self._cloud.region
                )
            except EndpointNotFound:
                return False
        return found is not None

    def _trust(self, user_id: str, trust_id: str) -> str:
        """Return the trust of a user that was delegated from another one; make it if need be."""
        for one in self._cloud.delegated(trust_id):
            if one["trustee_user_id"] == user_id:
                return str(one["id"])
        session = self._cloud.tenant_session(trust_id)
        roles = program_roles(self._cloud.roles_carried(trust_id))
        with translate_cloud_errors(_KEYSTONE):
            trust = {
                "trustor_user_id": session.get_user_id(),
                "trustee_user_id": user_id,
                "project_id": session.get_project_id(),
                # Taken for the owner, programs would get at what is the owner's alone.
                "impersonation": False,
                "allow_redelegation": False,
                "roles": [{"name": role} for role in sorted(roles)],
            }
            answer = session.post(_TRUSTS, json={"trust": trust}, endpoint_filter=_IDENTITY_API)
        return str(answer.json()["trust"]["id"])


def program_roles(carried: Collection[str]) -> set[str]:
    """Return the roles of programs in a cluster whose owner, or whose trust, has these.

    Raises:
        NotAuthorizedError: None is for programs. Whoever reads one Secret in the cluster would be
            what the owner is, an administrator of the cloud for example.
    """
    narrow = PROGRAM_ROLES.intersection(carried)
    if not narrow:
        raise NotAuthorizedError(
            "Programs in this cluster would log in to the cloud, with no other role than "
            f"{', '.join(sorted(carried)) or 'none'}. Make the cluster as somebody who has the "
            "role member, or without these programs (label cloud_provider_enabled, volume_driver)."
        )
    return set(narrow)


def _prefix(cluster_id: str) -> str:
    return f"jeroboam-{cluster_id}-"


def _domain_id(session: Session) -> str:
    return str(cast("v3.Password", session.auth).get_access(session).domain_id)


def _users(session: Session, **query: str) -> Iterator[dict[str, Any]]:
    answer = session.get(
        _USERS,
        params={"domain_id": _domain_id(session), **query},
        endpoint_filter=_IDENTITY_API,
    )
    yield from answer.json()["users"]


def _delete(session: Session, path: str) -> None:
    try:
        with translate_cloud_errors(_KEYSTONE):
            session.delete(path, endpoint_filter=_IDENTITY_API)
    except NotFoundError:
        return
