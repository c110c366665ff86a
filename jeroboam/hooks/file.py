"""Reads the operator's file of hooks, ``JEROBOAM_HOOKS_FILE``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from jeroboam.errors import ConfigurationError
from jeroboam.models.hook import HookDeclaration

SETTING = "JEROBOAM_HOOKS_FILE"


@dataclass(frozen=True)
class DeclaredHooks:
    """The hooks of the file by name, with their secrets apart."""

    declarations: Mapping[str, HookDeclaration] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


class _Item(HookDeclaration):
    """A declaration as the file has it.

    Args:
        secret: Of a webhook the signing secret, of other hooks what they need.
        secret_file: A file that holds the secret, in place of it.
    """

    secret: SecretStr | None = None
    secret_file: Path | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: object) -> object:
        """Refuse what is not the operator's to set."""
        for key in ("uuid", "created_at", "updated_at"):
            if isinstance(value, dict) and key in value:
                raise ValueError(f"'{key}' cannot be set")
        return value

    @model_validator(mode="after")
    def _check_secret(self) -> "_Item":
        """Refuse two secrets."""
        if self.secret is not None and self.secret_file is not None:
            raise ValueError("'secret' and 'secret_file' exclude each other")
        return self

    def declaration(self) -> HookDeclaration:
        """Return it without its secret."""
        values = self.model_dump(exclude={"secret", "secret_file", "uuid"})
        return HookDeclaration(uuid=str(uuid5(NAMESPACE_URL, f"hook:{self.name}")), **values)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    hooks: tuple[_Item, ...] = Field(default=())


def read(path: Path) -> DeclaredHooks:
    """Return the hooks that a file declares.

    Raises:
        ConfigurationError: It cannot be read, or says something wrong; with the place.
    """
    items = _parse(path, _load(path)).hooks
    names = [item.name for item in items]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"{SETTING}: {path} declares {', '.join(twice)} twice.")
    return DeclaredHooks(
        declarations={item.name: item.declaration() for item in items},
        secrets={item.name: secret for item in items if (secret := _secret(item)) is not None},
    )


def _load(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{SETTING}: {path} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise ConfigurationError(
            f"{SETTING}: {path} is no YAML{where}: {getattr(error, 'problem', error)}."
        ) from None


def _parse(path: Path, content: Any) -> _File:
    try:
        return _File.model_validate(content or {})
    except ValidationError as error:
        # The input is left out: it may hold a secret.
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise ConfigurationError(f"{SETTING}: {path}: {where}: {first['msg']}.") from None


def _secret(item: _Item) -> str | None:
    if item.secret_file is None:
        return item.secret.get_secret_value() if item.secret else None
    try:
        return item.secret_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{SETTING}: the secret of hook '{item.name}' cannot be read: {error}."
        ) from None
