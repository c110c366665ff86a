"""Column types that behave alike on SQLite and PostgreSQL, and text that both accept."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import JSON, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

MAX_TEXT = 16_000

_adapter = lru_cache(TypeAdapter)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC; SQLite, which knows no time zones, gets it back as well."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return ``value`` in UTC; a naive time is taken to be UTC already."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return ``value`` as an aware time."""
        return self.process_bind_param(value, dialect)


class Document(TypeDecorator[Any]):
    """A value of a pydantic type, as one JSON document.

    Args:
        of: The type, for example ``Plan | None``.
    """

    impl = JSON
    cache_ok = True

    def __init__(self, of: Any) -> None:
        super().__init__(none_as_null=True)
        self.of = of

    @property
    def _adapter(self) -> TypeAdapter[Any]:
        return _adapter(self.of)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Return ``value`` as plain JSON."""
        del dialect
        return self._adapter.dump_python(self._adapter.validate_python(value), mode="json")

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Return the value of the stored JSON."""
        del dialect
        return self._adapter.validate_python(value)


class Prose(TypeDecorator[str]):
    """Free text from drivers and clouds, kept storable whatever it holds."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return ``value`` as both databases take it."""
        del dialect
        return None if value is None else clip(value)


def clip(text: str) -> str:
    """Return ``text`` without what a database refuses, and not longer than ``MAX_TEXT``.

    A backend's error text that could not be stored would leave its operation unfinished for ever.
    """
    storable = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    storable = storable.encode("utf-8", "replace").decode("utf-8")
    return storable if len(storable) <= MAX_TEXT else f"{storable[: MAX_TEXT - 2]} …"
