"""The way into the database."""

from sqlalchemy import select, true

from jeroboam.models.quota import Amounts
from jeroboam.store import migrate as migrations
from jeroboam.store.certificates import CertificateRepository
from jeroboam.store.cipher import Cipher
from jeroboam.store.clusters import ClusterRepository
from jeroboam.store.database import Database
from jeroboam.store.driver_descriptions import DriverDescriptionRepository
from jeroboam.store.driver_files import DriverFilesRepository
from jeroboam.store.hooks import HookRepository
from jeroboam.store.imports import ImportRepository
from jeroboam.store.inbox import InboxRepository
from jeroboam.store.maintenance import MaintenanceRepository
from jeroboam.store.monitoring import MonitoringRepository
from jeroboam.store.operations import OperationRepository
from jeroboam.store.query import scalar
from jeroboam.store.quotas import QuotaRepository
from jeroboam.store.schedule_runs import ScheduleRunRepository
from jeroboam.store.schedules import ScheduleRepository
from jeroboam.store.secret_stores.registry import SecretStores
from jeroboam.store.secrets import SecretRepository
from jeroboam.store.services import ServiceRepository
from jeroboam.store.templates import TemplateRepository


class Store:
    """All repositories of one database; get one from ``Store.open``.

    Args:
        database: An open database.
        cipher: The key of the secrets, for processes that need them.
        hooks_cipher: The key of the hooks' secrets, likewise.
        quotas: What a project may have that has no quotas of its own.
        secret_stores: Where the secrets of clusters are; without it in the database.
    """

    def __init__(
        self,
        database: Database,
        cipher: Cipher | None = None,
        hooks_cipher: Cipher | None = None,
        quotas: Amounts | None = None,
        secret_stores: SecretStores | None = None,
    ) -> None:
        self._database = database
        if cipher and secret_stores is None:
            secret_stores = SecretStores.in_database(cipher)
        self._secret_stores = secret_stores
        self.templates = TemplateRepository(database)
        self.clusters = ClusterRepository(database, quotas or {})
        self.driver_descriptions = DriverDescriptionRepository(database)
        self.driver_files = DriverFilesRepository(database)
        self.operations = OperationRepository(database, quotas or {})
        self.quotas = QuotaRepository(database, quotas or {})
        self.services = ServiceRepository(database)
        self.secrets = SecretRepository(database, secret_stores)
        self.certificates = CertificateRepository(database)
        self.hooks = HookRepository(database, hooks_cipher)
        self.imports = ImportRepository(database, quotas or {})
        self.inbox = InboxRepository(database, cipher, hooks_cipher)
        self.schedules = ScheduleRepository(database)
        self.schedule_runs = ScheduleRunRepository(database)
        self.maintenance = MaintenanceRepository(database)
        self.monitoring = MonitoringRepository(database)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        cipher: Cipher | None = None,
        hooks_cipher: Cipher | None = None,
        quotas: Amounts | None = None,
        secret_stores: SecretStores | None = None,
        migrate: bool = False,
    ) -> "Store":
        """Open the database; connections are made when they are needed.

        Args:
            url: ``sqlite+aiosqlite:///<file>`` or ``postgresql+asyncpg://...``.
            cipher: The key of the secrets.
            hooks_cipher: The key of the hooks' secrets.
            quotas: What a project may have that has no quotas of its own.
            secret_stores: Where the secrets of clusters are; without it in the database.
            migrate: Bring the schema up to date first; several processes may do so at once.

        Raises:
            ConfigurationError: The URL is wrong.
            StoreUnavailableError: The database to migrate does not answer.
        """
        if migrate:
            await migrations.upgrade(url)
        return cls(Database(url), cipher, hooks_cipher, quotas, secret_stores)

    async def close(self) -> None:
        """Close all connections."""
        if self._secret_stores:
            self._secret_stores.close()
        await self._database.close()

    async def ping(self) -> None:
        """Ask the database for a sign of life.

        Raises:
            StoreUnavailableError: There is none.
        """
        await self._database.read(scalar, select(true()))
