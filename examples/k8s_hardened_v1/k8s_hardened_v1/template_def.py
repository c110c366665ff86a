"""The driver's templates; what it does not bring along it shares with its family."""

from pathlib import Path

from jeroboam.drivers.heat.kubernetes import mappings

_FOLDER = Path(__file__).parent / "templates"

DEFINITION = mappings.cluster_definition(_FOLDER)
GROUP_DEFINITION = mappings.group_definition(_FOLDER)
