"""Logins at a devcloud, with the types that the OpenStack clients leave open."""

from typing import Any, TypeVar

from keystoneauth1.access import AccessInfo
from keystoneauth1.identity import v3
from keystoneauth1.identity.base import BaseIdentityPlugin
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.models import Identity

Found = TypeVar("Found")

NO_PROJECT: dict[str, Any] = {"project_name": None, "project_domain_name": None}
"""Options of a login whose token is for no project, or whose trust brings one along."""


def password(devcloud: Devcloud, name: str, **options: Any) -> v3.Password:
    """Return the login of one of the users of clouds.yaml; options replace what they name."""
    values: dict[str, Any] = {**devcloud.credentials(name), **options}
    return v3.Password(**values)


def access_of(session: Session) -> AccessInfo:
    """Return what Keystone says of the session's user."""
    assert isinstance(session.auth, BaseIdentityPlugin)
    return session.auth.get_access(session)


def identity_of(session: Session) -> Identity:
    """Return who the session's user is, as the API knows its callers."""
    access = access_of(session)
    return Identity(
        user_id=required(access.user_id),
        project_id=required(access.project_id),
        roles=tuple(access.role_names or ()),
    )


def token_of(session: Session) -> str:
    """Return a token for requests without the session."""
    token = session.get_token()
    assert token
    return token


def user_of(connection: Connection) -> str:
    """Return the uuid of the user."""
    return required(connection.current_user_id)


def project_of(connection: Connection) -> str:
    """Return the uuid of the user's project."""
    return required(connection.current_project_id)


def required(found: Found | None) -> Found:
    """Return what a look-up has found; the test cannot go on without it."""
    assert found is not None
    return found
