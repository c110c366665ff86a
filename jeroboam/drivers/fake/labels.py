"""The labels of the fake driver: how its pretended backend behaves."""

import re
from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field, ValidationError

from jeroboam.errors import InvalidRequestError
from jeroboam.models import HealthStatus, Method, Model

PREFIX = "fake_"

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


class FakeCall(StrEnum):
    """The calls that can go wrong, as labels name them."""

    CREATE = "create"
    DELETE = "delete"
    UPDATE = "update"
    UPGRADE = "upgrade"
    REBOOT = "reboot"
    REBUILD = "rebuild"
    CREATE_NODE_GROUP = "create_node_group"
    DELETE_NODE_GROUP = "delete_node_group"
    ROTATE_CREDENTIAL = "rotate_credential"
    RENEW_CERTIFICATES = "renew_certificates"
    READ_OUTPUTS = "read_outputs"
    CHECK_HEALTH = "check_health"


CALL_OF_METHOD: Mapping[Method, FakeCall] = {
    Method.CREATE_CLUSTER: FakeCall.CREATE,
    Method.DELETE_CLUSTER: FakeCall.DELETE,
    Method.UPDATE_CLUSTER: FakeCall.UPDATE,
    Method.UPGRADE_NODE_GROUP: FakeCall.UPGRADE,
    Method.REBOOT_NODES: FakeCall.REBOOT,
    Method.REBUILD_NODES: FakeCall.REBUILD,
    Method.CREATE_NODE_GROUP: FakeCall.CREATE_NODE_GROUP,
    Method.DELETE_NODE_GROUP: FakeCall.DELETE_NODE_GROUP,
    Method.ROTATE_CREDENTIAL: FakeCall.ROTATE_CREDENTIAL,
    Method.RENEW_CERTIFICATES: FakeCall.RENEW_CERTIFICATES,
}


class Labels(Model):
    """How the backend shall behave; the labels of a cluster.

    Args:
        fake_create_seconds: How long the creation of a cluster takes.
        fake_delete_seconds: How long the removal of a cluster takes.
        fake_update_seconds: How long a change of a group's size takes.
        fake_upgrade_seconds: How long the upgrade of one node group takes.
        fake_reboot_seconds: How long the reboot of one batch takes.
        fake_rebuild_seconds: How long the rebuild of one batch takes.
        fake_group_seconds: How long the creation or removal of a node group takes, or one round of
            a rotation through one.
        fake_fail: The call whose work the backend gives up, when its time is over.
        fake_fail_node: Where it gives up: at this node; those before it are done.
        fake_fail_share: Where it gives up: after this share of the nodes, 0.5 for half of them.
        fake_fail_batch: Only that batch of an operation fails, counted from 1.
        fake_fail_times: How often it fails; then it works. Without it, always.
        fake_fail_reason: The reason that it gives.
        fake_unavailable: The call that meets a backend which does not answer.
        fake_unavailable_calls: How many such calls do, before one gets through.
        fake_interrupt: The call whose work the backend breaks off.
        fake_interruptions: How often it breaks off half-way and must be asked again.
        fake_hang: The call that returns late.
        fake_hang_seconds: How late.
        fake_hang_calls: How many such calls are late.
        fake_crash: The call that ends with an unexpected error, although its work has begun.
        fake_crash_calls: How many such calls do.
        fake_lie: The call that says that work has begun which then never ends.
        fake_lie_times: How often it lies; the same call later begins the work for real.
        fake_leftovers: How many volumes stay behind when the cluster is deleted.
        fake_health: What a health check finds, whatever the state of the nodes.
        fake_version: The version that nodes run; an upgrade may raise it by one minor version.
    """

    fake_create_seconds: float = Field(default=1.0, ge=0)
    fake_delete_seconds: float = Field(default=0.5, ge=0)
    fake_update_seconds: float = Field(default=0.5, ge=0)
    fake_upgrade_seconds: float = Field(default=0.5, ge=0)
    fake_reboot_seconds: float = Field(default=0.5, ge=0)
    fake_rebuild_seconds: float = Field(default=0.5, ge=0)
    fake_group_seconds: float = Field(default=0.5, ge=0)
    fake_fail: FakeCall | None = None
    fake_fail_node: str | None = None
    fake_fail_share: float = Field(default=0.0, ge=0, le=1)
    fake_fail_batch: int | None = Field(default=None, ge=1)
    fake_fail_times: int | None = Field(default=None, ge=0)
    fake_fail_reason: str = "Injected fault."
    fake_unavailable: FakeCall = FakeCall.CREATE
    fake_unavailable_calls: int = Field(default=0, ge=0)
    fake_interrupt: FakeCall = FakeCall.CREATE
    fake_interruptions: int = Field(default=0, ge=0)
    fake_hang: FakeCall | None = None
    fake_hang_seconds: float = Field(default=30.0, ge=0)
    fake_hang_calls: int = Field(default=1, ge=0)
    fake_crash: FakeCall | None = None
    fake_crash_calls: int = Field(default=1, ge=0)
    fake_lie: FakeCall | None = None
    fake_lie_times: int = Field(default=1, ge=0)
    fake_leftovers: int = Field(default=0, ge=0)
    fake_health: HealthStatus | None = None
    fake_version: str = Field(default="v1.31.0", pattern=rf"^{_VERSION.pattern}$")

    def seconds(self, call: FakeCall) -> float:
        """Return how long the work of a call takes."""
        return {
            FakeCall.CREATE: self.fake_create_seconds,
            FakeCall.DELETE: self.fake_delete_seconds,
            FakeCall.UPDATE: self.fake_update_seconds,
            FakeCall.UPGRADE: self.fake_upgrade_seconds,
            FakeCall.REBOOT: self.fake_reboot_seconds,
            FakeCall.REBUILD: self.fake_rebuild_seconds,
        }.get(call, self.fake_group_seconds)


def parse(labels: Mapping[str, str]) -> Labels:
    """Return the fake driver's labels among a cluster's.

    Raises:
        InvalidRequestError: One is unknown, or its value is not valid.
    """
    try:
        return Labels.model_validate(
            {key: value for key, value in labels.items() if key.startswith(PREFIX)}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequestError(
            f"Label '{first['loc'][0]}' is not valid for the fake driver: {first['msg']}. "
            f"It has these: {', '.join(Labels.model_fields)}."
        ) from error


def check_versions(what: str, old: str, new: str) -> None:
    """Check that a move from one version to another goes up, and skips no minor version.

    Args:
        what: What moves, for the message.

    Raises:
        InvalidRequestError: With both versions and which one would be possible.
    """
    (old_major, old_minor, old_patch), (new_major, new_minor, new_patch) = _parts(old), _parts(new)
    down = (new_major, new_minor, new_patch) < (old_major, old_minor, old_patch)
    if down or new_major != old_major or new_minor > old_minor + 1:
        raise InvalidRequestError(
            f"{what} cannot go from {old} to {new}: versions never go down and never skip one. "
            f"Possible are later ones of v{old_major}.{old_minor}, "
            f"and v{old_major}.{old_minor + 1}."
        )


def is_newer(one: str, other: str) -> bool:
    """Return whether one minor version is above another."""
    return _parts(one)[:2] > _parts(other)[:2]


def _parts(version: str) -> tuple[int, int, int]:
    match = _VERSION.fullmatch(version)
    if match is None:
        raise InvalidRequestError(f"'{version}' is no version; v1.31.0 is one.")
    major, minor, patch = (int(part or 0) for part in match.groups())
    return major, minor, patch
