"""The stages of a rotation of certificate authorities, as changes of the stored secrets; pure.

Beyond ``certificate_sets``, the former set is set aside for the last round: nodes must not trust it
any more, and a roll-back still has to find it. Each change, made twice, is made once.
"""

from collections.abc import Callable, Mapping
from functools import partial

from jeroboam import certificate_sets, certificates
from jeroboam.certificate_sets import PREVIOUS
from jeroboam.models.plan import CertificateTurn

Values = Mapping[str, str]

RETIRED = "retired_"


def turned(turn: CertificateTurn, rotation: str, cluster_name: str) -> Callable[[Values], Values]:
    """Return the change of the stored secrets that a stage of a rotation stands for.

    Args:
        rotation: Identifies the rotation.
        cluster_name: For the subject of new authorities.
    """
    if turn is CertificateTurn.STAGE:
        fresh = certificates.issue_cluster_secrets(cluster_name)
        return partial(certificate_sets.stage, rotation=rotation, fresh=fresh)
    return _CHANGES[turn]


def retire(values: Values) -> Values:
    """Set the previous set aside: it is kept and not trusted."""
    return _renamed(values, PREVIOUS, RETIRED)


def reinstate(values: Values) -> Values:
    """Trust the set again that was set aside."""
    return _renamed(values, RETIRED, PREVIOUS)


def drop(values: Values) -> Values:
    """Keep the set that signs, and no other."""
    kept = certificate_sets.drop(values)
    return {name: text for name, text in kept.items() if not name.startswith(RETIRED)}


def _renamed(values: Values, old: str, new: str) -> Values:
    return {
        f"{new}{name.removeprefix(old)}" if name.startswith(old) else name: text
        for name, text in values.items()
    }


_CHANGES: Mapping[CertificateTurn, Callable[[Values], Values]] = {
    CertificateTurn.PROMOTE: certificate_sets.promote,
    CertificateTurn.DEMOTE: certificate_sets.demote,
    CertificateTurn.RETIRE: retire,
    CertificateTurn.REINSTATE: reinstate,
    CertificateTurn.DROP: drop,
}
