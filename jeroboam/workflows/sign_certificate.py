"""A signature of a cluster's authority."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.signing import SigningActivities
    from jeroboam.models.signing_wire import (
        SIGN_CERTIFICATE_WORKFLOW,
        SigningAnswer,
        SigningRequest,
    )

from jeroboam.workflows import limits


@workflow.defn(name=SIGN_CERTIFICATE_WORKFLOW)
class SignCertificateWorkflow:
    """Have a worker sign; somebody waits for it at the other end of a connection."""

    @workflow.run
    async def run(self, request: SigningRequest) -> SigningAnswer:
        """Return the certificate."""
        return await workflow.execute_activity_method(
            SigningActivities.sign_certificate,
            request,
            schedule_to_start_timeout=limits.COE_START,
            start_to_close_timeout=limits.COE_START,
            schedule_to_close_timeout=limits.COE_ATTEMPT,
            retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3),
            summary=f"{request.kind}",
        )
