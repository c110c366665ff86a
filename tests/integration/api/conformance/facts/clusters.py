"""Clusters, resize and upgrade."""

from collections.abc import Sequence
from typing import Any

from tests.integration.api.conformance.fact import Fact, words

LIST, DETAIL = "GET /v1/clusters", "GET /v1/clusters/detail"
SHOW, CREATE = "GET /v1/clusters/{ident}", "POST /v1/clusters"
CHANGE, DELETE = "PATCH /v1/clusters/{ident}", "DELETE /v1/clusters/{ident}"
RESIZE = "POST /v1/clusters/{cluster}/actions/resize"
UPGRADE = "POST /v1/clusters/{cluster}/actions/upgrade"
ONE, YOUNG, FAILED = "/v1/clusters/<cluster>", "/v1/clusters/<young>", "/v1/clusters/<failed>"

SHORT = words(
    "uuid name cluster_template_id keypair node_count master_count docker_volume_size labels",
    "merge_labels flavor_id master_flavor_id create_timeout links status health_status",
)
FULL = SHORT | words(
    "status_reason health_status_reason discovery_url fixed_network fixed_subnet",
    "floating_ip_enabled master_lb_enabled api_address coe_version container_version",
    "node_addresses master_addresses project_id user_id created_at updated_at",
    "labels_overridden labels_added labels_skipped",
)
OLD, NEW = frozenset({"stack_id"}), frozenset({"cluster_id"})
UUID = frozenset({"uuid"})
GOOD = {"cluster_template_id": "<template>"}


def created(says: str, version: str = "1.14", **body: Any) -> Fact:
    return Fact(CREATE, says, body=GOOD | body, status=202, keys=UUID, version=version)


def refused(
    says: str, has: str = "", status: int = 400, version: str = "1.14", **body: Any
) -> Fact:
    return Fact(CREATE, says, body=GOOD | body, status=status, has=has, version=version)


def patched(says: str, *operations: Any, status: int = 400, **more: Any) -> Fact:
    more = {"ask": ONE, "keys": UUID if status == 202 else None} | more
    return Fact(CHANGE, says, body=list(operations), status=status, **more)


def set_to(field: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/{field}", "value": value}


def resized(says: str, status: int = 202, **more: Any) -> Fact:
    body = more.pop("body", {"node_count": 3})
    keys = UUID if status == 202 else None
    return Fact(RESIZE, says, body=body, status=status, keys=keys, **more)


def upgraded(says: str, status: int = 202, **more: Any) -> Fact:
    body = more.pop("body", {"cluster_template": "<newer>"})
    keys = UUID if status == 202 else None
    return Fact(UPGRADE, says, body=body, status=status, keys=keys, **more)


READING: Sequence[Fact] = (
    Fact(LIST, "shows the short set of fields", of="clusters", keys=SHORT | NEW),
    Fact(LIST, "says `stack_id` up to 1.12", of="clusters", keys=SHORT | OLD, version="1.12"),
    Fact(LIST, "says `cluster_id` from 1.13", of="clusters", keys=SHORT | NEW, version="1.13"),
    Fact(
        LIST,
        "shows an administrator all projects'",
        ask="/v1/clusters?limit=1&sort_key=name",
        token="admin-token",
        of="clusters",
        shows={"name": "a-stranger"},
    ),
    Fact(
        DETAIL,
        "shows all fields",
        ask="/v1/clusters/detail?limit=1",
        of="clusters",
        keys=FULL | NEW,
    ),
    Fact(
        SHOW,
        "finds by uuid, with all fields",
        ask=ONE,
        keys=FULL | NEW,
        shows={"name": "mine", "node_count": 4, "master_count": 1, "status": "UPDATE_COMPLETE"},
    ),
    Fact(SHOW, "says `stack_id` up to 1.12", ask=ONE, keys=FULL | OLD, version="1.12"),
    Fact(SHOW, "finds by name", ask="/v1/clusters/mine", shows={"name": "mine"}),
    Fact(SHOW, "an ambiguous name is 409", ask="/v1/clusters/twin", status=409, code="client"),
    Fact(SHOW, "an unknown one is 404", ask="/v1/clusters/absent", status=404, code="client"),
    Fact(SHOW, "another project's is 404", ask=ONE, token="stranger-token", status=404),
    Fact(
        SHOW,
        "without a suitable role it is 403 with the rule",
        ask=ONE,
        token="nobody-token",
        status=403,
        has="cluster:get",
    ),
    Fact(
        SHOW,
        "`faults` are those of a failed one",
        ask=FAILED,
        keys=FULL | NEW | {"faults"},
        shows={"status": "CREATE_FAILED"},
    ),
    Fact(SHOW, "labels are text", ask=ONE, shows={"labels": {"a": "1"}}),
)
CREATING: Sequence[Fact] = (
    created("answers 202 with the uuid alone"),
    created("a status is accepted and ignored", status="CREATE_COMPLETE"),
    created("a name that is taken is accepted", name="mine"),
    created("the template may be named", cluster_template_id="template"),
    created("labels may be text, numbers and booleans", labels={"a": 1, "b": True, "c": 0.5}),
    created("a time-out of 0 is none", create_timeout=0),
    created("no nodes are possible from 1.10", "1.10", node_count=0),
    refused("no nodes are 400 before 1.10", version="1.9", node_count=0),
    refused(
        "an unknown template is 404 from 1.10", "absent", 404, "1.10", cluster_template_id="absent"
    ),
    refused(
        "an unknown template is 400 before 1.10", "absent", 400, "1.9", cluster_template_id="absent"
    ),
    Fact(
        CREATE,
        "without a template it is 400",
        body={"name": "x"},
        status=400,
        has="cluster_template_id",
    ),
    Fact(CREATE, "without a body it is 400", status=400),
    refused("an unknown attribute is 400", "colour", colour="red"),
    refused("labels of labels are 400", "labels.a", labels={"a": {"b": "c"}}),
    refused("a name begins with a letter", "name", name="1st"),
    refused("a name has no blanks", "name", name="a b"),
    refused("a name has 242 letters at most", "name", name="n" * 243),
    refused("a negative number of nodes is 400", "node_count", node_count=-1),
    refused("no masters are 400", "master_count", master_count=0),
    refused("masters are an odd number", "even", master_count=2),
    refused("several masters need a load balancer", "master_lb_enabled", master_count=3),
    created("several masters with one are fine", master_count=3, master_lb_enabled=True),
    refused("docker_volume_size is 1 at least", docker_volume_size=0),
    refused("a negative time-out is 400", "create_timeout", create_timeout=-1),
    refused("an unknown key pair is 404", "absent", 404, keypair="absent"),
    refused("an unknown flavor is 400", "absent", flavor_id="absent"),
    Fact(
        CREATE,
        "a full quota is 403 in Magnum's words",
        body={"cluster_template_id": "full"},
        token="stranger-token",
        status=403,
        has="Resource limit exceeded: You have reached the maximum clusters per project, 1.",
    ),
    Fact(
        CREATE,
        "a hidden template is 403 but for administrators",
        body={"cluster_template_id": "<hidden>"},
        status=403,
    ),
    Fact(
        CREATE,
        "a hidden template is an administrator's to use",
        token="admin-token",
        body={"cluster_template_id": "<hidden>"},
        status=202,
    ),
    Fact(DELETE, "answers 204, also while it is at work", ask=YOUNG, status=204),
    Fact(DELETE, "an unknown one is 404", ask="/v1/clusters/absent", status=404),
)
CHANGING: Sequence[Fact] = (
    patched("answers 202 with the uuid", set_to("node_count", 2), status=202),
    patched("values may be text", set_to("node_count", "2"), status=202),
    patched("removing node_count is one node", {"op": "remove", "path": "/node_count"}, status=202),
    patched(
        "health may be reported",
        set_to("health_status", "UNHEALTHY"),
        set_to("health_status_reason", '{"api": "down"}'),
        status=202,
    ),
    patched(
        "health may be reported while it is at work",
        set_to("health_status", "HEALTHY"),
        ask=YOUNG,
        status=202,
    ),
    *(
        patched(f"`{name}` cannot change", set_to(name, value), has="cannot change cluster prop")
        for name, value in (("name", "x"), ("master_count", 3), ("flavor_id", "x"))
    ),
    patched("labels cannot change", set_to("labels", '{"a": "2"}'), has="cannot change"),
    *(
        patched(f"`{name}` is internal", set_to(name, "x"), has="internal attribute")
        for name in ("uuid", "project_id", "api_address", "created_at")
    ),
    patched(
        "a boolean as number is 400",
        set_to("node_count", True),
        magnum="takes it for 1 node",
    ),
    patched("a dict as value is 400", set_to("node_count", {"a": 1})),
    patched("adding an unknown attribute is 400", {"op": "add", "path": "/colour", "value": "x"}),
    patched("an unknown operation is 400", {"op": "move", "path": "/name"}),
    patched("an unknown health is 400", set_to("health_status", "FINE")),
    Fact(CHANGE, "a body that is no list is 400", ask=ONE, body={"node_count": 2}, status=400),
    patched(
        "?rollback is unknown before 1.3",
        set_to("node_count", 2),
        version="1.2",
        ask=f"{ONE}?rollback=True",
        has="Unknown argument",
    ),
    patched(
        "?rollback is known from 1.3",
        set_to("node_count", 2),
        version="1.3",
        ask=f"{ONE}?rollback=True",
        status=202,
    ),
    patched(
        "the path may end with a slash, as magnumclient sends it",
        set_to("node_count", 2),
        ask=f"{ONE}/?rollback=True",
        status=202,
    ),
    patched("no nodes are 400 before 1.10", set_to("node_count", 0), version="1.9"),
    patched("no nodes are possible from 1.10", set_to("node_count", 0), version="1.10", status=202),
    patched(
        "while it is at work a new size is 409",
        set_to("node_count", 2),
        ask=YOUNG,
        status=409,
        magnum="answers 202 and loses the request",
    ),
)
ACTING: Sequence[Fact] = (
    resized("answers 202 with the uuid"),
    resized("is 406 before 1.7", 406, version="1.6", code=""),
    resized("is there from 1.7", version="1.7"),
    resized("node_count is required", 400, body={}, has="node_count"),
    resized("no nodes are 400 before 1.10", 400, body={"node_count": 0}, version="1.9"),
    resized("no nodes are possible from 1.10", body={"node_count": 0}, version="1.10"),
    resized(
        "takes names or numbers of nodes that go", body={"node_count": 1, "nodes_to_remove": ["0"]}
    ),
    resized("takes a node group by name", body={"node_count": 3, "nodegroup": "extra"}),
    resized(
        "beyond a group's maximum is 400",
        400,
        has="max_node_count",
        body={"node_count": 4, "nodegroup": "extra"},
    ),
    resized(
        "below a group's minimum is 400",
        400,
        has="min_node_count",
        body={"node_count": 0, "nodegroup": "extra"},
    ),
    resized("an unknown group is 404", 404, body={"node_count": 2, "nodegroup": "absent"}),
    resized(
        "of the masters is 400 where the driver does not permit it",
        400,
        body={"node_count": 2, "nodegroup": "default-master"},
    ),
    resized("an unknown cluster is 404", 404, ask="/v1/clusters/absent/actions/resize"),
    resized(
        "while it is at work is 409",
        409,
        ask=f"{YOUNG}/actions/resize",
        magnum="answers 202 and loses the request",
    ),
    resized(
        "a node that is not there is 400",
        400,
        has="No such node",
        body={"node_count": 1, "nodes_to_remove": ["absent"]},
        magnum="ignores or loses it, so that another node goes",
    ),
    upgraded("answers 202 with the uuid"),
    upgraded("is 400, not 406, before 1.8", 400, version="1.7"),
    upgraded("is there from 1.8", version="1.8"),
    upgraded(
        "without a template is 400",
        400,
        body={},
        has="cluster_template",
        magnum="answers 500 with an error of its database",
    ),
    upgraded("an unknown template is 404", 404, body={"cluster_template": "absent"}),
    upgraded(
        "an unknown group is 404",
        404,
        body={"cluster_template": "<template>", "nodegroup": "absent"},
    ),
    upgraded(
        "of a group with another template than its cluster's is 409",
        409,
        body={"cluster_template": "<newer>", "nodegroup": "extra"},
    ),
    upgraded(
        "max_batch_size is 1 at least",
        400,
        body={"cluster_template": "<newer>", "max_batch_size": 0},
    ),
    upgraded(
        "while it is at work is 409",
        409,
        ask=f"{YOUNG}/actions/upgrade",
        magnum="answers 400; the cluster is not wrong, it is busy",
    ),
)
FACTS: Sequence[Fact] = (*READING, *CREATING, *CHANGING, *ACTING)
