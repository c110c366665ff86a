"""Nobody reaches inside the cloud through a webhook."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import ConfigurationError, InvalidRequestError
from jeroboam.hooks.targets import Targets, is_public, parse

INSIDE = [
    "127.0.0.1",
    "127.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:db8::1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_inside_is_not_public(address: str) -> None:
    """Loopback, private, link-local and their disguises in IPv6 are not the Internet."""
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_outside_is_public(address: str) -> None:
    """Addresses of the Internet are public."""
    assert is_public(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_disguise_changes_nothing(address: ipaddress.IPv4Address) -> None:
    """An IPv4 address in IPv6's clothes is judged as itself."""
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    translated = ipaddress.IPv6Address((0x64FF9B << 96) | int(address))
    assert is_public(mapped) == is_public(address) == is_public(translated)


ALLOWED = Targets(
    ["https://hooks.example.org/jeroboam", "http://10.0.0.5:8080", "https://[fd00::5]"],
    ["10.1.0.0/16"],
)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org/jeroboam",
        "https://hooks.example.org/jeroboam/",
        "https://hooks.example.org/jeroboam/a?b=c",
        "https://HOOKS.example.org:443/jeroboam",
        "http://10.0.0.5:8080/anything",
        "https://[fd00::5]/",
    ],
)
def test_allowed(url: str) -> None:
    """What an entry is a prefix of is allowed, whatever the spelling of host and port."""
    ALLOWED.check(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org/",
        "https://hooks.example.org/jeroboam2",
        "https://hooks.example.org/jeroboam/../admin",
        "https://hooks.example.org/jeroboam/%2e%2e/admin",
        "https://hooks.example.org/jeroboam/%2E./admin",
        "https://hooks.example.org/jeroboam%2fadmin",
        "https://hooks.example.org/jeroboam/%252e%252e/admin",
        "https://hooks.example.org/jeroboam\\..\\admin",
        "http://hooks.example.org/jeroboam",
        "https://hooks.example.org:8443/jeroboam",
        "https://hooks.example.org.evil.example/jeroboam",
        "https://hooks.example.org@evil.example/jeroboam",
        "https://evil.example/https://hooks.example.org/jeroboam",
        "https://user@hooks.example.org/jeroboam",
        "https://:@hooks.example.org/jeroboam",
        "https://hooks.example.org/jeroboam#part",
        "https://hooks.example.org/jeroboam ",
        "https://hooks.example.org/jero\nboam",
        "https://hooks.example.org./jeroboam",
        "https://hooks.example.org:x/jeroboam",
        "https://[::1/jeroboam",
        "https:///jeroboam",
        "//hooks.example.org/jeroboam",
        "ftp://hooks.example.org/jeroboam",
        "file:///etc/passwd",
        "gopher://10.0.0.5:8080/",
        "http://10.0.0.6:8080/",
        "http://10.0.0.5/",
        "http://0x0a000005:8080/",
        "http://167772165:8080/",
        "https://hook\u0455.example.org/jeroboam",
        "",
    ],
)
def test_refused(url: str) -> None:
    """Anything else is refused, and so is what two programs could read differently."""
    with pytest.raises(InvalidRequestError):
        ALLOWED.check(url)


def test_nothing_is_allowed_by_default() -> None:
    """Without entries no target is allowed, and the message names the setting."""
    with pytest.raises(InvalidRequestError, match="JEROBOAM_WEBHOOK_ALLOWED"):
        Targets(()).check("https://example.org/")


def test_address_behind_a_name() -> None:
    """Behind a name there must be a public address, or one of the operator's networks."""
    target = ALLOWED.check("https://hooks.example.org/jeroboam")
    permitted = {
        address
        for address in ("8.8.8.8", "10.1.2.3", "::ffff:10.1.2.3", "10.2.0.1", "127.0.0.1")
        if ALLOWED.permits(target, ipaddress.ip_address(address))
    }
    assert permitted == {"8.8.8.8", "10.1.2.3", "::ffff:10.1.2.3"}


def test_address_in_place_of_a_name() -> None:
    """An entry with an address allows that address, and no other."""
    target = ALLOWED.check("http://10.0.0.5:8080/")
    assert ALLOWED.permits(target, ipaddress.ip_address("10.0.0.5"))
    assert not ALLOWED.permits(target, ipaddress.ip_address("8.8.8.8"))


def test_message_does_not_show_the_path() -> None:
    """A path or query may be a secret, so that messages name scheme, host and port only."""
    with pytest.raises(InvalidRequestError) as caught:
        ALLOWED.check("https://chat.example.org:8443/T0/very-secret?key=very-secret")
    assert "https://chat.example.org:8443 " in caught.value.message
    assert "very-secret" not in caught.value.message
    assert parse("https://[::1]/").shown == "https://[::1]"


@pytest.mark.parametrize(
    ("allowed", "networks"),
    [
        (["hooks.example.org"], []),
        (["https://hooks.example.org/?a=b"], []),
        (["https://*.example.org"], []),
        ([], ["10.0.0.1/8"]),
        ([], ["everything"]),
    ],
)
def test_wrong_settings(allowed: list[str], networks: list[str]) -> None:
    """A wrong entry ends the process at its start with the setting's name."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_WEBHOOK_"):
        Targets(allowed, networks)


@given(st.text(st.characters(exclude_characters="/?"), max_size=40))
def test_any_text_is_judged(text: str) -> None:
    """No text makes the check fail in another way, and none is allowed by chance."""
    with pytest.raises(InvalidRequestError):
        ALLOWED.check(f"https://hooks.example.org{text}.invalid")
