"""Questions to a driver that runs in this worker alone: one activity, which calls a check of it."""

import base64

from pydantic import ValidationError
from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.dependencies import Dependencies
from jeroboam.drivers.base import SupportsCloudAccount
from jeroboam.drivers.remote import QUESTIONS
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.models import ClusterSpec
from jeroboam.models.driver_wire import DriverQuestion
from jeroboam.store import Cipher

VALIDATE = "validate"
PURPOSE = "questions to drivers"
"""What the key is derived for, from that which API and workers share."""


class DriverQuestions:
    """Answers for the drivers of this worker.

    Args:
        dependencies: What activities are made of.
        cipher: Opens the questions.
    """

    def __init__(self, dependencies: Dependencies, cipher: Cipher) -> None:
        self._dependencies = dependencies
        self._cipher = cipher

    @activity.defn
    async def ask_driver(self, question: DriverQuestion) -> None:
        """Have the driver check something; its objection is the error."""
        driver = self._dependencies.drivers.installed(question.driver)
        sealed = base64.b64decode(question.sealed)
        plain = self._cipher.decrypt(sealed, question.driver)
        method = getattr(driver, question.method, None)
        if question.method not in QUESTIONS or method is None:
            raise DriverContractError(f"Driver '{driver.name}' is not asked '{question.method}'.")
        try:
            arguments = QUESTIONS[question.method].validate_json(plain)
        except ValidationError as error:
            raise DriverContractError(
                f"The worker of driver '{driver.name}' does not understand the question "
                f"({error.error_count()} wrong fields): are all processes of one version?"
            ) from None
        await threads.call(method, *arguments)
        if question.method == VALIDATE and isinstance(driver, SupportsCloudAccount):
            await threads.call(_refuse_account, driver, *arguments)


def _refuse_account(driver: SupportsCloudAccount, spec: ClusterSpec) -> None:
    if driver.needs_cloud_account(spec):
        raise InvalidRequestError(
            "Programs in this cluster would log in to the cloud, and drivers in workers of their "
            "own give them no user. Turn these programs off, or have the operator run the driver "
            "in the general workers."
        )
