"""What pretended nodes are set up with: the driver's templates, the cluster's authorities."""

from hashlib import sha256
from pathlib import Path

import yaml

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.errors import DriverContractError

FILE = "node.yaml"


def read(folder: Path | None) -> str:
    """Return the set-up that the templates in a folder describe.

    Raises:
        DriverContractError: There is none.
    """
    try:
        found = yaml.safe_load((folder / FILE).read_bytes()) if folder else None
    except (OSError, yaml.YAMLError) as error:
        raise DriverContractError(f"Template {FILE}: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("setup"), str):
        raise DriverContractError(f"Template {FILE} has no text 'setup'.")
    return str(found["setup"])


def authorities(secrets: ClusterSecrets) -> list[str]:
    """Return digests of the certificates that nodes trust; the one that signs comes first."""
    api = secrets.kubernetes
    return [sha256(pem.encode()).hexdigest()[:8] for pem in (api.certificate, *api.also_trusted)]
