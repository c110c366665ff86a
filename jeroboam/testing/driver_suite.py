"""The driver compliance suite: the contract as tests.

A driver's own tests subclass ``DriverSuite`` and give one fixture::

    class TestMyDriver(DriverSuite):
        @pytest.fixture
        def case(self) -> DriverCase:
            return DriverCase(driver=MyDriver(), spec=..., context=...)

Each rule of ``docs/driver-contract.md`` that a test can check has one here.
"""

import re
from dataclasses import replace

import pytest

from jeroboam.drivers.base import Phase, Poller, Provides, SupportsHealth
from jeroboam.errors import InvalidRequestError
from jeroboam.models import DriverFiles, HealthStatus, Method
from jeroboam.testing.driver_abilities import AbilityRules
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.patience import ask

__all__ = ["DriverCase", "DriverSuite", "LivingCluster"]

SEMANTIC_VERSION = re.compile(r"^\d+\.\d+\.\d+$")
KEY_MARK = "PRIVATE KEY"


class DriverSuite(AbilityRules):
    """Subclass it and give the fixture ``case``."""

    def test_name_and_version(self, case: DriverCase) -> None:
        """A driver has a name and a semantic version."""
        assert case.driver.name
        assert SEMANTIC_VERSION.match(case.driver.version)

    def test_provides(self, case: DriverCase) -> None:
        """A driver says which clusters it builds, and says so for the case at hand."""
        template = case.spec.template
        distro = template.cluster_distro or ""
        assert (
            Provides(server_type=template.server_type, os=distro, coe=template.coe)
            in case.driver.provides
        )

    def test_files_can_be_kept(self, case: DriverCase) -> None:
        """What clusters are built from can be kept with them, is the same each time, and fits."""
        kept = DriverFiles.of(case.driver.files())
        assert DriverFiles.of(case.driver.files()).digest == kept.digest
        case.driver.check_installation()

    def test_template_of_a_valid_spec_is_accepted(self, case: DriverCase) -> None:
        """The template of a valid cluster passes when it is made."""
        case.driver.validate_template(case.spec.template)

    def test_valid_spec_is_accepted(self, case: DriverCase) -> None:
        """A valid cluster passes, and validation does nothing to the backend."""
        case.driver.validate(case.spec)
        assert case.count_objects() == 0

    def test_bad_labels_are_refused(self, case: DriverCase) -> None:
        """A wrong label is refused with its name, before anything is built."""
        for label, value, expected in case.bad_labels:
            cluster = case.spec.cluster.model_copy(
                update={"labels": {**case.spec.cluster.labels, label: value}}
            )
            with pytest.raises(InvalidRequestError, match=re.escape(expected)) as caught:
                case.driver.validate(case.spec.model_copy(update={"cluster": cluster}))
            assert label in caught.value.message

    def test_pollers_are_shared(self, case: DriverCase) -> None:
        """Two pollers of a driver are of one type, so that one list call serves both."""
        first, second = case.driver.poller(), case.driver.poller()
        assert isinstance(first, Poller)
        assert type(first) is type(second)

    def test_unknown_cluster_is_gone(self, case: DriverCase) -> None:
        """A watch of what does not exist is answered with GONE, not with an error."""
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.GONE

    def test_delete_of_nothing_succeeds(self, case: DriverCase) -> None:
        """A delete of what was never built is success."""
        assert case.remove().phase is Phase.GONE
        assert case.count_objects() == 0

    def test_create_twice_builds_once(self, case: DriverCase) -> None:
        """A repeated create, as after a crash, builds nothing twice; delete removes it all."""
        try:
            first = case.create()
            second = case.create()
            assert first.spec.cluster.stack_id == second.spec.cluster.stack_id
            assert first.wait(Method.CREATE_CLUSTER).phase is Phase.DONE
            assert case.count_objects() == 1
            self.check_outputs(first)
            self.check_repeated_create(first)
        finally:
            progress = case.remove()
        assert progress.phase is Phase.GONE
        self.check_nothing_is_left(first)
        assert case.remove().phase is Phase.GONE

    def test_delete_overtakes_create(self, case: DriverCase) -> None:
        """A delete in the middle of a create leaves nothing behind."""
        created = case.create()
        assert case.remove().phase is Phase.GONE
        self.check_nothing_is_left(created)

    def test_leftovers_are_named(self, case: DriverCase) -> None:
        """What stays behind when a cluster is deleted is named."""
        if case.leave_behind is None:
            pytest.skip("The case knows no way to leave something behind.")
        try:
            living = LivingCluster.build(case)
            name = case.leave_behind(living.spec)
        finally:
            case.remove()
        found = replace(case, spec=living.spec).leftovers()
        assert any(name in one for one in found), found

    def check_outputs(self, case: DriverCase) -> None:
        """Check what the driver reports of a cluster that is up."""
        outputs = case.outputs()
        assert outputs.api_address
        assert KEY_MARK not in outputs.model_dump_json()
        for group in case.spec.node_groups:
            assert len(outputs.node_addresses[group.uuid]) == group.node_count
            if outputs.nodes:
                assert len({node.name for node in outputs.nodes[group.uuid]}) == group.node_count

    def check_repeated_create(self, case: DriverCase) -> None:
        """Check that a create which comes again when all is done changes nothing."""
        before = case.outputs()
        again = case.create()
        assert again.wait(Method.CREATE_CLUSTER).phase is Phase.DONE
        assert case.outputs() == before

    def check_nothing_is_left(self, case: DriverCase) -> None:
        """Check what the driver says of a cluster that is gone."""
        assert case.count_objects() == 0
        assert list(case.leftovers()) == []
        if isinstance(case.driver, SupportsHealth):
            found = ask(case.driver.check_health, case.context, case.spec)
            assert found.status is not HealthStatus.HEALTHY
