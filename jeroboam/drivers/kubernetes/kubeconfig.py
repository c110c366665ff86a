"""Kubeconfigs: whom a cluster's authority vouches for, and for how long."""

import base64
from datetime import datetime, timedelta

import yaml
from pydantic import Field

from jeroboam.certificates import ClientCertificate, issue_client_certificate
from jeroboam.drivers.base import CertificateAuthority
from jeroboam.drivers.cluster_connection import ADMINISTRATORS
from jeroboam.drivers.coe_api import CoeCall
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.errors import ConflictError
from jeroboam.models import Model

VIEWERS = "jeroboam:viewers"
"""The group of those who may look; bound in each cluster to Kubernetes' own role ``view``."""

_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


class Lifetime(Model):
    """For how long a kubeconfig shall be good.

    Args:
        hours: Nobody can call it back before that.
    """

    hours: int = Field(default=24, ge=1, le=720)


class Kubeconfig(Model):
    """A kubeconfig with its key, for ``kubectl``."""

    kubeconfig: str
    user: str
    group: str
    expires_at: datetime


def for_administrators(call: CoeCall, wish: Lifetime) -> Kubeconfig:
    """Return a kubeconfig that may do everything."""
    return _issue(call, call.context.read_secrets().kubernetes, ADMINISTRATORS, wish)


def for_viewers(call: CoeCall, wish: Lifetime) -> Kubeconfig:
    """Return a kubeconfig that may look at everything but secrets."""
    secrets = call.context.read_secrets()
    with ClusterApi.of(call.api_address, secrets) as api:
        _bind_viewers(api)
    return _issue(call, secrets.kubernetes, VIEWERS, wish)


def _bind_viewers(api: ClusterApi) -> None:
    rbac = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": VIEWERS},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": rbac, "kind": "Group", "name": VIEWERS}],
    }
    try:
        api.create(_BINDINGS, binding)
    except ConflictError:
        # Another kubeconfig has needed it before.
        return


def _issue(
    call: CoeCall, authority: CertificateAuthority, group: str, wish: Lifetime
) -> Kubeconfig:
    user = call.caller.user_id
    issued = issue_client_certificate(authority, user, timedelta(hours=wish.hours), (group,))
    return Kubeconfig(
        kubeconfig=_document(call, authority, issued),
        user=user,
        group=group,
        expires_at=issued.expires_at,
    )


def _document(call: CoeCall, authority: CertificateAuthority, issued: ClientCertificate) -> str:
    name = call.spec.cluster.name
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [
                {
                    "name": name,
                    "cluster": {
                        "server": call.api_address,
                        "certificate-authority-data": _encoded(authority.trusted),
                    },
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": call.caller.user_id}}],
            "users": [
                {
                    "name": call.caller.user_id,
                    "user": {
                        "client-certificate-data": _encoded(issued.certificate),
                        "client-key-data": _encoded(issued.private_key),
                    },
                }
            ],
        },
        sort_keys=False,
    )


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
