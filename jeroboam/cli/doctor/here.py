"""Looks at what is on this machine: settings, files, keys, plug-ins."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from pydantic import SecretStr, ValidationError

from jeroboam.api.http.authorization import Authorizer
from jeroboam.cli.doctor.findings import Finding, fail, ok, warn
from jeroboam.cli.policy_book import PolicyBook
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.hooks.kit import HookKit
from jeroboam.settings import Settings
from jeroboam.store.cipher import HOOKS_KEY_FILE, KEY_FILE, Cipher

PREFIX = "JEROBOAM_"
OTHERS_MAY = 0o077
"""The permissions of group and others."""


def read_settings() -> tuple[Settings | None, list[Finding]]:
    """Return the settings, if they are valid, and what is wrong with the variables."""
    try:
        settings = Settings()
    except ValidationError as error:
        return None, [_invalid(one["loc"], one["msg"]) for one in error.errors()]
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    given = sorted(name for name in os.environ if name.startswith(PREFIX))
    unknown = [name for name in given if name not in known]
    findings = [_unknown(name, known) for name in unknown]
    return settings, findings or [ok("settings", f"{len(given)} variables are set, all valid.")]


def state_directory(settings: Settings) -> Iterator[Finding]:
    """Look whether what is kept on this machine can be written, and is private."""
    check, path = "state directory", settings.state_directory.absolute()
    name = f"{PREFIX}STATE_DIRECTORY"
    if not path.exists():
        made = f"mkdir -m 700 {path}"
        if os.access(_existing(path), os.W_OK):
            yield warn(check, f"{path} is not there yet; the first start makes it.", made)
        else:
            yield fail(check, f"{path} is not there and cannot be made.", f"{made}, or set {name}.")
    elif not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        yield fail(check, f"{path} is no directory that can be written.", f"Correct {name}.")
    elif path.stat().st_mode & OTHERS_MAY:
        detail = f"{path} is open to other users, and keys may lie in it."
        yield warn(check, detail, f"chmod 700 {path}")
    else:
        yield ok(check, f"{path} can be written, and only by its owner.")


def keys(settings: Settings) -> Iterator[Finding]:
    """Look whether the keys can be used; none is made."""
    yield _key(settings, "secrets key", settings.secrets_key, KEY_FILE)
    yield _key(settings, "hooks key", settings.hooks_key, HOOKS_KEY_FILE)


def drivers(settings: Settings) -> Iterator[Finding]:
    """Load all drivers, as the service does."""
    registry = DriverRegistry.load(settings)
    usable = [one for one in registry.entries() if one.disabled_reason is None]
    names = ", ".join(one.driver.name for one in usable)
    if usable:
        yield ok("drivers", f"{len(usable)} can be used: {names}.")
    else:
        mend = f"Install a driver, or correct {PREFIX}ENABLED_DRIVERS."
        yield fail("drivers", "None can be used, so that no cluster can be made.", mend)
    for broken in registry.broken():
        mend = f"Mend it, or list it in {PREFIX}DISABLED_DRIVERS."
        yield warn(f"driver {broken.name}", f"It is broken: {broken.reason}", mend)


def hooks(settings: Settings) -> Iterator[Finding]:
    """Load the hooks that are installed and declared."""
    kit = HookKit.load(settings, bytes(32))
    where = settings.hooks_file or "no file"
    yield ok("hooks", f"{len(kit.registry.all())} are installed or declared ({where}).")


def policy(settings: Settings) -> Iterator[Finding]:
    """Read the policy file, and look for names that nothing asks."""
    # By itself, so that a driver's defect is no defect of the file.
    authorizer = Authorizer(settings.policy_file)
    if settings.policy_file is None:
        yield ok("policy", "There is no file; the defaults are in force.")
        return
    book = PolicyBook.open(settings.policy_file)
    for name, meant in book.unknown.items():
        mend = f"Write '{meant}', or remove it." if meant else "Remove it."
        yield warn("policy", f"Nothing asks the rule '{name}' of {settings.policy_file}.", mend)
    if not book.unknown:
        count = len(authorizer.overrides)
        yield ok("policy", f"{settings.policy_file} changes {count} rules.")


def _invalid(place: tuple[int | str, ...], reason: str) -> Finding:
    name = PREFIX + "_".join(str(part) for part in place).upper()
    return fail("settings", f"{name} is not valid: {reason}.", "See docs/reference/settings.md.")


def _unknown(name: str, known: set[str]) -> Finding:
    meant = get_close_matches(name, known, n=1)
    mend = f"Did you mean {meant[0]}?" if meant else "Remove it."
    return warn("settings", f"Nothing reads the variable {name}.", mend)


def _existing(path: Path) -> Path:
    return next(one for one in path.parents if one.exists())


def _key(settings: Settings, check: str, given: SecretStr | None, file_name: str) -> Finding:
    path = settings.state_directory / file_name
    name = f"{PREFIX}{check.replace(' ', '_').upper()}"
    if given is None and not path.exists():
        mend = f"On several hosts set {name}: all must share one key."
        return warn(check, "There is none yet; the first start makes one in a file.", mend)
    make = Cipher.from_settings if file_name == KEY_FILE else Cipher.for_hooks
    # The id is a digest of which the key cannot be told.
    where = name if given else path
    return ok(check, f"{make(settings).key_id}, from {where}.")
