"""A Senlin in memory, as far as the groups of a cluster need one; its actions wait to be done."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jeroboam.drivers.senlin.client import Senlin
from jeroboam.drivers.senlin.records import MARK, Record
from jeroboam.errors import ConflictError

Object = dict[str, Any]


class FakeSenlin(Senlin):
    """Keeps profiles, clusters and nodes of one owner.

    Its ``ends`` is called when somebody asks for an action, just before the answer.
    """

    def __init__(self, project: str) -> None:
        self._project = project
        self._made = 0
        self.kept: dict[str, dict[str, Object]] = {"profiles": {}, "clusters": {}, "nodes": {}}
        self.forced: list[str] = []
        self.ends: Callable[[], None] = lambda: None
        self.status = "RUNNING"

    def nodes(self) -> Mapping[str, Sequence[Object]]:
        return self._by_cluster("nodes")

    def clusters(self) -> Mapping[str, Sequence[Object]]:
        return self._by_cluster("clusters")

    def profiles(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        return [one for one in self.kept["profiles"].values() if one["name"] in names]

    def action(self, ident: str) -> Mapping[str, Any]:
        self.ends()
        return {"id": ident, "status": self.status}

    def make_profile(
        self, name: str, spec: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        return self._keep("profiles", name=name, spec=spec, metadata=dict(metadata))

    def note(self, record: Record) -> None:
        self.kept["profiles"][record.id]["metadata"] = record.metadata()

    def make_cluster(
        self, name: str, profile: str, metadata: Mapping[str, str], timeout_minutes: int
    ) -> str:
        _ = timeout_minutes
        made = self._keep("clusters", name=name, profile_id=profile, metadata=dict(metadata))
        return str(made["id"])

    def make_node(self, name: str, profile: str, cluster: str, metadata: Mapping[str, str]) -> str:
        fields = {"profile_id": profile, "cluster_id": cluster, "status": "ACTIVE"}
        made = self._keep("nodes", name=f"{name}-random", metadata=dict(metadata), **fields)
        made["physical_id"] = f"server-of-{name}"
        return str(made["id"])

    def remove_nodes(self, cluster: str, nodes: Sequence[str]) -> str:
        assert {self.kept["nodes"][one]["cluster_id"] for one in nodes} == {cluster}
        for one in nodes:
            del self.kept["nodes"][one]
        return "removal"

    def delete(self, kind: str, ident: str, *, force: bool = False) -> str:
        used = [
            one
            for one in (*self.kept["nodes"].values(), *self.kept["clusters"].values())
            if kind == "profiles" and one["profile_id"] == ident
        ]
        if used:
            raise ConflictError("The profile is in use.")
        self.kept[kind].pop(ident, None)
        if kind == "clusters":
            nodes = self.kept["nodes"]
            for node in [one for one in nodes.values() if one["cluster_id"] == ident]:
                del nodes[node["id"]]
        self.forced += [ident] if force else []
        return f"delete-{ident}"

    def _keep(self, kind: str, **fields: Any) -> Object:
        self._made += 1
        made: Object = {"id": f"{kind}-{self._made}", "project": self._project, **fields}
        self.kept[kind][made["id"]] = made
        return made

    def _by_cluster(self, kind: str) -> Mapping[str, Sequence[Object]]:
        found: dict[str, list[Object]] = {}
        for one in self.kept[kind].values():
            found.setdefault(one["metadata"][MARK], []).append(one)
        return found
