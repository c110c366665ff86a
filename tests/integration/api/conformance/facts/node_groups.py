"""Node groups."""

from collections.abc import Sequence
from typing import Any

from tests.integration.api.conformance.fact import Fact, words

LIST = "GET /v1/clusters/{cluster}/nodegroups"
SHOW, CREATE = f"{LIST}/{{ident}}", LIST.replace("GET", "POST")
CHANGE, DELETE = SHOW.replace("GET", "PATCH"), SHOW.replace("GET", "DELETE")
GROUPS = "/v1/clusters/<cluster>/nodegroups"
SHORT = words(
    "uuid name flavor_id image_id node_count role min_node_count max_node_count is_default",
    "stack_id status merge_labels",
)
FULL = SHORT | words(
    "id cluster_id project_id docker_volume_size labels labels_overridden labels_added",
    "labels_skipped links node_addresses status_reason version node_labels node_taints",
    "created_at updated_at",
)


def created(says: str, status: int = 202, has: str = "", **more: Any) -> Fact:
    version, ask = more.pop("version", "1.14"), more.pop("ask", "")
    token = more.pop("token", "member-token")
    body = {"name": "new"} | more
    keys = FULL if status == 202 else None
    return Fact(CREATE, says, ask, body, status, token, version, has=has, keys=keys)


def changed(says: str, field: str, value: Any, status: int = 202, has: str = "") -> Fact:
    body = [{"op": "replace", "path": f"/{field}", "value": value}]
    keys = FULL if status == 202 else None
    return Fact(CHANGE, says, f"{GROUPS}/extra", body, status, has=has, keys=keys)


FACTS: Sequence[Fact] = (
    Fact(LIST, "shows the short set of fields", of="nodegroups", keys=SHORT),
    Fact(
        LIST,
        "the path may end with a slash, as magnumclient sends it",
        ask=f"{GROUPS}/",
        of="nodegroups",
        keys=SHORT,
    ),
    Fact(
        LIST,
        "`role` filters",
        ask=f"{GROUPS}?role=master",
        of="nodegroups",
        shows={"name": "default-master", "is_default": True},
    ),
    Fact(
        LIST,
        "is 406 before 1.9",
        status=406,
        code="",
        version="1.8",
        headers={"openstack-api-version": None},
    ),
    Fact(LIST, "of an unknown cluster is 404", ask="/v1/clusters/absent/nodegroups", status=404),
    Fact(
        SHOW,
        "finds by uuid, with all fields and the number",
        ask=f"{GROUPS}/<group>",
        keys=FULL,
        shows={"name": "extra", "node_count": 2, "min_node_count": 1, "max_node_count": 3},
    ),
    Fact(SHOW, "finds by name", ask=f"{GROUPS}/extra", keys=FULL),
    Fact(SHOW, "always says `stack_id`", ask=f"{GROUPS}/extra", version="1.9", keys=FULL),
    Fact(SHOW, "an unknown one is 404", ask=f"{GROUPS}/absent", status=404),
    created("answers 202 with the whole object"),
    created("is 406 before 1.9", 406, version="1.8"),
    created("no nodes are possible at 1.9 already", version="1.9", node_count=0),
    created(
        "labels and taints of nodes are possible at 1.9 already",
        version="1.9",
        node_labels={"a": "b"},
        node_taints=[{"key": "a", "effect": "NoSchedule"}],
    ),
    created("a maximum of 0 is none", max_node_count=0, node_count=3),
    created("the role is free text", role="edge"),
    created(
        "a hostname is a label that a node may have", node_labels={"kubernetes.io/hostname": "x"}
    ),
    created("a name that is taken is 409", 409, name="extra"),
    created("a minimum above the maximum is 409", 409, min_node_count=3, max_node_count=2),
    created("a size below the minimum is 409", 409, min_node_count=2),
    created("a size above the maximum is 409", 409, node_count=3, max_node_count=2),
    created(
        "a taint without a known effect is 409", 409, node_taints=[{"key": "a", "effect": "Never"}]
    ),
    created("a taint without a key is 409", 409, node_taints=[{"effect": "NoSchedule"}]),
    created("a label in Kubernetes' own domains is 409", 409, node_labels={"k8s.io/x": "y"}),
    created("before the cluster has an API it is 409", 409, ask="/v1/clusters/<young>/nodegroups"),
    created("the role of masters is 400", 400, role="master"),
    created("an unknown attribute is 400", 400, colour="red"),
    changed("answers 202 with the whole object", "max_node_count", 5),
    changed("labels of nodes may change", "node_labels", '{"a": "b"}'),
    changed("taints of nodes may change", "node_taints", '[{"key": "a", "effect": "NoExecute"}]'),
    changed("a maximum below the size is 409", "max_node_count", 1, 409),
    *(
        changed(f"`{name}` is internal: 400", name, value, 400, "internal attribute")
        for name, value in (("node_count", 3), ("name", "x"), ("flavor_id", "x"), ("role", "x"))
    ),
    Fact(DELETE, "answers 204", ask=f"{GROUPS}/extra", status=204),
    Fact(DELETE, "a default one is 400", ask=f"{GROUPS}/default-worker", status=400),
    Fact(DELETE, "an unknown one is 404", ask=f"{GROUPS}/absent", status=404),
    Fact(
        DELETE,
        "while it is being created it is 409: the cluster is busy",
        ask="/v1/clusters/<growing>/nodegroups/slow",
        status=409,
        magnum="accepts it, and both operations work on the group at the same time",
    ),
)
