"""Declarations of hooks that were made by the API, with their secrets."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from jeroboam.errors import ConfigurationError, ConflictError, NotFoundError
from jeroboam.models import utc_now
from jeroboam.models.hook import HookDeclaration
from jeroboam.store.cipher import Cipher
from jeroboam.store.database import Database
from jeroboam.store.query import execute, fetch_all, fetch_one, identified, scalar
from jeroboam.store.tables import HookRow

_NOUN = "Hook"


class HookRepository:
    """Stores declarations; a hook's secret goes in and is read by the step that needs it only.

    Args:
        database: Where.
        cipher: Encrypts the secrets; a process without one cannot touch them.
    """

    def __init__(self, database: Database, cipher: Cipher | None) -> None:
        self._database = database
        self._cipher = cipher

    async def add(self, declaration: HookDeclaration, secret: str | None) -> None:
        """Store a new declaration.

        Raises:
            ConflictError: Another one has its name.
        """
        values = {
            "uuid": declaration.uuid,
            "created_at": declaration.created_at,
            **self._values(declaration, secret),
        }
        await self._write(insert(HookRow).values(**values), declaration)

    async def get(self, ident: str) -> HookDeclaration:
        """Return the declaration with this uuid or name.

        Raises:
            NotFoundError: There is none.
        """
        statement = select(HookRow).where(identified(HookRow, ident))
        row = await self._database.read(fetch_one, statement, _NOUN, ident)
        return _declaration(row)

    async def list(self) -> Sequence[HookDeclaration]:
        """Return all declarations, by name; administrators make few of them."""
        statement = select(HookRow).order_by(HookRow.name)
        return [_declaration(row) for row in await self._database.read(fetch_all, statement)]

    async def update(
        self, declaration: HookDeclaration, secret: str | None = None
    ) -> HookDeclaration:
        """Replace the declaration of the same uuid and return it with its time of change.

        Args:
            secret: The new secret; ``None`` leaves the old one.

        Raises:
            ConflictError: Another one has its name.
            NotFoundError: There is none.
        """
        changed = declaration.model_copy(update={"updated_at": utc_now()})
        values = self._values(changed, secret)
        if secret is None:
            del values["secret"]
        statement = update(HookRow).where(HookRow.uuid == changed.uuid).values(**values)
        if await self._write(statement, changed) == 0:
            raise _not_found(changed.uuid)
        return changed

    async def delete(self, uuid: str) -> None:
        """Remove a declaration with its secret.

        Raises:
            NotFoundError: There is none.
        """
        statement = delete(HookRow).where(HookRow.uuid == uuid)
        if await self._database.write(execute, statement) == 0:
            raise _not_found(uuid)

    async def has_secret(self, uuid: str) -> bool:
        """Whether a declaration has a secret."""
        return await self._envelope(uuid) is not None

    async def secret(self, uuid: str) -> str | None:
        """Return the secret of a declaration, if it has one."""
        envelope = await self._envelope(uuid)
        return None if envelope is None else self._key.decrypt(envelope, _context(uuid)).decode()

    async def _envelope(self, uuid: str) -> bytes | None:
        statement = select(HookRow.secret).where(HookRow.uuid == uuid)
        envelope: bytes | None = await self._database.read(scalar, statement)
        return envelope

    async def _write(self, statement: Any, declaration: HookDeclaration) -> int:
        try:
            return await self._database.write(execute, statement)
        except IntegrityError as error:
            raise ConflictError(
                f"A hook named '{declaration.name}' exists already. Change that one, or choose "
                "another name."
            ) from error

    def _values(self, declaration: HookDeclaration, secret: str | None) -> dict[str, Any]:
        context = _context(declaration.uuid)
        sealed = None if secret is None else self._key.encrypt(secret.encode(), context)
        return {"name": declaration.name, "declaration": declaration, "secret": sealed}

    @property
    def _key(self) -> Cipher:
        if self._cipher is None:
            raise ConfigurationError("This process was started without the key of the hooks.")
        return self._cipher


def _declaration(row: Any) -> HookDeclaration:
    found: HookDeclaration = row[HookRow.__table__.c.declaration]
    return found


def _context(uuid: str) -> str:
    return f"hook {uuid}"


def _not_found(uuid: str) -> NotFoundError:
    return NotFoundError(f"{_NOUN} {uuid} could not be found.")
