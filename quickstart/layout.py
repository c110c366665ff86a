"""Where everything of one quickstart lives, and on which ports it listens.

Standard library only: ``make clean`` needs it when nothing is installed.
"""

import re
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DEFAULT_PORT_BASE = 15000

# Offsets from the port base; devcloud has its own (``devcloud.catalogue``), the API's among them.
API_OFFSET = 11
WORKER_HEALTH_OFFSET = 12
TEMPORAL_OFFSET = 33
TEMPORAL_UI_OFFSET = 34


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths and URLs of one quickstart.

    Attributes:
        name: Tells several quickstarts of one checkout apart; empty for the usual one.
        port_base: First port; everything else is at a fixed distance.
    """

    name: str = ""
    port_base: int = DEFAULT_PORT_BASE

    @property
    def home(self) -> Path:
        """Folder of Jeroboam's and Temporal's state."""
        return CHECKOUT / (f".jeroboam-{self.name}" if self.name else ".jeroboam")

    @property
    def cloud_home(self) -> Path:
        """Folder of the devcloud."""
        return CHECKOUT / (f".devcloud-{self.name}" if self.name else ".devcloud")

    @property
    def cloud_venv(self) -> Path:
        """Environment of the OpenStack services; all quickstarts share it."""
        return CHECKOUT / ".devcloud" / "venv"

    @property
    def clouds_yaml(self) -> Path:
        """Client configuration which devcloud writes."""
        return self.cloud_home / "clouds.yaml"

    @property
    def programs(self) -> Path:
        """Where the product's programs are."""
        return CHECKOUT / ".venv" / "bin"

    @property
    def run(self) -> Path:
        """Records of the running processes."""
        return self.home / "run"

    @property
    def api_port(self) -> int:
        """Where Keystone's catalogue says that Jeroboam is."""
        return self.port_base + API_OFFSET

    @property
    def api_url(self) -> str:
        """The API, without version."""
        return f"http://127.0.0.1:{self.api_port}"

    @property
    def worker_health_port(self) -> int:
        """Where the worker says that it is alive."""
        return self.port_base + WORKER_HEALTH_OFFSET

    @property
    def temporal_port(self) -> int:
        """The Temporal server's gRPC."""
        return self.port_base + TEMPORAL_OFFSET

    @property
    def temporal_ui_port(self) -> int:
        """The Temporal UI."""
        return self.port_base + TEMPORAL_UI_OFFSET

    @property
    def temporal_ui_url(self) -> str:
        """The Temporal UI, without a path."""
        return f"http://127.0.0.1:{self.temporal_ui_port}"

    def log(self, name: str) -> Path:
        """Return the log file of a process."""
        return self.home / "log" / f"{name}.log"

    def record(self, name: str) -> Path:
        """Return the file that remembers a process."""
        return self.run / f"{name}.json"


def is_name(text: str) -> bool:
    """Tell whether a text can name a quickstart; it becomes part of folder names."""
    return re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,31}", text) is not None and text != "boot"
