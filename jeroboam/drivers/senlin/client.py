"""Senlin's API, as far as drivers need it.

What changes something is asked with the rights of the cluster's owner, to whom the objects belong;
what only reads is asked as Jeroboam's own service user, who sees those of all owners.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.senlin.records import MARK, Record
from jeroboam.errors import NotFoundError

SERVICE = "Senlin"
PAGE = 500
NAMES = 40
"""How many names a question holds at most, so that its URL stays short."""

_TYPE, _VERSION, _MICROVERSION = "clustering", "1", "1.12"


class Senlin:
    """Profiles, clusters and nodes of Senlin's.

    Args:
        cloud: Where they are.
        owner: Session of the owner of clusters, for changes.
    """

    def __init__(self, cloud: CloudAccess, owner: Session | None = None) -> None:
        self._cloud = cloud
        self._reader = cloud.service_session()
        self._owner = owner

    def greet(self) -> None:
        """Be seen by Senlin as the owner; it makes itself a trust of whom it has never met."""
        self._call(self._required_owner(), "GET", "/clusters", params={"limit": 1})

    def nodes(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the nodes of all owners by the uuid of the cluster of Jeroboam's."""
        return _by_cluster(self._all("nodes"))

    def clusters(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the clusters of all owners by the uuid of the cluster of Jeroboam's."""
        return _by_cluster(self._all("clusters"))

    def records(self, clusters: Sequence[tuple[str, str]]) -> Mapping[str, Record]:
        """Return the records of clusters by their uuids.

        Args:
            clusters: uuid of each, and its project.
        """
        owners = dict(clusters)
        names = [Record.name_of(uuid) for uuid in owners]
        found = [Record.of(one) for one in self.profiles(names)]
        # Whoever makes a profile chooses its name, but not its project.
        return {one.cluster: one for one in found if owners.get(one.cluster) == one.project}

    def profiles(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the profiles of all owners that have one of the names."""
        found: list[Mapping[str, Any]] = []
        for first in range(0, len(names), NAMES):
            found += self._all("profiles", name=list(names[first : first + NAMES]))
        return found

    def action(self, ident: str) -> Mapping[str, Any]:
        """Return an action; nothing if Senlin does not know it any more."""
        try:
            return dict(self._call(self._reader, "GET", f"/actions/{ident}")["action"])
        except NotFoundError:
            return {}

    def make_profile(
        self, name: str, spec: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Make a profile and return it."""
        body = {"profile": {"name": name, "spec": dict(spec), "metadata": dict(metadata)}}
        return dict(self._change("POST", "/profiles", body)["profile"])

    def note(self, record: Record) -> None:
        """Write a record; in contrast to a cluster's metadata it is there at once."""
        if record.metadata() != record.written:
            body = {"profile": {"metadata": record.metadata()}}
            self._change("PATCH", f"/profiles/{record.id}", body)

    def make_cluster(
        self, name: str, profile: str, metadata: Mapping[str, str], timeout_minutes: int
    ) -> str:
        """Make a cluster without nodes and return its id."""
        body = {
            "name": name,
            "profile_id": profile,
            "min_size": 0,
            "max_size": -1,
            "desired_capacity": 0,
            "metadata": dict(metadata),
            "timeout": timeout_minutes * 60,
            # Senlin names the nodes of clusters itself; the servers have names of their own.
            "config": {"node.name.format": f"{name}-$8r"},
        }
        return str(self._change("POST", "/clusters", {"cluster": body})["cluster"]["id"])

    def make_node(self, name: str, profile: str, cluster: str, metadata: Mapping[str, str]) -> str:
        """Have a node made in a cluster and return its id."""
        body = {
            "name": name,
            "profile_id": profile,
            "cluster_id": cluster,
            "metadata": dict(metadata),
        }
        return str(self._change("POST", "/nodes", {"node": body})["node"]["id"])

    def remove_nodes(self, cluster: str, nodes: Sequence[str]) -> str:
        """Have nodes taken out of a cluster and deleted; return the action."""
        body = {"del_nodes": {"nodes": list(nodes), "destroy_after_deletion": True}}
        return str(self._change("POST", f"/clusters/{cluster}/actions", body)["action"])

    def delete(self, kind: str, ident: str, *, force: bool = False) -> str:
        """Delete an object; what does not exist is fine.

        Args:
            kind: ``clusters``, ``nodes`` or ``profiles``.
            force: Whether it may be at work on something.

        Returns:
            The action that does it, if one is needed.
        """
        owner = self._required_owner()
        arguments = {"json": {"force": True}} if force else {}
        with translate_cloud_errors(SERVICE):
            try:
                answer = self._request(owner, "DELETE", f"/{kind}/{ident}", **arguments)
            except NotFoundError:
                return ""
        return str(answer.headers.get("Location") or "").rpartition("/")[2]

    def _all(self, kind: str, **query: Any) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        query = {**query, "global_project": "true", "limit": PAGE}
        while True:
            page = self._call(self._reader, "GET", f"/{kind}", params=query)[kind]
            found += page
            if len(page) < PAGE:
                return found
            query = {**query, "marker": page[-1]["id"]}

    def _change(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        return self._call(self._required_owner(), method, path, json=body)

    def _required_owner(self) -> Session:
        if self._owner is None:
            raise TypeError("Changes need the session of an owner.")
        return self._owner

    def _call(self, session: Session, method: str, path: str, **arguments: Any) -> Any:
        with translate_cloud_errors(SERVICE):
            answer = self._request(session, method, path, **arguments)
        return answer.json() if answer.content else {}

    def _request(self, session: Session, method: str, path: str, **arguments: Any) -> Any:
        where = {
            "service_type": _TYPE,
            "version": _VERSION,
            "region_name": self._cloud.region,
            "interface": self._cloud.interface,
        }
        return session.request(
            path,
            method,
            endpoint_filter=where,
            microversion=_MICROVERSION,
            microversion_service_type=_TYPE,
            **arguments,
        )


def _by_cluster(
    objects: Sequence[Mapping[str, Any]],
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    index: dict[str, list[Mapping[str, Any]]] = {}
    for one in objects:
        if mark := (one.get("metadata") or {}).get(MARK):
            index.setdefault(str(mark), []).append(one)
    return index
