"""The node groups of one cluster in Senlin, and what is noted of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jeroboam.drivers.senlin.client import Senlin
from jeroboam.drivers.senlin.records import (
    GROUP,
    MARK,
    NODE,
    PORT,
    Objects,
    Record,
    name_of,
    removing,
)
from jeroboam.errors import ConflictError
from jeroboam.models import Cluster

_QUIET = frozenset({"ACTIVE", "ERROR", "WARNING"})


class Groups:
    """Reads what Senlin has of a cluster once, and changes it.

    Args:
        senlin: Where it is.
        cluster: Whose.
    """

    def __init__(self, senlin: Senlin, cluster: Cluster) -> None:
        self._senlin = senlin
        self._cluster = cluster
        self._known = senlin.records([(cluster.uuid, cluster.project_id)]).get(cluster.uuid)
        # Asked before the lists: those must not hold what an action that has ended has removed.
        self._removals = [senlin.action(one) for one in self._known.actions] if self._known else []
        self.nodes: Objects = self._mine(senlin.nodes().get(cluster.uuid, ()))
        self.clusters: Objects = self._mine(senlin.clusters().get(cluster.uuid, ()))
        self._usable = {str(one["metadata"].get(GROUP)): str(one["id"]) for one in self.clusters}

    def record(self) -> Record | None:
        """Return the record of the last call."""
        return self._known

    def empty(self) -> bool:
        """Tell whether Senlin has neither nodes nor clusters."""
        return not self.nodes and not self.clusters

    def at_work(self) -> list[str]:
        """Return the names of nodes that Senlin is making or removing at this moment."""
        leaving = self._known.leaving if self._known else ()
        removed = leaving if self._known and removing(self.actions(self._known)) else ()
        return [
            name_of(one)
            for one in self.nodes
            if one["status"] not in _QUIET or one["id"] in removed
        ]

    def actions(self, record: Record) -> Objects:
        """Return the actions by which the last call removes something, if it has not ended."""
        if not any(one["id"] in record.leaving for one in (*self.nodes, *self.clusters)):
            return ()
        return self._removals

    def make_record(self, spec: Mapping[str, Any]) -> Record:
        """Make the profile that holds the record, and that the clusters themselves have.

        Args:
            spec: The profile; no node is made from it.
        """
        name = Record.name_of(self._cluster.uuid)
        return Record.of(self._senlin.make_profile(name, spec, {MARK: self._cluster.uuid}))

    def begin(self, record: Record, names: Sequence[str]) -> Record:
        """Note that a call begins, and forget the profiles of nodes that are no more.

        Args:
            names: Of the nodes that the call may make.
        """
        there = {name_of(one) for one in self.nodes}
        stale = set(record.names) - there - set(names)
        self._delete_profiles(sorted(stale))
        record = replace(record, names=tuple(name for name in record.names if name not in stale))
        return self._note(record.begun(names))

    def leaving(self, surplus: Mapping[str, Any], servers: Sequence[Mapping[str, Any]]) -> Objects:
        """Return the nodes that have to go: nobody wants them, or they have lost their server.

        Args:
            surplus: Ids of servers and ports that nobody wants.
            servers: Those that are wanted, with their ids if they are there.
        """
        lost = {one["name"] for one in servers if one["id"] is None}
        return [
            node
            for node in self.nodes
            if node.get("physical_id") in surplus["servers"]
            or node["metadata"].get(PORT) in surplus["ports"]
            or name_of(node) in lost
        ]

    def remove(self, record: Record, leaving: Objects) -> Record:
        """Have nodes deleted, and the clusters that have no others."""
        ids = {str(node["id"]) for node in leaving}
        gone, actions = set(ids), []
        for cluster in self.clusters:
            mine = [one for one in self.nodes if one.get("cluster_id") == cluster["id"]]
            going = [str(node["id"]) for node in mine if node["id"] in ids]
            if len(going) == len(mine):
                actions.append(self._senlin.delete("clusters", str(cluster["id"]), force=True))
                gone.add(str(cluster["id"]))
                self._usable.pop(str(cluster["metadata"].get(GROUP)), None)
            elif going:
                actions.append(self._senlin.remove_nodes(str(cluster["id"]), going))
        known = {cluster["id"] for cluster in self.clusters}
        strays = [str(node["id"]) for node in leaving if node.get("cluster_id") not in known]
        actions += [self._senlin.delete("nodes", one, force=True) for one in strays]
        return self._note(
            replace(
                record, leaving=tuple(sorted(gone)), actions=tuple(one for one in actions if one)
            )
        )

    def delete_all(self) -> None:
        """Have all nodes and clusters deleted without a note of it."""
        for cluster in self.clusters:
            self._senlin.delete("clusters", str(cluster["id"]), force=True)
        for node in self.nodes:
            if not node.get("cluster_id"):
                self._senlin.delete("nodes", str(node["id"]), force=True)

    def make(
        self,
        record: Record,
        server: Mapping[str, Any],
        spec: Mapping[str, Any],
        timeout_minutes: int,
    ) -> None:
        """Have a node made in the cluster of its group, unless there is one.

        Args:
            spec: Of its profile.
        """
        name, group = server["name"], server["group"]
        if any(name_of(one) == name and one["id"] not in record.leaving for one in self.nodes):
            return
        mark = {MARK: self._cluster.uuid}
        if group not in self._usable:
            self._usable[group] = self._senlin.make_cluster(
                name.rpartition("-")[0], record.id, {**mark, GROUP: group}, timeout_minutes
            )
        profile = self._senlin.make_profile(name, spec, mark)
        port = spec["properties"]["networks"][0]["port"]
        metadata = {**mark, NODE: name, PORT: port}
        self._senlin.make_node(name, str(profile["id"]), self._usable[group], metadata)

    def finish(self, record: Record, key: str, names: Sequence[str]) -> None:
        """Note that all of a call has come to Senlin.

        Args:
            names: Of the nodes that it wants to be there.
        """
        self._note(replace(record, call=key, wanted=tuple(names)))

    def leftovers(self) -> Sequence[str]:
        """List all that is there."""
        found = [f"Senlin cluster {one['name']} ({one['id']})" for one in self.clusters]
        found += [f"Senlin node {one['name']} ({one['id']})" for one in self.nodes]
        names = list(self._known.names) if self._known else []
        for profile in self._profiles([*names, Record.name_of(self._cluster.uuid)]):
            found.append(f"Senlin profile {profile['name']} ({profile['id']})")
        return found

    def forget_profiles(self) -> None:
        """Delete all profiles, that of the record last."""
        if self._known:
            self._delete_profiles(self._known.names)
        self._delete_profiles([Record.name_of(self._cluster.uuid)])

    def _delete_profiles(self, names: Sequence[str]) -> None:
        """Delete the profiles of some names; one that is still in use stays for the next time."""
        for profile in self._profiles(names):
            try:
                self._senlin.delete("profiles", str(profile["id"]))
            except ConflictError:
                continue

    def _profiles(self, names: Sequence[str]) -> Objects:
        listed = self._mine(self._senlin.profiles(names))
        return [one for one in listed if one["metadata"].get(MARK) == self._cluster.uuid]

    def _mine(self, objects: Objects) -> Objects:
        """Leave out what another project has given the same marks."""
        return [one for one in objects if one.get("project") == self._cluster.project_id]

    def _note(self, record: Record) -> Record:
        self._senlin.note(record)
        return replace(record, written=record.metadata())
