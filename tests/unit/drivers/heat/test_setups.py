"""What nodes are set up from has a digest, and the slot follows the digest."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import setups
from jeroboam.drivers.heat.setups import Setup
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.clusters import make_spec, secrets

CONTEXT = DriverContext("c:o:s", NoCloud(), secrets)
RELEASES = st.sampled_from(["one", "two", "three"])


def release(spec: ClusterSpec) -> str:
    return FedoraCoreosDriver().setup(CONTEXT, spec, spec.workers[0]).release


def test_release_is_the_same_for_the_same() -> None:
    """A set-up that is rendered again has the same digest: nothing in it is random."""
    spec = make_spec(uuid="c")
    assert release(spec) == release(make_spec(uuid="c"))


def test_release_changes_with_what_nodes_get() -> None:
    """Image, version and options change the digest; the size of the group does not."""
    base: dict[str, Any] = {"uuid": "c"}
    several = [
        make_spec(**base),
        make_spec(**base, labels={"kube_tag": "v1.38.0"}),
        make_spec(**base, group={"image_id": "new"}),
        make_spec(**base, group={"labels": {"kubelet_options": "--v=4"}}),
    ]
    assert len({release(one) for one in several}) == len(several)
    assert release(make_spec(**base, workers=7)) == release(several[0])


def test_release_may_leave_something_out() -> None:
    """What no node is set up anew for does not count."""
    one, other = (Setup.of("image", text, "v1", "lasting") for text in ("one", "other"))
    assert one.release == other.release != Setup.of("image", "one", "v1").release
    assert Setup.of("image", "one", "v1", "one") == Setup.of("image", "one", "v1")


def test_own_labels_of_a_group() -> None:
    """A group's own version counts for its nodes."""
    spec = make_spec(labels={"kube_tag": "v1.37.1"}, group={"labels": {"kube_tag": "v1.36.5"}})
    assert FedoraCoreosDriver().setup(CONTEXT, spec, spec.workers[0]).version == "v1.36.5"


def test_secrets_do_not_show() -> None:
    """A set-up can be logged."""
    spec = make_spec()
    shown = repr(FedoraCoreosDriver().setup(CONTEXT, spec, spec.masters))
    assert "user_data" not in shown
    assert secrets().bootstrap_token not in shown


@given(st.lists(RELEASES, min_size=1, max_size=8))
def test_slot_changes_with_the_release(series: list[str]) -> None:
    """Each new release gets the other slot, a repeated one keeps its own."""
    slot, current = "a", "zero"
    for wanted in series:
        following = setups.next_slot(slot, current, wanted)
        assert (following == slot) == (wanted == current)
        slot, current = following, wanted


@given(RELEASES)
def test_way_back_has_the_slot_that_was(wanted: str) -> None:
    """An upgrade that is led back ends in the slot in which the untouched nodes still are."""
    there = setups.next_slot("a", "zero", wanted)
    assert setups.next_slot(there, wanted, "zero") == "a"


def test_stack_without_a_slot() -> None:
    """A stack that tells no slot is in the first one."""
    assert setups.next_slot("", "", "") == "a"
