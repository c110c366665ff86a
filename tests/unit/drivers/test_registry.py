"""Drivers are found, enabled and selected by rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import ClusterDriver, Provides
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.errors import (
    AmbiguousDriverError,
    ConfigurationError,
    DriverNotFoundError,
    InvalidRequestError,
)
from jeroboam.settings import Settings


def driver(name: str, *kinds: Provides) -> ClusterDriver:
    class Named(FakeDriver):
        @property
        def provides(self) -> Sequence[Provides]:
            return kinds

    Named.name = name
    return Named()


UBUNTU = Provides(server_type="vm", os="ubuntu", coe="kubernetes")
COREOS = Provides(server_type="vm", os="fedora-coreos", coe="kubernetes")


@dataclass(frozen=True)
class Case:
    registry: DriverRegistry

    def select(self, explicit: str | None = None, **properties: str) -> Any:
        return self.registry.select(
            explicit=explicit,
            image_properties=properties,
            coe="kubernetes",
            server_type="vm",
        )


def case(*drivers: ClusterDriver, disabled: Sequence[str] = ()) -> Case:
    return Case(
        DriverRegistry(
            DriverEntry(one, "a test says so" if one.name in disabled else None) for one in drivers
        )
    )


def test_the_only_match_is_taken() -> None:
    """The tuple decides when nothing else is said."""
    selection = case(driver("a", UBUNTU), driver("b", COREOS)).select(magnum_distro="ubuntu")
    assert (selection.driver.name, selection.distro, selection.warnings) == ("a", "ubuntu", ())


def test_two_matches_are_named() -> None:
    """Two drivers for one kind are an error with both names, whatever their order."""
    with pytest.raises(AmbiguousDriverError, match="a, b"):
        case(driver("a", UBUNTU), driver("b", UBUNTU)).select(magnum_distro="ubuntu")


def test_some_drivers_have_to_be_named() -> None:
    """One that is chosen only by its name is in nobody's way, and is named where it is missed."""
    shy = driver("shy", UBUNTU)
    type(shy).only_by_name = True
    assert case(shy, driver("a", UBUNTU)).select(magnum_distro="ubuntu").driver.name == "a"
    assert case(shy).select("shy", magnum_distro="ubuntu").driver.name == "shy"
    assert case(shy).select(magnum_driver="shy", magnum_distro="ubuntu").driver.name == "shy"
    with pytest.raises(DriverNotFoundError, match="'shy' would, if the template's 'driver' named"):
        case(shy).select(magnum_distro="ubuntu")


def test_the_image_settles_a_clash() -> None:
    """The image property ``magnum_driver`` picks one of two."""
    both = case(driver("a", UBUNTU), driver("b", UBUNTU))
    assert both.select(magnum_distro="ubuntu", magnum_driver="b").driver.name == "b"


def test_the_template_wins_over_the_image() -> None:
    """The template's explicit driver is stronger than the image's."""
    both = case(driver("a", UBUNTU), driver("b", UBUNTU))
    assert both.select("a", magnum_distro="ubuntu", magnum_driver="b").driver.name == "a"


def test_disabled_is_enforced_by_name_and_by_tuple() -> None:
    """A disabled driver is refused on every path, with the reason."""
    one = case(driver("a", UBUNTU), disabled=["a"])
    with pytest.raises(DriverNotFoundError, match="disabled"):
        one.select("a", magnum_distro="ubuntu")
    with pytest.raises(DriverNotFoundError, match="Driver 'a' would, but is disabled"):
        one.select(magnum_distro="ubuntu")


def test_disabling_one_of_two_settles_a_clash() -> None:
    """A disabled driver is no candidate."""
    both = case(driver("a", UBUNTU), driver("b", UBUNTU), disabled=["a"])
    assert both.select(magnum_distro="ubuntu").driver.name == "b"


def test_named_driver_must_fit() -> None:
    """A driver named for an image that it cannot use is refused, with what it can."""
    with pytest.raises(InvalidRequestError, match="It builds: kubernetes on fedora-coreos"):
        case(driver("b", COREOS)).select("b", magnum_distro="ubuntu")


def test_os_distro_is_a_deprecated_fallback() -> None:
    """``os_distro`` still works and warns; ``magnum_distro`` comes first."""
    both = case(driver("a", UBUNTU), driver("b", COREOS))
    old = both.select(os_distro="ubuntu")
    assert old.driver.name == "a"
    assert "magnum_distro" in old.warnings[0]
    assert both.select(os_distro="ubuntu", magnum_distro="fedora-coreos").driver.name == "b"


def test_image_without_distribution() -> None:
    """An image that declares nothing is refused with the command that mends it."""
    with pytest.raises(InvalidRequestError, match="openstack image set"):
        case(driver("a", UBUNTU)).select()


@given(
    st.permutations(["a", "b", "c"]),
    st.sets(st.sampled_from(["a", "b", "c"])),
    st.sampled_from([None, "a", "b", "c", "d"]),
)
def test_order_never_decides(order: list[str], disabled: set[str], explicit: str | None) -> None:
    """Whatever the load order, the outcome is the same driver or the same error."""

    def outcome(names: Sequence[str]) -> str:
        drivers = case(*(driver(name, UBUNTU) for name in names), disabled=tuple(disabled))
        try:
            return str(drivers.select(explicit, magnum_distro="ubuntu").driver.name)
        except (AmbiguousDriverError, DriverNotFoundError) as error:
            return type(error).__name__

    assert outcome(order) == outcome(sorted(order))


def test_installed_drivers_load() -> None:
    """The shipped drivers are found by their entry points."""
    registry = DriverRegistry.load(Settings(disabled_drivers=("fake",)))
    names = {entry.driver.name: entry.enabled for entry in registry.entries()}
    assert names["fake"] is False
    assert names["k8s_fedora_coreos_v1"] is True
    assert registry.installed("fake").name == "fake"


def test_settings_naming_unknown_drivers() -> None:
    """A typing error in the settings is found at the start."""
    with pytest.raises(ConfigurationError, match="k8s_typo"):
        DriverRegistry.load(Settings(disabled_drivers=("k8s_typo",)))


def test_enabled_list_excludes_the_rest() -> None:
    """With an enabled list, what is not on it is disabled."""
    registry = DriverRegistry.load(Settings(enabled_drivers=("fake",)))
    with pytest.raises(DriverNotFoundError, match="enabled_drivers"):
        registry.get("k8s_fedora_coreos_v1")
