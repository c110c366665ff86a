"""The stages of a rotation of certificate authorities, as changes of the stored secrets; pure."""

from collections.abc import Callable, Mapping
from functools import partial

from jeroboam import certificate_sets, certificates
from jeroboam.models.plan import CertificateTurn
from jeroboam.stored_values import Values

_CHANGES: Mapping[CertificateTurn, Callable[[Values], Values]] = {
    CertificateTurn.PROMOTE: certificate_sets.promote,
    CertificateTurn.DEMOTE: certificate_sets.demote,
    CertificateTurn.RETIRE: certificate_sets.retire,
    CertificateTurn.REINSTATE: certificate_sets.reinstate,
    CertificateTurn.DROP: certificate_sets.drop,
}


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
