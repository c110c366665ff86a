"""A cloud made of dictionaries, and the people who use it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jeroboam.api.http.caller import Caller, Credentials, Refusal
from jeroboam.api.http.directory import Flavor, Found, Image, Wanted
from jeroboam.drivers.base import ClusterDriver
from jeroboam.errors import (
    CloudUnavailableError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.models import Cluster, Identity, Operation
from jeroboam.models.lifecycle import cancel_words
from jeroboam.models.wire import HookAnswer
from jeroboam.store import Store

PROJECT = "11111111111111111111111111111111"
OTHER_PROJECT = "22222222222222222222222222222222"
OPERATORS_PROJECT = "33333333333333333333333333333333"

PEOPLE = {
    "member-token": Identity(user_id="u1", project_id=PROJECT, roles=("member", "reader")),
    "colleague-token": Identity(user_id="u2", project_id=PROJECT, roles=("member", "reader")),
    "reader-token": Identity(user_id="u3", project_id=PROJECT, roles=("reader",)),
    "nobody-token": Identity(user_id="u4", project_id=PROJECT, roles=("guest",)),
    "stranger-token": Identity(user_id="u5", project_id=OTHER_PROJECT, roles=("member", "reader")),
    "admin-token": Identity(
        user_id="u6", project_id=PROJECT, roles=("admin", "manager", "member", "reader")
    ),
    "operator-token": Identity(
        user_id="u7", project_id=OPERATORS_PROJECT, roles=("admin", "manager", "member", "reader")
    ),
}


async def authenticate(credentials: Credentials) -> Identity | Refusal:
    """Know the people of the table."""
    identity = PEOPLE.get(credentials.token or "")
    if identity is None:
        return Refusal(401, "The request you have made requires authentication.")
    return identity


@dataclass
class FakeCloud:
    """Images, flavors and networks by name; ``down`` makes it not answer."""

    images: dict[str, Mapping[str, str]] = field(
        default_factory=lambda: {
            "fake-image": {"magnum_distro": "fake"},
            "old-style-image": {"os_distro": "fake"},
            "mute-image": {},
            "twin-image": {"magnum_distro": "twin"},
            "chosen-twin-image": {"magnum_distro": "twin", "magnum_driver": "second_twin"},
            "disabled-image": {"magnum_distro": "disabled"},
            "alien-image": {"magnum_distro": "alien"},
            "plain-image": {"magnum_distro": "plain"},
            "newer-image": {"magnum_distro": "fake"},
        }
    )
    flavors: dict[str, int] = field(default_factory=lambda: {"m1.small": 20, "diskless": 0})
    networks: set[str] = field(default_factory=lambda: {"public", "private"})
    subnets: set[str] = field(default_factory=lambda: {"private-subnet"})
    keypairs: set[str] = field(default_factory=lambda: {"mykey"})
    down: bool = False

    def directory(self, caller: Caller) -> "FakeCloud":
        """All callers see the same cloud."""
        return self

    async def look_up(self, wanted: Wanted) -> Found:
        """Find what is in the dictionaries."""
        if self.down:
            raise CloudUnavailableError("Glance does not answer: connection refused")
        self._check("image", wanted.image, self.images)
        for flavor in wanted.flavors:
            self._check("flavor", flavor, self.flavors)
        self._check("external network", wanted.external_network, self.networks)
        self._check("fixed network", wanted.fixed_network, self.networks)
        self._check("fixed subnet", wanted.fixed_subnet, self.subnets)
        if wanted.keypair and wanted.keypair not in self.keypairs:
            raise NotFoundError(f"Unable to find keypair {wanted.keypair}.")
        name = wanted.image
        image = Image(id=name, name=name, properties=self.images[name]) if name else None
        flavors = {f: Flavor(f, f, disk=self.flavors[f], vcpus=2) for f in wanted.flavors}
        return Found(image=image, flavors=flavors)

    async def check_project(self, ident: str) -> None:
        """Find those of the people, and any that does not begin with ``absent``."""
        if self.down:
            raise CloudUnavailableError("Keystone does not answer: connection refused")
        if ident.startswith("absent"):
            raise NotFoundError(f"Project {ident} could not be found.")

    def _check(self, noun: str, name: str | None, known: object) -> None:
        if name is not None and name not in known:  # type: ignore[operator]
            raise InvalidRequestError(f"Unable to find {noun} {name}.")


@dataclass
class FakeTrusts:
    """Keystone trusts as a set."""

    alive: set[str] = field(default_factory=set)
    made: int = 0
    prepared: list[tuple[str, str]] = field(default_factory=list)
    refusal: Exception | None = None

    async def create(self, caller: Caller) -> str:
        """Make one more."""
        self.made += 1
        trust = f"trust-{self.made}-of-{caller.identity.user_id}"
        self.alive.add(trust)
        return trust

    async def works(self, trust_id: str) -> bool:
        """Whether it was made and neither removed nor revoked."""
        return trust_id in self.alive

    async def delete(self, trust_id: str) -> None:
        """Forget one."""
        self.alive.discard(trust_id)

    async def prepare_owner(self, caller: Caller, driver: ClusterDriver) -> None:
        """Remember who was prepared for which driver."""
        self.prepared.append((caller.identity.user_id, driver.name))
        if self.refusal:
            raise self.refusal


@dataclass
class RecordingOperations:
    """Starts nothing and remembers what it was asked; takes operations up again in the store."""

    store: Store
    started: list[Operation] = field(default_factory=list)
    deleted: list[Operation] = field(default_factory=list)
    cancelled: list[tuple[str, str]] = field(default_factory=list)
    answers: list[HookAnswer] = field(default_factory=list)
    error: Exception | None = None

    async def start(self, operation: Operation) -> None:
        """Remember a start."""
        if self.error:
            raise self.error
        self.started.append(operation)

    async def delete(self, cluster: Cluster, operation: Operation) -> None:
        """Store the row of a delete and remember it."""
        await self.store.operations.add(operation)
        self.deleted.append(operation)

    async def cancel(self, operation: Operation, reason: str, *, now: bool = False) -> str:
        """Remember a cancellation and say what the kind of operation does."""
        if not operation.state.active:
            raise ConflictError(f"The operation has ended already ({operation.state}).")
        self.cancelled.append((operation.uuid, reason))
        return cancel_words(operation.kind, now=now)

    async def retry(self, operation: Operation) -> None:
        """Open the record again, as the engine does, and remember the start."""
        await self.start(await self.store.operations.reopen(operation.uuid))

    async def answer_hook(self, operation: Operation, answer: HookAnswer) -> None:
        """Remember an answer."""
        self.answers.append(answer)
