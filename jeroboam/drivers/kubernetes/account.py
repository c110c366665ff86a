"""The account with which programs in a cluster call its cloud, as an object of Kubernetes."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.errors import ClusterUnreachableError, ConflictError, JeroboamError, NotFoundError

MARK = "jeroboam/cloud-account"
"""The annotation on pods which says with what account they were started."""

NAMESPACE = "kube-system"
SECRET = "cloud-config"  # noqa: S105 - the name of an object
FILE = "cloud.conf"

WORKLOADS = (
    ("daemonsets", "openstack-cloud-controller-manager"),
    ("deployments", "csi-cinder-controllerplugin"),
    ("daemonsets", "csi-cinder-nodeplugin"),
)
"""What reads the Secret, when it starts and never again."""

_SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
_DIGEST = 16


def hand_over(api: ClusterApi, text: str) -> None:
    """Have programs in a cluster use another account; those that use it already go on.

    Args:
        text: The ``cloud.conf``; it holds a password.

    Raises:
        ClusterUnreachableError: The cluster does not answer, or does not take it.
    """
    content = b64encode(text.encode()).decode()
    if _stored(api) != content:
        _store(api, content)
    # A digest of a password that nobody can guess gives nothing away.
    _restart(api, sha256(text.encode()).hexdigest()[:_DIGEST])


def _stored(api: ClusterApi) -> str | None:
    """Return what is in the Secret, ``None`` where there is nothing."""
    try:
        found = api.get(f"{_SECRETS}/{SECRET}").get("data") or {}
    except NotFoundError:
        return None
    return found.get(FILE)


def _store(api: ClusterApi, content: str) -> None:
    body = {"metadata": {"name": SECRET}, "data": {FILE: content}}
    try:
        try:
            api.create(_SECRETS, body)
        except ConflictError:
            api.merge(f"{_SECRETS}/{SECRET}", body)
    except JeroboamError as error:
        # Admission hooks of the cluster may quote what they refuse, so their words stay here.
        raise ClusterUnreachableError(
            f"The cluster's API does not take the Secret {NAMESPACE}/{SECRET} "
            f"({type(error).__name__})."
        ) from None


def _restart(api: ClusterApi, digest: str) -> None:
    """Have pods replaced that were not started with this account."""
    patch: dict[str, Any] = {"spec": {"template": {"metadata": {"annotations": {MARK: digest}}}}}
    for plural, name in WORKLOADS:
        try:
            api.merge(f"/apis/apps/v1/namespaces/{NAMESPACE}/{plural}/{name}", patch)
        except NotFoundError:
            # The cluster has not asked for it, or its owner has removed it.
            continue
