"""The tables. A column has the name of the model's field that it holds.

Status words and other enumerations are plain text, so that a new word needs no migration. Columns
that drivers or users fill with text of their own have no length; lengths are checked by the API.
"""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import Integer

from jeroboam.models import Parameters, Plan, StepRecord
from jeroboam.models.driver_wire import DriverDescription
from jeroboam.models.hook import HookDeclaration
from jeroboam.models.monitoring import Usage
from jeroboam.models.schedule import Selector
from jeroboam.store.columns import Document, Prose, UtcDateTime

_IDENTITY = BigInteger().with_variant(Integer, "sqlite")
_UUID = String(36)
_WORD = String(64)
_NAME = String(255)
_DIGEST = String(64)
_NEVER_REUSE_IDS: tuple[Any, ...] = ({"sqlite_autoincrement": True},)


class Base(DeclarativeBase):
    """Base of all tables; constraints have predictable names, so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        dict[str, Any]: JSON,
        list[Any]: JSON,
        datetime: UtcDateTime,
        str: Text,
    }
    __table_args__ = _NEVER_REUSE_IDS


class TemplateRow(Base):
    """A ``ClusterTemplate``."""

    __tablename__ = "cluster_templates"

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    name: Mapped[str] = mapped_column(_NAME, index=True)
    project_id: Mapped[str] = mapped_column(_NAME, index=True)
    user_id: Mapped[str] = mapped_column(_NAME)
    coe: Mapped[str]
    image_id: Mapped[str]
    cluster_distro: Mapped[str | None]
    server_type: Mapped[str]
    driver: Mapped[str | None]
    flavor_id: Mapped[str | None]
    master_flavor_id: Mapped[str | None]
    keypair_id: Mapped[str | None]
    external_network_id: Mapped[str | None]
    fixed_network: Mapped[str | None]
    fixed_subnet: Mapped[str | None]
    dns_nameserver: Mapped[str | None]
    network_driver: Mapped[str | None]
    volume_driver: Mapped[str | None]
    apiserver_port: Mapped[int | None]
    docker_volume_size: Mapped[int | None]
    docker_storage_driver: Mapped[str | None]
    http_proxy: Mapped[str | None]
    https_proxy: Mapped[str | None]
    no_proxy: Mapped[str | None]
    insecure_registry: Mapped[str | None]
    registry_enabled: Mapped[bool]
    tls_disabled: Mapped[bool]
    public: Mapped[bool]
    hidden: Mapped[bool]
    tags: Mapped[str | None]
    labels: Mapped[dict[str, Any]]
    master_lb_enabled: Mapped[bool]
    floating_ip_enabled: Mapped[bool]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class ClusterRow(Base):
    """A ``Cluster``."""

    __tablename__ = "clusters"

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    name: Mapped[str] = mapped_column(_NAME, index=True)
    project_id: Mapped[str] = mapped_column(_NAME, index=True)
    user_id: Mapped[str] = mapped_column(_NAME)
    cluster_template_id: Mapped[str] = mapped_column(
        _UUID, ForeignKey("cluster_templates.uuid"), index=True
    )
    keypair: Mapped[str | None]
    flavor_id: Mapped[str | None]
    master_flavor_id: Mapped[str | None]
    docker_volume_size: Mapped[int | None]
    labels: Mapped[dict[str, Any]]
    merge_labels: Mapped[bool]
    create_timeout: Mapped[int]
    discovery_url: Mapped[str | None]
    fixed_network: Mapped[str | None]
    fixed_subnet: Mapped[str | None]
    floating_ip_enabled: Mapped[bool]
    master_lb_enabled: Mapped[bool]
    stack_id: Mapped[str | None]
    status: Mapped[str] = mapped_column(_WORD)
    status_reason: Mapped[str | None] = mapped_column(Prose)
    health_status: Mapped[str | None] = mapped_column(_WORD)
    health_status_reason: Mapped[dict[str, Any]]
    api_address: Mapped[str | None]
    coe_version: Mapped[str | None]
    container_version: Mapped[str | None]
    faults: Mapped[dict[str, Any]]
    driver: Mapped[str]
    driver_version: Mapped[str]
    driver_files: Mapped[str | None] = mapped_column(_DIGEST)
    cloud: Mapped[str]
    trust_id: Mapped[str | None]
    operation_id: Mapped[str | None] = mapped_column(_UUID)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class DriverFilesRow(Base):
    """The files of a version of a driver from which clusters are built.

    ``kept_at`` is when they were last given to a cluster or an upgrade. Clusters name them without
    a foreign key, which SQLite cannot add to a table that exists.
    """

    __tablename__ = "driver_files"
    __table_args__ = ()

    digest: Mapped[str] = mapped_column(_DIGEST, primary_key=True)
    archive: Mapped[bytes] = mapped_column(LargeBinary)
    kept_at: Mapped[datetime]


class DriverDescriptionRow(Base):
    """A ``DriverDescription``."""

    __tablename__ = "driver_descriptions"
    __table_args__ = ()

    name: Mapped[str] = mapped_column(_NAME, primary_key=True)
    description: Mapped[DriverDescription] = mapped_column(Document(DriverDescription))
    files: Mapped[str | None] = mapped_column(_DIGEST)


class NodeGroupRow(Base):
    """A ``NodeGroup``."""

    __tablename__ = "node_groups"
    __table_args__ = (
        Index("uq_node_groups_cluster_id_name", "cluster_id", "name", unique=True),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    name: Mapped[str] = mapped_column(_NAME)
    cluster_id: Mapped[str] = mapped_column(_UUID, ForeignKey("clusters.uuid"))
    project_id: Mapped[str] = mapped_column(_NAME, index=True)
    role: Mapped[str]
    is_default: Mapped[bool]
    flavor_id: Mapped[str | None]
    vcpus: Mapped[int | None]
    image_id: Mapped[str | None]
    docker_volume_size: Mapped[int | None]
    labels: Mapped[dict[str, Any]]
    merge_labels: Mapped[bool]
    node_labels: Mapped[dict[str, Any]]
    node_taints: Mapped[list[Any]]
    node_count: Mapped[int]
    min_node_count: Mapped[int]
    max_node_count: Mapped[int | None]
    node_addresses: Mapped[list[Any]]
    nodes: Mapped[list[Any]]
    stack_id: Mapped[str | None]
    status: Mapped[str | None] = mapped_column(_WORD)
    status_reason: Mapped[str | None] = mapped_column(Prose)
    version: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class OperationRow(Base):
    """An ``Operation``. It outlives its cluster, hence no foreign key."""

    __tablename__ = "operations"
    __table_args__ = (
        Index("ix_operations_cluster_id_state", "cluster_id", "state"),
        Index("ix_operations_state_created_at", "state", "created_at"),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    kind: Mapped[str] = mapped_column(_WORD)
    cluster_id: Mapped[str] = mapped_column(_UUID)
    cluster_name: Mapped[str] = mapped_column(_NAME)
    project_id: Mapped[str] = mapped_column(_NAME, index=True)
    user_id: Mapped[str] = mapped_column(_NAME)
    request_id: Mapped[str]
    parameters: Mapped[Parameters] = mapped_column(Document(Parameters))
    rollback: Mapped[bool]
    plan: Mapped[Plan | None] = mapped_column(Document(Plan | None))
    undone: Mapped[bool]
    schedule_id: Mapped[str | None] = mapped_column(_UUID, index=True)
    previous_statuses: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(_WORD)
    seq: Mapped[int]
    steps: Mapped[tuple[StepRecord, ...]] = mapped_column(Document(tuple[StepRecord, ...]))
    reason: Mapped[str | None] = mapped_column(Prose)
    run_id: Mapped[str | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class StepNoteRow(Base):
    """A ``StepNote``."""

    __tablename__ = "step_notes"
    __table_args__ = ()

    operation_id: Mapped[str] = mapped_column(
        _UUID, ForeignKey("operations.uuid"), primary_key=True
    )
    step: Mapped[str] = mapped_column(_NAME, primary_key=True)
    attempt: Mapped[int]
    message: Mapped[str] = mapped_column(Prose)
    noted_at: Mapped[datetime]


class QuotaRow(Base):
    """A ``Quota``; a resource without a row has the limit of the settings."""

    __tablename__ = "quotas"
    __table_args__ = (
        Index("uq_quotas_project_id_resource", "project_id", "resource", unique=True),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    project_id: Mapped[str] = mapped_column(_NAME)
    resource: Mapped[str] = mapped_column(_WORD)
    hard_limit: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class ServiceRow(Base):
    """A ``ServiceRecord``."""

    __tablename__ = "services"
    __table_args__ = (
        Index("uq_services_host_binary", "host", "binary", unique=True),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    host: Mapped[str] = mapped_column(_NAME)
    binary: Mapped[str] = mapped_column(_NAME)
    report_count: Mapped[int] = mapped_column(_IDENTITY)
    last_seen: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class ClusterSecretRow(Base):
    """All secrets of one cluster in one envelope, so that they always come from one writer.

    ``envelope`` is what the secret store named ``store`` calls its reference; the envelope itself
    for the store ``database``.
    """

    __tablename__ = "cluster_secrets"
    __table_args__ = ()

    cluster_id: Mapped[str] = mapped_column(_UUID, ForeignKey("clusters.uuid"), primary_key=True)
    store: Mapped[str] = mapped_column(_NAME, server_default="database")
    envelope: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]


class ClusterCertificateRow(Base):
    """A ``ClusterCertificate``; written with the secrets, and goes with the cluster.

    Those who serve requests have no key for the secrets, and read this.
    """

    __tablename__ = "cluster_certificates"
    __table_args__ = (Index("ix_cluster_certificates_not_after", "not_after"),)

    cluster_id: Mapped[str] = mapped_column(
        _UUID, ForeignKey("clusters.uuid", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(_WORD, primary_key=True)
    state: Mapped[str] = mapped_column(_WORD, primary_key=True)
    pem: Mapped[str]
    serial: Mapped[str]
    not_before: Mapped[datetime]
    not_after: Mapped[datetime]


class ScheduleRow(Base):
    """A ``Schedule``."""

    __tablename__ = "schedules"
    __table_args__ = (
        Index("uq_schedules_project_id_name", "project_id", "name", unique=True),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    name: Mapped[str] = mapped_column(_NAME, index=True)
    project_id: Mapped[str] = mapped_column(_NAME)
    user_id: Mapped[str] = mapped_column(_NAME)
    kind: Mapped[str] = mapped_column(_WORD)
    parameters: Mapped[Parameters] = mapped_column(Document(Parameters))
    cluster_id: Mapped[str | None] = mapped_column(_UUID)
    selector: Mapped[Selector | None] = mapped_column(Document(Selector | None))
    all_projects: Mapped[bool]
    cron: Mapped[str | None]
    calendar: Mapped[dict[str, str] | None] = mapped_column(Document(dict[str, str] | None))
    time_zone: Mapped[str]
    jitter_seconds: Mapped[int]
    start_at: Mapped[datetime | None]
    end_at: Mapped[datetime | None]
    overlap: Mapped[str] = mapped_column(_WORD)
    catchup_minutes: Mapped[int]
    max_parallel: Mapped[int]
    when_busy: Mapped[str] = mapped_column(_WORD)
    wait_minutes: Mapped[int]
    paused: Mapped[bool]
    note: Mapped[str | None]
    revision: Mapped[int]
    synced_revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]


class ScheduleRunRow(Base):
    """A ``ScheduleRun``. It outlives its cluster and its schedule, hence no foreign key."""

    __tablename__ = "schedule_runs"
    __table_args__ = (
        Index("ix_schedule_runs_schedule_id_id", "schedule_id", "id"),
        Index("ix_schedule_runs_ended_at_updated_at", "ended_at", "updated_at"),
        *_NEVER_REUSE_IDS,
    )

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    schedule_id: Mapped[str] = mapped_column(_UUID)
    workflow_id: Mapped[str]
    scheduled_at: Mapped[datetime]
    cluster_id: Mapped[str | None] = mapped_column(_UUID)
    cluster_name: Mapped[str | None] = mapped_column(_NAME)
    operation_id: Mapped[str | None] = mapped_column(_UUID)
    state: Mapped[str] = mapped_column(_WORD)
    reason: Mapped[str | None] = mapped_column(Prose)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class MaintenanceWindowRow(Base):
    """A cluster's ``MaintenanceWindow``; it goes with the cluster."""

    __tablename__ = "maintenance_windows"
    __table_args__ = ()

    cluster_id: Mapped[str] = mapped_column(
        _UUID, ForeignKey("clusters.uuid", ondelete="CASCADE"), primary_key=True
    )
    days: Mapped[tuple[str, ...]] = mapped_column(Document(tuple[str, ...]))
    start: Mapped[str | None]
    cron: Mapped[str | None]
    duration_minutes: Mapped[int]
    time_zone: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime | None]


class HookRow(Base):
    """A ``HookDeclaration``, with the secret of its hook in an envelope."""

    __tablename__ = "hooks"

    id: Mapped[int] = mapped_column(_IDENTITY, primary_key=True)
    uuid: Mapped[str] = mapped_column(_UUID, unique=True)
    name: Mapped[str] = mapped_column(_WORD, unique=True)
    declaration: Mapped[HookDeclaration] = mapped_column(Document(HookDeclaration))
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]


class MonitoredRow(Base):
    """What is known of a cluster by looking at it; it goes with the cluster."""

    __tablename__ = "monitored_clusters"
    __table_args__ = ()

    cluster_id: Mapped[str] = mapped_column(
        _UUID, ForeignKey("clusters.uuid", ondelete="CASCADE"), primary_key=True
    )
    checked_at: Mapped[datetime]
    next_at: Mapped[datetime]
    failures: Mapped[int]
    usage: Mapped[Usage | None] = mapped_column(Document(Usage | None))
    usage_at: Mapped[datetime | None]


class WorkerAddressRow(Base):
    """An address to which the API seals what only workers may read."""

    __tablename__ = "worker_addresses"
    __table_args__ = ()

    address: Mapped[str] = mapped_column(_WORD, primary_key=True)
    proof: Mapped[bytes] = mapped_column(LargeBinary)
    announced_at: Mapped[datetime]
