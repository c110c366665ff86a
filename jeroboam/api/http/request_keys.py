"""Creates that may be sent again: the caller's key of a request names what it makes.

The uuids of the cluster and its operation are made from the key, so that whoever repeats the
request finds what the first one has made, and nothing needs to be kept. See the draft
"The Idempotency-Key HTTP Header Field" of the IETF.
"""

import hashlib
from dataclasses import dataclass
from uuid import UUID, uuid5

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.schemas.cluster import ClusterCreate
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import ClusterSpec, Operation
from jeroboam.store import Store

_NAMESPACE = UUID("5d0f8b5e-90a5-4d57-9f2c-0c3c2a1c7b64")


@dataclass(frozen=True)
class RequestKey:
    """What a request with a key makes.

    Args:
        operation_id: Made from project and key.
        cluster_id: Made from these and all that the request says, so that another request with
            the same key is noticed.
    """

    operation_id: str
    cluster_id: str

    @classmethod
    def of(
        cls, caller: Caller, key: str, request: ClusterCreate, *, rollback: bool
    ) -> "RequestKey":
        """Return what a create makes that has a key."""
        name = f"{caller.identity.project_id}:{key}"
        text = f"{request.model_dump_json(exclude_unset=True)}:{rollback}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(
            operation_id=str(uuid5(_NAMESPACE, f"operation:{name}")),
            cluster_id=str(uuid5(_NAMESPACE, f"cluster:{name}:{digest}")),
        )

    async def made(self, store: Store) -> Operation | None:
        """Return the operation that the same request has begun before, if one has.

        Raises:
            ConflictError: The key was another request's.
        """
        try:
            operation = await store.operations.get(self.operation_id)
        except NotFoundError:
            return None
        if operation.cluster_id != self.cluster_id:
            raise ConflictError(
                "The request has the key of another request, which asked for something else. "
                "Choose a new key for it."
            )
        return operation

    def named(self, spec: ClusterSpec) -> ClusterSpec:
        """Return a cluster under the uuid that the key gives it."""
        groups = tuple(
            group.model_copy(update={"cluster_id": self.cluster_id}) for group in spec.node_groups
        )
        cluster = spec.cluster.model_copy(update={"uuid": self.cluster_id})
        return spec.model_copy(update={"cluster": cluster, "node_groups": groups})
