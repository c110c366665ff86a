"""The steps of rotations: of the cluster's certificate authorities, and of its credential. Pure."""

from collections.abc import Callable, Mapping

from jeroboam.models.cluster import MASTER, NodeGroup
from jeroboam.models.kind import OperationKind
from jeroboam.models.plan import (
    Action,
    BackendCall,
    CertificateTurn,
    FailurePolicy,
    Method,
    PlanStep,
)
from jeroboam.models.step_names import shortened
from jeroboam.models.targets import upgraded_groups
from jeroboam.models.work import COLLECT, Ask, Work, pair

REVOKE_SECONDS = 300
HAND_SECONDS = 300
"""What programs in the cluster get to take up another user: some questions to its API."""


def _rotate_ca(ask: Ask) -> Work:
    """Return three rounds through all nodes.

    First all trust both authorities, then all get certificates of the new ones, then all forget the
    former ones: at no time do two nodes meet of which one does not trust the other. What leads a
    round back belongs to the change of the stored authorities before it, since nodes are set up
    from what is stored.
    """
    turn = CertificateTurn
    return (
        PlanStep(
            name="Make new authorities",
            action=Action.TURN_CERTIFICATES,
            turn=turn.STAGE,
            undo=(
                _turn("Forget the new authorities", turn.DROP),
                *_round(ask, "Trust only the former authorities", restore=True),
                _read_again(),
            ),
        ),
        *_round(ask, "Trust both authorities"),
        PlanStep(
            name="Let the new authorities sign",
            action=Action.TURN_CERTIFICATES,
            turn=turn.PROMOTE,
            undo=(
                _turn("Let the former authorities sign", turn.DEMOTE),
                *_round(ask, "Take certificates of the former authorities", restore=True),
            ),
        ),
        *_round(ask, "Take certificates of the new authorities"),
        PlanStep(
            name="Set the former authorities aside",
            action=Action.TURN_CERTIFICATES,
            turn=turn.RETIRE,
            undo=(
                _turn("Fetch the former authorities back", turn.REINSTATE),
                *_round(ask, "Trust both authorities again", restore=True),
            ),
        ),
        *_round(ask, "Trust only the new authorities"),
        COLLECT,
    )


def _round(ask: Ask, title: str, *, restore: bool = False) -> Work:
    steps: list[PlanStep] = []
    for group in upgraded_groups(ask.spec, ask.parameters):
        call = BackendCall(
            method=Method.RENEW_CERTIFICATES,
            submitted_by=f"{title}: {shortened(group.name)}",
            node_group=group.uuid,
            batch_size=1 if group.role == MASTER else ask.parameters.batch_size,
            restore=restore,
        )
        steps += pair(call)
    return tuple(steps)


def _turn(name: str, turn: CertificateTurn) -> PlanStep:
    return PlanStep(name=name, action=Action.TURN_CERTIFICATES, turn=turn)


def _read_again() -> PlanStep:
    # Nodes that were set up anew have other ids.
    call = BackendCall(
        method=Method.RENEW_CERTIFICATES, submitted_by="Read addresses again", restore=True
    )
    return PlanStep(
        name=call.submitted_by,
        action=Action.COLLECT_OUTPUTS,
        call=call,
        on_failure=FailurePolicy.WARN,
    )


def _rotate_credential(ask: Ask) -> Work:
    """Return a change of each stack: an engine may keep a credential of its own for each.

    What leads back only warns. Where the former credential is of no use, nothing can be led back to
    it, and the new one has to go all the same.
    """
    steps: list[PlanStep] = []
    new = ask.parameters.trust_id
    if new or ask.spec.cluster.trust_id:
        withdraw = _revoke("Withdraw the new credential", new)
        steps.append(
            PlanStep(
                name="Try the new credential",
                action=Action.TRY_CREDENTIALS,
                trusts=(new,) if new else (),
                undo=withdraw,
            )
        )
    if ask.driver.account:
        steps += _replace_account(new)
    for group in (None, *_further_groups(ask)):
        what = f"node group {shortened(group.name)}" if group else "the cluster"
        call = BackendCall(
            method=Method.ROTATE_CREDENTIAL,
            submitted_by=f"Hand {what} to the new credential",
            node_group=group.uuid if group else None,
        )
        back = call.model_copy(
            update={"submitted_by": f"Hand {what} to the former credential", "restore": True}
        )
        undo = (one.model_copy(update={"on_failure": FailurePolicy.WARN}) for one in pair(back))
        steps += pair(call, undo=tuple(undo))
    return (*steps, COLLECT)


def _replace_account(trust: str | None) -> Work:
    """Return how programs in the cluster get another user, below the new credential."""
    hand = PlanStep(
        name="Give programs in the cluster their new user",
        action=Action.HAND_ACCOUNT,
        timeout_seconds=HAND_SECONDS,
    )
    give_back = hand.model_copy(
        update={
            "name": "Give programs in the cluster their former user",
            "on_failure": FailurePolicy.WARN,
        }
    )
    restore = PlanStep(name="Fetch the former user back", action=Action.RESTORE_ACCOUNT)
    make = PlanStep(
        name="Make a new user for programs in the cluster",
        action=Action.MAKE_ACCOUNT,
        trusts=(trust,) if trust else (),
        undo=(restore, give_back, _remove_accounts("Remove the new user")),
    )
    return (make, hand)


def _remove_accounts(name: str) -> PlanStep:
    return PlanStep(
        name=name,
        action=Action.REMOVE_ACCOUNTS,
        timeout_seconds=REVOKE_SECONDS,
        on_failure=FailurePolicy.WARN,
    )


def _further_groups(ask: Ask) -> tuple[NodeGroup, ...]:
    return tuple(group for group in ask.spec.node_groups if group.built and not group.is_default)


def _revoke(name: str, trust: str | None) -> Work:
    if not trust:
        return ()
    return (
        PlanStep(
            name=name,
            action=Action.REVOKE_CREDENTIALS,
            trusts=(trust,),
            timeout_seconds=REVOKE_SECONDS,
            on_failure=FailurePolicy.WARN,
        ),
    )


ROTATIONS: Mapping[OperationKind, Callable[[Ask], Work]] = {
    OperationKind.ROTATE_CA: _rotate_ca,
    OperationKind.ROTATE_CREDENTIAL: _rotate_credential,
}


def final_steps(ask: Ask) -> Work:
    """Return what an operation does when its target is the record and nothing can be undone."""
    if ask.kind is OperationKind.ROTATE_CA:
        forget = _turn("Forget the former authorities", CertificateTurn.DROP)
        return (forget.model_copy(update={"on_failure": FailurePolicy.WARN}),)
    if ask.kind is OperationKind.ROTATE_CREDENTIAL:
        former = (_remove_accounts("Remove the former user"),) if ask.driver.account else ()
        return (*former, *_revoke("Revoke the former credential", ask.spec.cluster.trust_id))
    return ()
