"""Encryption of secrets, and where its key comes from."""

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from jeroboam.errors import ConfigurationError
from jeroboam.settings import Settings
from jeroboam.store.cipher import KEY_FILE, Cipher

KEY = bytes(range(32))
CLUSTER = "0d6c1a4e-7f3b-4f0e-9d38-6a2a1f3c5b77"


def _settings(directory: Path, **values: Any) -> Settings:
    return Settings(state_directory=directory, **values)


@given(plaintext=st.binary(), context=st.text())
def test_round_trip(plaintext: bytes, context: str) -> None:
    """What was encrypted comes back with the same key and context."""
    try:
        context.encode()
    except UnicodeEncodeError:
        context = "surrogate"
    assert Cipher(KEY).decrypt(Cipher(KEY).encrypt(plaintext, context), context) == plaintext


def test_older_keys_open_what_they_have_sealed() -> None:
    """The newest one seals; the settings name both."""
    newest = Cipher(bytes(32), [KEY])
    envelope = Cipher(KEY).encrypt(b"secret", CLUSTER)
    assert newest.decrypt(envelope, CLUSTER) == b"secret"
    assert (newest.has_sealed(envelope), Cipher(KEY).has_sealed(envelope)) == (False, True)
    assert newest.key_id == Cipher(bytes(32)).key_id


def test_keys_of_the_settings(tmp_path: Path) -> None:
    """Old ones are separated by commas; one that is none is named by its setting."""
    old = ",".join(base64.b64encode(key).decode() for key in (KEY, bytes(32)))
    cipher = Cipher.from_settings(_settings(tmp_path, secrets_old_keys=old))
    assert cipher.decrypt(Cipher(KEY).encrypt(b"secret", CLUSTER), CLUSTER) == b"secret"
    assert old not in repr(_settings(tmp_path, secrets_old_keys=old))
    with pytest.raises(ConfigurationError, match="JEROBOAM_SECRETS_OLD_KEYS"):
        Cipher.from_settings(_settings(tmp_path, secrets_old_keys="nonsense"))


def test_envelopes_differ() -> None:
    """The same secret never looks the same twice, and is not visible in its envelope."""
    envelopes = {Cipher(KEY).encrypt(b"secret", CLUSTER) for _ in range(100)}
    assert len(envelopes) == 100
    assert not any(b"secret" in envelope for envelope in envelopes)


def test_envelope_belongs_to_its_row() -> None:
    """An envelope that was moved to another cluster cannot be opened there."""
    envelope = Cipher(KEY).encrypt(b"secret", CLUSTER)
    with pytest.raises(ConfigurationError, match="another"):
        Cipher(KEY).decrypt(envelope, "another")


@given(position=st.integers(min_value=0), bit=st.integers(0, 7))
def test_altered_envelope_is_refused(position: int, bit: int) -> None:
    """A change of any single bit is noticed."""
    envelope = bytearray(Cipher(KEY).encrypt(b"secret", CLUSTER))
    envelope[position % len(envelope)] ^= 1 << bit
    with pytest.raises(ConfigurationError, match=CLUSTER):
        Cipher(KEY).decrypt(bytes(envelope), CLUSTER)


@pytest.mark.parametrize("length", [0, 1, 9, 12, 21, 30])
def test_cut_envelope_is_refused(length: int) -> None:
    """An envelope that lacks its end is told, whatever is left of it."""
    envelope = Cipher(KEY).encrypt(b"secret", CLUSTER)
    with pytest.raises(ConfigurationError, match=CLUSTER):
        Cipher(KEY).decrypt(envelope[:length], CLUSTER)


def test_another_key_is_named() -> None:
    """The message names both keys by their ids, so that an operator can tell them apart."""
    mine, other = Cipher(KEY), Cipher(bytes(32))
    with pytest.raises(ConfigurationError, match="JEROBOAM_SECRETS_KEY") as caught:
        other.decrypt(mine.encrypt(b"secret", CLUSTER), CLUSTER)
    assert mine.key_id in str(caught.value)
    assert other.key_id in str(caught.value)


def test_repr_hides_the_key() -> None:
    """The key's id is shown, the key is not."""
    shown = repr(Cipher(KEY))
    assert Cipher(KEY).key_id in shown
    assert KEY.hex() not in shown


def test_key_from_the_settings(tmp_path: Path) -> None:
    """A key in the settings is used, and no file is made."""
    text = base64.b64encode(KEY).decode()
    cipher = Cipher.from_settings(_settings(tmp_path, secrets_key=text))
    assert cipher.key_id == Cipher(KEY).key_id
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["not base64!", base64.b64encode(bytes(16)).decode(), ""])
def test_wrong_key_in_the_settings(tmp_path: Path, text: str) -> None:
    """A key of the wrong form names the setting and says how to make one, without showing it."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_SECRETS_KEY") as caught:
        Cipher.from_settings(_settings(tmp_path, secrets_key=text))
    assert "openssl rand" in str(caught.value)
    assert not text or text not in str(caught.value)


def test_key_file_is_made_once(tmp_path: Path) -> None:
    """Without a key in the settings, one is made in the state directory for its owner only."""
    directory = tmp_path / "new" / "state"
    first = Cipher.from_settings(_settings(directory))
    assert Cipher.from_settings(_settings(directory)).key_id == first.key_id
    assert [path.name for path in directory.iterdir()] == [KEY_FILE]
    assert stat.S_IMODE((directory / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_processes_agree_on_the_key(tmp_path: Path) -> None:
    """When the API and the worker make the key at once, both use the same one."""
    for number in range(10):
        settings = _settings(tmp_path / str(number))
        with ThreadPoolExecutor(8) as threads:
            ciphers = list(threads.map(Cipher.from_settings, [settings] * 8))
        assert len({cipher.key_id for cipher in ciphers}) == 1
        assert [path.name for path in (tmp_path / str(number)).iterdir()] == [KEY_FILE]


def test_key_file_that_others_can_read(tmp_path: Path) -> None:
    """A key file with open permissions is refused, with the remedy."""
    Cipher.from_settings(_settings(tmp_path))
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        Cipher.from_settings(_settings(tmp_path))


def test_key_file_with_something_else(tmp_path: Path) -> None:
    """A key file whose content is no key is refused by its path."""
    path = tmp_path / KEY_FILE
    for content in (b"nonsense", b"\xff\xfe", b""):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(ConfigurationError, match=KEY_FILE):
            Cipher.from_settings(_settings(tmp_path))


def test_state_directory_that_cannot_be_used(tmp_path: Path) -> None:
    """A state directory that is a file names the setting."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="JEROBOAM_STATE_DIRECTORY"):
        Cipher.from_settings(_settings(tmp_path / "file"))


def test_hooks_have_another_key(tmp_path: Path) -> None:
    """The API has the key of the hooks and cannot read the keys of clusters with it."""
    settings = Settings(state_directory=tmp_path)
    hooks, clusters = Cipher.for_hooks(settings), Cipher.from_settings(settings)
    assert hooks.key_id != clusters.key_id
    assert Cipher.for_hooks(settings).key_id == hooks.key_id
    with pytest.raises(ConfigurationError, match="encrypted with key"):
        hooks.decrypt(clusters.encrypt(b"secret", "c"), "c")


def test_key_of_the_hooks_from_the_settings(tmp_path: Path) -> None:
    """A wrong key of the hooks is named by its own setting."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_HOOKS_KEY"):
        Cipher.for_hooks(Settings(state_directory=tmp_path, hooks_key=SecretStr("short")))
    good = SecretStr(base64.b64encode(bytes(32)).decode())
    Cipher.for_hooks(Settings(state_directory=tmp_path, hooks_key=good))
    assert not list(tmp_path.iterdir())


def test_derived_keys() -> None:
    """A derived key depends on key and purpose, and is none of them."""
    one = Cipher(bytes(32))
    assert one.derive("a") == Cipher(bytes(32)).derive("a") != one.derive("b")
    assert one.derive("a") not in {bytes(32), Cipher(b"x" * 32).derive("a")}
    assert len(one.derive("a")) == 32
