"""Labels are typed, and unknown ones are refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.kubernetes.labels import TABLE, UBUNTU
from jeroboam.drivers.kubernetes.options import extra_args, parse_flags
from jeroboam.errors import InvalidRequestError
from tests.unit.drivers.heat import magnum_labels

# What advice names beside labels: fields of clusters and templates.
OTHER_NAMES = {"create_timeout", "fixed_network", "health_status"}


def test_defaults_are_valid() -> None:
    """Every default passes its own check."""
    values = TABLE.read({})
    assert values["kube_tag"] == "v1.37.1"
    assert values["boot_volume_size"] == 0
    assert values["availability_zone"] is None
    assert values["kubeapi_options"] is None
    assert values["os_auto_update"] is False
    assert values["cloud_provider_enabled"] is False
    assert values["cinder_csi_enabled"] is True


@pytest.mark.parametrize(
    ("label", "value", "expected"),
    [
        ("kube_tag", "latest", "a version as v1.2.3"),
        ("boot_volume_size", "ten", "a whole number"),
        ("boot_volume_size", "-1", "a whole number"),
        ("fixed_subnet_cidr", "10.0.0.1/24", "an IPv4 network"),
        ("fixed_subnet_cidr", "ten", "an IPv4 network"),
        ("master_lb_allowed_cidrs", "10.0.0.0/8,x", "networks separated by commas"),
        ("master_lb_floating_ip_enabled", "maybe", "true or false"),
        ("cgroup_driver", "cgroups", "one of systemd, cgroupfs"),
        ("kubelet_options", "max-pods=5", "flags as --name=value"),
        ("kubelet_options", "--max-pods='5", "flags as --name=value"),
        ("kubeproxy_options", "--v=5", "--proxy-mode"),
        ("flannel_network_subnetlen", "8", "a number from 16 to 30"),
        ("container_infra_prefix", "reg istry", "a registry"),
        ("kube_binaries_url", "ftp://x", "an http or https URL"),
        ("containerd_tarball_sha256", "abc", "64 hexadecimal digits"),
        ("cloud_provider_tag", "latest", "a version as v1.36.0, from v1.27.0 on"),
        ("cloud_provider_tag", "v1.26.4", "a version as v1.36.0, from v1.27.0 on"),
        ("cinder_csi_plugin_tag", "v0.99.0", "a version as v1.36.0, from v1.27.0 on"),
        ("csi_cinder_reclaim_policy", "Recycle", "one of Delete, Retain"),
        ("csi_cinder_volume_binding_mode", "Later", "one of WaitForFirstConsumer, Immediate"),
        ("csi_cinder_fstype", "ntfs", "one of ext4, ext3, xfs, btrfs"),
        ("availability_zone", 'nova"', "a name without blanks"),
    ],
)
def test_wrong_type(label: str, value: str, expected: str) -> None:
    """A wrong value is refused with the label, the value and what is expected."""
    with pytest.raises(InvalidRequestError) as caught:
        TABLE.read({label: value})
    for part in (label, value, expected):
        assert part in caught.value.message


def test_unknown_label_names_the_nearest() -> None:
    """A typing error is answered with the label that was probably meant."""
    with pytest.raises(InvalidRequestError, match="Did you mean 'kube_tag'"):
        TABLE.read({"kube_tags": "v1.37.1"})
    with pytest.raises(InvalidRequestError, match="'zzz' is not known"):
        TABLE.read({"zzz": "1"})


def test_empty_means_default() -> None:
    """Magnum's users write "" for a label that they do not want to set."""
    assert TABLE.read({"kube_tag": "", "boot_volume_type": ""}) == TABLE.read({})


def test_typed_values() -> None:
    """Text becomes numbers, truth, networks and flags."""
    values = TABLE.read(
        {
            "boot_volume_size": "20",
            "os_auto_update": "True",
            "master_lb_allowed_cidrs": "10.0.0.0/8, 192.168.0.0/16",
            "kubeapi_options": "--v=2 --profiling",
            "kube_tag": "1.36.4",
        }
    )
    assert values["boot_volume_size"] == 20
    assert values["os_auto_update"] is True
    assert values["master_lb_allowed_cidrs"] == ("10.0.0.0/8", "192.168.0.0/16")
    assert values["kubeapi_options"] == (("v", "2"), ("profiling", "true"))
    assert values["kube_tag"] == "v1.36.4"


def test_reference_lists_every_label() -> None:
    """The reference page is made from the table."""
    page = TABLE.markdown("Labels")
    assert all(f"| `{name}` |" in page for name in TABLE.labels)
    assert all(label.meaning.endswith(".") for label in TABLE.labels.values())


def test_every_label_of_magnum_is_answered() -> None:
    """What Magnum's Kubernetes drivers know is offered, or refused with what to do instead."""
    assert set(magnum_labels.NAMES) <= set(TABLE.labels) | set(TABLE.retired)
    assert not set(TABLE.retired) & set(TABLE.labels)
    for name, advice in TABLE.retired.items():
        assert advice.endswith(".")
        with pytest.raises(InvalidRequestError) as caught:
            TABLE.read({name: "true"})
        assert name in caught.value.message
        assert advice in caught.value.message


@pytest.mark.parametrize("text", ["", "false", "False"])
def test_retired_label_that_asks_for_nothing(text: str) -> None:
    """Templates that were written for Magnum may say that they want nothing of it."""
    assert TABLE.read({"monitoring_enabled": text}) == TABLE.read({})


def test_advice_names_labels_that_exist() -> None:
    """A label that is recommended in place of another one is there."""
    for advice in TABLE.retired.values():
        named = set(re.findall(r"[a-z]+(?:_[a-z]+)+", advice)) - OTHER_NAMES
        assert named <= set(TABLE.labels), advice


def test_tables_of_single_drivers() -> None:
    """A driver may have other defaults, and lack labels; it says what to do instead."""
    assert UBUNTU.read({})["containerd_version"] == "v2.4.2"
    assert TABLE.read({})["containerd_version"] is None
    with pytest.raises(InvalidRequestError, match="AppArmor"):
        UBUNTU.read({"selinux_mode": "enforcing"})
    with pytest.raises(KeyError):
        TABLE.having(defaults={"no_such_label": "1"})


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8})?", fullmatch=True),
            st.from_regex(r"[\w.,:=/-]{0,20}", fullmatch=True),
        )
    )
)
def test_flags_survive(flags: list[tuple[str, str]]) -> None:
    """What is written as flags is what kubeadm gets."""
    text = " ".join(f"--{name}={value}" for name, value in flags)
    assert parse_flags(text) == tuple(flags)
    assert extra_args(parse_flags(text)) == [{"name": n, "value": v} for n, v in flags]


@given(st.dictionaries(st.sampled_from(list(TABLE.labels)), st.text(max_size=40), max_size=5))
def test_reading_never_breaks(given_labels: dict[str, str]) -> None:
    """Any text is either understood or refused in words."""
    refused = ""
    try:
        TABLE.read(given_labels)
    except InvalidRequestError as error:
        refused = error.message
    assert not refused or "expected" in refused
