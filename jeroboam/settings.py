"""All settings, read from ``JEROBOAM_*`` variables; nothing else reads the environment."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from jeroboam.models.certificate import EXTENDED_KEY_USAGES, KEY_USAGES
from jeroboam.models.quota import Amounts, QuotaResource


class Settings(BaseSettings):
    """What an operator can set; defaults suit a single machine.

    Args:
        database_url: SQLAlchemy URL; ``sqlite+aiosqlite`` or ``postgresql+asyncpg``.
        state_directory: Where embedded state lives: the SQLite file, the secrets key, the fake
            driver's clusters.
        secrets_key: Base64 key of 32 bytes which encrypts stored secrets. Without it a key file is
            made in ``state_directory``; several hosts must share one key.
        secrets_old_keys: Keys that were ``secrets_key`` before, until nothing is encrypted with
            them any more.
        secret_store: Where the secrets of clusters are kept: the name of an entry point.
        secrets_directory: The folder of the store ``files``; by default one in
            ``state_directory``.
        drivers_directory: Holds drivers as folders, without packaging; it need not exist.
        own_worker_drivers: Drivers that run in workers of their own, ``jeroboam worker --driver``;
            no other process loads them.
        driver_load_seconds: How long a driver may take to be loaded.
        cloud: Entry of ``clouds.yaml`` with the credentials of Jeroboam's service user.
        trustee_domain: Name of a Keystone domain for the users that programs in clusters log in as;
            the service user needs the role admin on it (Magnum's ``[trust] trustee_domain_name``).
            Without it clusters with such programs are refused.
        request_seconds: How long a client may take to send a request, or to read an answer.
        max_connections: More than these are answered 503; keep it below the limit of open files.
        grpc_port: Port of the gRPC API; 0 turns it off.
        grpc_certificate_file: Certificates for TLS, the server's first, as PEM.
        grpc_key_file: Key of the first one, as PEM.
        poll_interval_seconds: Time between two list calls of a poll hub.
        monitor_interval_seconds: How often each cluster is looked at; 0 is never.
        drain_patience_seconds: How long a cluster that does not answer is asked before its nodes
            go as they are.
        max_clusters_per_project: Magnum's ``[quotas] max_clusters_per_project``.
        max_nodes_per_project: The most nodes that all clusters of a project may have; without it,
            and likewise below, there is no limit. Administrators set other limits for a project
            as its quotas.
        max_cores_per_project: The most CPUs that these nodes may have, by their flavors.
        max_operations_per_project: The most operations of a project that may be at work.
        max_schedules_per_project: The most schedules that a project may have.
        schedule_minimum_seconds: The shortest time between two times of a schedule.
        certificate_renewal_days: Authorities of clusters that end within so many days are rotated;
            0 leaves that to their owners.
        certificate_days: The longest that a certificate signed for a user is good.
        certificate_organisations: The groups that such a certificate may name; empty is all.
        certificate_key_usages: What such a certificate may be used for.
        certificate_extended_key_usages: Likewise; empty is all.
        hooks_file: Declarations of hooks, as YAML.
        hooks_key: Base64 key of 32 bytes for the secrets and callbacks of hooks; API and workers
            share it. Without it a key file is made in ``state_directory``.
        webhook_allowed: Prefixes of the URLs that hooks may call; empty allows none.
        webhook_networks: Networks that are not public and in which those targets may lie.
    """

    model_config = SettingsConfigDict(env_prefix="JEROBOAM_", extra="ignore")

    state_directory: Path = Path(".jeroboam")
    database_url: str = ""
    secrets_key: SecretStr | None = None
    secrets_old_keys: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    secret_store: str = "database"  # noqa: S105 - a name, no secret
    secrets_directory: Path | None = None

    temporal_address: str = "127.0.0.1:7233"
    temporal_namespace: str = "default"
    temporal_ui_url: str = "http://127.0.0.1:8233"
    task_queue: str = "jeroboam"
    temporal_tls: bool = False
    temporal_api_key: SecretStr | None = None

    cloud: str = "jeroboam"
    cloud_timeout_seconds: float = Field(default=60.0, gt=0)
    trustee_domain: str = ""

    api_host: str = "127.0.0.1"
    api_port: int = Field(default=9511, ge=1, le=65535)
    api_public_url: str | None = None
    policy_file: Path | None = None
    max_body_bytes: int = Field(default=1 << 20, gt=0)
    request_seconds: float = Field(default=30.0, gt=0)
    max_connections: int = Field(default=900, gt=0)
    list_limit: int = Field(default=1000, gt=0)
    token_cache_seconds: int = Field(default=60, ge=0)

    grpc_host: str = "127.0.0.1"
    grpc_port: int = Field(default=0, ge=0, le=65535)
    grpc_certificate_file: Path | None = None
    grpc_key_file: Path | None = None

    worker_health_host: str = "127.0.0.1"
    worker_health_port: int = Field(default=9512, ge=0, le=65535)
    shutdown_grace_seconds: float = Field(default=30.0, ge=0)
    max_waiting_operations: int = Field(default=5000, gt=0)
    max_driver_threads: int = Field(default=32, gt=0)
    poll_interval_seconds: float = Field(default=10.0, gt=0)
    reconcile_interval_seconds: float = Field(default=60.0, gt=0)
    monitor_interval_seconds: float = Field(default=300.0, ge=0)
    drain_patience_seconds: float = Field(default=20.0, ge=0)

    enabled_drivers: Annotated[tuple[str, ...], NoDecode] = ()
    disabled_drivers: Annotated[tuple[str, ...], NoDecode] = ()
    drivers_directory: Path = Path("/usr/share/jeroboam/drivers")
    own_worker_drivers: Annotated[tuple[str, ...], NoDecode] = ()
    driver_load_seconds: float = Field(default=30.0, gt=0)
    max_clusters_per_project: int = Field(default=20, ge=0)
    max_nodes_per_project: int | None = Field(default=None, ge=0)
    max_cores_per_project: int | None = Field(default=None, ge=0)
    max_operations_per_project: int | None = Field(default=None, ge=0)

    max_schedules_per_project: int = Field(default=20, ge=0)
    schedule_minimum_seconds: int = Field(default=300, ge=1)

    certificate_renewal_days: int = Field(default=90, ge=0, le=1825)
    certificate_days: int = Field(default=1825, ge=1, le=36500)
    certificate_organisations: Annotated[tuple[str, ...], NoDecode] = ()
    certificate_key_usages: Annotated[tuple[str, ...], NoDecode] = (
        "digital_signature",
        "key_encipherment",
        "content_commitment",
    )
    certificate_extended_key_usages: Annotated[tuple[str, ...], NoDecode] = ()

    hooks_file: Path | None = None
    hooks_key: SecretStr | None = None
    webhook_allowed: Annotated[tuple[str, ...], NoDecode] = ()
    webhook_networks: Annotated[tuple[str, ...], NoDecode] = ()

    log_level: str = "INFO"
    log_format: str = Field(default="json", pattern="^(json|console)$")

    @field_validator(
        "enabled_drivers",
        "disabled_drivers",
        "own_worker_drivers",
        "webhook_allowed",
        "webhook_networks",
        "secrets_old_keys",
        "certificate_organisations",
        "certificate_key_usages",
        "certificate_extended_key_usages",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        """Accept ``a,b`` from the environment, as operators write lists."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("certificate_key_usages", "certificate_extended_key_usages")
    @classmethod
    def _known_usages(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        plain = info.field_name == "certificate_key_usages"
        known = KEY_USAGES if plain else tuple(EXTENDED_KEY_USAGES)
        if set(value) - set(known) or (plain and not value):
            raise ValueError(f"name some of {', '.join(known)}")
        return value

    @property
    def poll_queue(self) -> str:
        """Task queue of the waiting activities."""
        return f"{self.task_queue}-poll"

    @property
    def quotas(self) -> Amounts:
        """What a project may have that has no quotas of its own."""
        limits = {
            QuotaResource.CLUSTER: self.max_clusters_per_project,
            QuotaResource.NODE: self.max_nodes_per_project,
            QuotaResource.CORE: self.max_cores_per_project,
            QuotaResource.OPERATION: self.max_operations_per_project,
        }
        return {resource: limit for resource, limit in limits.items() if limit is not None}

    @property
    def resolved_database_url(self) -> str:
        """The database URL, or the embedded SQLite file's."""
        if self.database_url:
            return self.database_url
        return f"sqlite+aiosqlite:///{self.state_directory.absolute() / 'jeroboam.sqlite'}"

    @property
    def resolved_api_url(self) -> str:
        """The API's URL as clients see it, without a trailing slash."""
        url = self.api_public_url or f"http://{self.api_host}:{self.api_port}"
        return url.rstrip("/")


@lru_cache(maxsize=1)
def load() -> Settings:
    """Read the settings once per process."""
    return Settings()
