"""Signatures of clusters' authorities: one activity, which has the keys."""

import structlog
from temporalio import activity

from jeroboam import certificates, signing
from jeroboam.models.signing_wire import SigningAnswer, SigningRequest
from jeroboam.settings import Settings
from jeroboam.store import Store

log = structlog.get_logger(__name__)


class SigningActivities:
    """Signs for users.

    Args:
        settings: Say what may be signed.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._rules = signing.SigningRules.of(settings)

    @activity.defn
    async def sign_certificate(self, request: SigningRequest) -> SigningAnswer:
        """Check a request once more, where the keys are, and sign it."""
        csr = signing.check(request.csr, request.kind, self._rules)
        stored = await self._store.secrets.get(request.cluster_id)
        authority = getattr(certificates.from_mapping(stored), request.kind)
        pem = signing.sign(authority, csr, self._rules)
        log.info(
            "certificate_signed",
            cluster_id=request.cluster_id,
            request_id=request.request_id,
            kind=str(request.kind),
            subject=csr.subject.rfc4514_string(),
        )
        return SigningAnswer(pem=pem)
