"""How labels of a cluster relate to those of its template (or a group's to its cluster's)."""

from collections.abc import Mapping
from typing import NamedTuple


class LabelDifference(NamedTuple):
    """What Magnum shows beside the labels.

    Args:
        overridden: The parent's value of each label that has another one here.
        added: Labels that the parent has not.
        skipped: Labels of the parent that are not here.
    """

    overridden: dict[str, str]
    added: dict[str, str]
    skipped: dict[str, str]


def difference(parent: Mapping[str, str], labels: Mapping[str, str]) -> LabelDifference:
    """Compare ``labels`` with those of the parent."""
    return LabelDifference(
        overridden={k: v for k, v in parent.items() if k in labels and labels[k] != v},
        added={k: v for k, v in labels.items() if k not in parent},
        skipped={k: v for k, v in parent.items() if k not in labels},
    )


def inherit(
    parent: Mapping[str, str], labels: Mapping[str, str] | None, *, merge: bool
) -> dict[str, str]:
    """Return the labels in force: the parent's, one's own, or both with one's own on top."""
    if not labels:
        return dict(parent)
    return {**parent, **labels} if merge else dict(labels)
