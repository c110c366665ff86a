"""Who is asking."""

from jeroboam.models.base import Model


class Identity(Model):
    """The validated owner of a request; it never holds the token itself.

    Args:
        user_id: Keystone id of the user.
        project_id: Keystone id of the project that the token is scoped to.
        roles: Names of the roles that the token carries.
        is_admin: Whether the token acts for the whole cloud.
        user_domain_id: Keystone id of the user's domain; policy may ask for it and its name.
        project_domain_id: Keystone id of the project's domain, likewise.
    """

    user_id: str
    project_id: str
    user_name: str = ""
    project_name: str = ""
    roles: tuple[str, ...] = ()
    is_admin: bool = False
    user_domain_id: str = ""
    user_domain_name: str = ""
    project_domain_id: str = ""
    project_domain_name: str = ""
