"""Clusters whose programs call the cloud, and the account with which they do."""

from dataclasses import replace
from typing import Any

from jeroboam.drivers.base import CloudAccount, ClusterSecrets
from jeroboam.models import ClusterSpec
from tests.unit.drivers.heat.clusters import make_spec, secrets

ACCOUNT = CloudAccount(
    auth_url="https://keystone.example.org/v3",
    user_id="5e1d",
    password='pa"ss\\wo#rd;',
    trust_id="77aa",
    region="here",
)
CLOUD_PROVIDER = {"cloud_provider_enabled": "true"}
CINDER = {"volume_driver": "cinder"}


def with_account(account: CloudAccount | None = ACCOUNT) -> ClusterSecrets:
    """Return the secrets of a cluster that has an account."""
    return replace(secrets(), account=account)


def with_programs(**fields: Any) -> ClusterSpec:
    """Return a cluster with a cloud controller manager and Cinder's CSI driver."""
    labels = {**CLOUD_PROVIDER, **fields.pop("labels", {})}
    template = {**CINDER, **fields.pop("template", {})}
    return make_spec(labels=labels, template=template, **fields)
