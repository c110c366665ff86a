"""The tables of the labels of the drivers on Heat."""

from jeroboam.drivers.kubernetes.labels import TABLE
from jeroboam.drivers.labels import LabelTable
from tests.unit.drivers.heat.nodes import DRIVERS

NOT_OFFERED = "not offered"


def kubernetes_labels() -> str:
    """Return the table of all labels, with the defaults of most drivers."""
    return labels_of(TABLE)


def labels_of(table: LabelTable) -> str:
    """Return a driver's labels as a table alone."""
    return table.markdown("").partition("\n\n")[2].strip()


def differences() -> str:
    """Return the table of what single drivers do otherwise."""
    rows = ["| Driver | Label | Default | Meaning or remedy |", "|---|---|---|---|"]
    for name, driver in sorted(DRIVERS.items()):
        for label in sorted(TABLE.labels):
            own, common = driver.labels.labels.get(label), TABLE.labels[label]
            if own is None:
                rows.append(
                    f"| `{name}` | `{label}` | {NOT_OFFERED} | {driver.labels.retired[label]} |"
                )
            elif own != common:
                rows.append(f"| `{name}` | `{label}` | `{own.default}` | {own.meaning} |")
    return "\n".join(rows)


def retired_labels() -> str:
    """Return the table of Magnum's labels that are refused."""
    return TABLE.markdown_of_retired()
