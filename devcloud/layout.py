"""Where everything of one devcloud lives, and on which ports it listens.

The manager (any Python) and the services (the devcloud's own virtual environment) both
use this module, so it imports nothing beyond the standard library.
"""

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from devcloud import catalogue
from devcloud.errors import UsageError

DEFAULT_PORT_BASE = 15000
PORT_BASES = range(1024, 65536 - max(s.port_offset for s in catalogue.everything().values()))
"""Port bases with which every service gets a port that needs no privileges."""


def checkout() -> Path:
    """Return the folder that holds the ``devcloud`` package."""
    return Path(__file__).resolve().parent.parent


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    Path(temporary).replace(path)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose; kept in the home so that later commands agree.

    Attributes:
        port_base: First port; each service adds its offset.
        services: Name of the set, one of ``catalogue.SETS``.
        boot_seconds: How long a simulated node takes from spawn to its first call.
    """

    port_base: int = DEFAULT_PORT_BASE
    services: str = "full"
    boot_seconds: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot work before anything is written."""
        if self.services not in catalogue.SETS:
            raise UsageError(
                f"There is no set of services called {self.services!r}.",
                f"Choose from: {', '.join(catalogue.SETS)}.",
            )
        if self.port_base not in PORT_BASES:
            raise UsageError(
                f"{self.port_base} cannot be a port base.",
                f"Choose a number from {PORT_BASES.start} to {PORT_BASES.stop - 1}.",
            )


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths and URLs of one devcloud.

    Attributes:
        home: Folder that holds all state of this devcloud.
        venv: Virtual environment of the OpenStack services; may be shared between homes.
        settings: What the user chose.
    """

    home: Path
    venv: Path
    settings: Settings

    @classmethod
    def load(cls, home: Path, venv: Path | None = None) -> "Layout | None":
        """Read a home that was set up before, or return None."""
        try:
            stored = json.loads((home / "devcloud.json").read_text(encoding="utf-8"))
            settings = Settings(**stored["settings"])
            return cls(home=home, venv=venv or Path(stored["venv"]), settings=settings)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def save(self) -> None:
        """Keep the settings in the home."""
        stored = {"venv": str(self.venv), "settings": asdict(self.settings)}
        write_private(self.home / "devcloud.json", json.dumps(stored, indent=2) + "\n")

    @property
    def services(self) -> tuple[str, ...]:
        """Names of the services of the chosen set, in the order of start."""
        return catalogue.SETS[self.settings.services]

    @property
    def python(self) -> Path:
        """Interpreter of the services' virtual environment."""
        return self.venv / "bin" / "python"

    @property
    def etc(self) -> Path:
        """Configuration files of the services; written anew on each start."""
        return self.home / "etc"

    @property
    def state(self) -> Path:
        """Databases, keys and images: all that a snapshot has to hold."""
        return self.home / "state"

    @property
    def logs(self) -> Path:
        """Log files, ``<service>.log`` and ``<service>.out``."""
        return self.home / "logs"

    @property
    def run(self) -> Path:
        """Records of the running processes."""
        return self.home / "run"

    def listening(self, service: str) -> Path:
        """Return the file that a service writes its process number to when it listens."""
        return self.run / f"{service}.listening"

    @property
    def seeded(self) -> Path:
        """Written last by the process that fills a new cloud."""
        return self.run / "seeded"

    @property
    def plugins(self) -> Path:
        """What the services find on their ``PYTHONPATH``."""
        return self.home / "plugins"

    @property
    def faults(self) -> Path:
        """The rules of ``devcloud.faults``."""
        return self.home / "faults.json"

    @property
    def clouds_yaml(self) -> Path:
        """Client configuration for openstacksdk and the command line."""
        return self.home / "clouds.yaml"

    @property
    def demo_key(self) -> Path:
        """Private key of the key pair ``demo``."""
        return self.state / "keys" / "demo.pem"

    def database(self, name: str) -> Path:
        """Return the path of an SQLite file."""
        return self.state / f"{name}.sqlite"

    def prepared(self, service: str) -> Path:
        """Return the marker that a service's databases are complete."""
        return self.state / "prepared" / service

    def port(self, service: str) -> int:
        """Return the port that a service listens on."""
        return self.settings.port_base + catalogue.find(service).port_offset

    def url(self, service: str) -> str:
        """Return scheme, host and port of a service."""
        return f"http://127.0.0.1:{self.port(service)}"

    def endpoint(self, service: str) -> str:
        """Return a service's URL as Keystone's catalogue has it."""
        return self.url(service) + catalogue.find(service).path
