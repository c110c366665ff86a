"""What a first master needs to install the programs that call the cluster's cloud. Pure.

They are the cloud controller manager and the CSI driver of Cinder. Of the latter the cluster gets
a storage class, too.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.kubernetes import cloud_conf
from jeroboam.drivers.kubernetes.plan import CINDER, KubernetesPlan
from jeroboam.drivers.nodes.texts import environment

STORAGE_CLASS = CINDER
"""The name of the default storage class."""

_PROVISIONER = "cinder.csi.openstack.org"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def generate(plan: KubernetesPlan, secrets: ClusterSecrets) -> Mapping[str, str]:
    """Return the texts by name; all are empty where no program calls the cloud.

    Raises:
        InvalidRequestError: There is no account for them.
    """
    if not plan.needs_account:
        return dict.fromkeys(("cloud_env", "cloud_conf", "storage_class"), "")
    return {
        "cloud_env": environment(settings(plan)),
        "cloud_conf": cloud_conf.generate(plan, secrets.account),
        "storage_class": storage_class(plan) if plan.has_cinder_csi else "",
    }


def settings(plan: KubernetesPlan) -> Mapping[str, str]:
    """Return what the script needs to know."""
    return {
        # Load balancers and volumes are marked with it. The name may be that of another cluster.
        "CLUSTER_ID": plan.spec.cluster.uuid,
        "CLOUD_PROVIDER_URL": plan.cloud_provider_url,
        "CINDER_CSI_URL": plan.cinder_csi_url,
    }


def storage_class(plan: KubernetesPlan) -> str:
    """Return the class of claims that name none."""
    values = plan.labels
    parameters = {"csi.storage.k8s.io/fstype": str(values["csi_cinder_fstype"])}
    if zone := values["csi_cinder_availability_zone"]:
        parameters["availability"] = str(zone)
    document: dict[str, Any] = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STORAGE_CLASS, "annotations": {_IS_DEFAULT: "true"}},
        "provisioner": _PROVISIONER,
        "parameters": parameters,
        "reclaimPolicy": values["csi_cinder_reclaim_policy"],
        "volumeBindingMode": values["csi_cinder_volume_binding_mode"],
        "allowVolumeExpansion": values["csi_cinder_allow_volume_expansion"],
    }
    return yaml.safe_dump(document, sort_keys=False)
