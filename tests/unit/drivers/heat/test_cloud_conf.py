"""cloud.conf tells programs how to log in, whatever characters a password has."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import CloudAccount
from jeroboam.drivers.kubernetes import cloud_conf
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.errors import InvalidRequestError
from tests.unit.drivers.heat.accounts import ACCOUNT, CINDER, with_programs
from tests.unit.drivers.heat.clusters import make_spec

EXTERNAL = "80c9fc78-a2be-45d5-a85b-f17a6c98df92"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff"))
ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t"}


def read(text: str) -> dict[str, dict[str, str]]:
    """Read the format of gcfg as its description says, and nothing beyond."""
    sections: dict[str, dict[str, str]] = {}
    for line in text.split("\n"):
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(match[1], {})
        elif line:
            match = re.fullmatch(r'([a-z-]+)="((?:[^"\\]|\\[\\"nt])*)"', line)
            assert match, line
            section[match[1]] = re.sub(r"\\(.)", lambda one: ESCAPES[one[1]], match[2])
    return sections


def sections(account: CloudAccount = ACCOUNT, **fields: Any) -> dict[str, dict[str, str]]:
    return read(cloud_conf.generate(KubernetesPlan.of(with_programs(**fields)), account))


@given(TEXT, TEXT)
def test_values_survive(password: str, address: str) -> None:
    """What is written is what the programs read; no value becomes another option."""
    account = CloudAccount(address, "user", password, "trust", None)
    assert sections(account)["Global"] == {
        "auth-url": address,
        "user-id": "user",
        "password": password,
        "trust-id": "trust",
    }


@pytest.mark.parametrize("letter", ["\0", "\r", "\ufeff"])
def test_what_cannot_be_written(letter: str) -> None:
    """It is refused, without telling the password."""
    account = CloudAccount("http://k", "user", f"hid{letter}den", "trust")
    with pytest.raises(InvalidRequestError, match=r"no cloud\.conf can hold") as caught:
        sections(account)
    assert "hid" not in caught.value.message


def test_region() -> None:
    """The region is told where the account has one."""
    assert sections()["Global"]["region"] == "here"


@pytest.mark.parametrize(
    ("labels", "external", "expected"),
    [
        ({}, "public", {"create-monitor": "true"}),
        ({"octavia_lb_healthcheck": "false"}, None, {"create-monitor": "false"}),
        ({}, EXTERNAL, {"create-monitor": "true", "floating-network-id": EXTERNAL}),
        (
            {"octavia_provider": "ovn"},
            "public",
            {"create-monitor": "true", "lb-provider": "ovn", "lb-method": "SOURCE_IP_PORT"},
        ),
        (
            {"octavia_lb_algorithm": "LEAST_CONNECTIONS"},
            "public",
            {"create-monitor": "true", "lb-method": "LEAST_CONNECTIONS"},
        ),
    ],
)
def test_load_balancers(
    labels: dict[str, str], external: str | None, expected: dict[str, str]
) -> None:
    """Those of services are made as that of the API; a network is named by its id or not at all."""
    found = sections(labels=labels, template={"external_network_id": external})
    assert found["LoadBalancer"] == expected


def test_volumes_alone() -> None:
    """A cluster without cloud controller manager is told nothing of load balancers."""
    plan = KubernetesPlan.of(make_spec(template=CINDER))
    assert set(read(cloud_conf.generate(plan, ACCOUNT))) == {"Global"}
