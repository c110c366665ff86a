"""Cluster templates."""

from collections.abc import Sequence
from typing import Any

from tests.integration.api.conformance.fact import Fact, words

LIST, DETAIL = "GET /v1/clustertemplates", "GET /v1/clustertemplates/detail"
SHOW, CREATE = "GET /v1/clustertemplates/{ident}", "POST /v1/clustertemplates"
CHANGE, DELETE = "PATCH /v1/clustertemplates/{ident}", "DELETE /v1/clustertemplates/{ident}"
UNUSED, USED = "/v1/clustertemplates/<unused>", "/v1/clustertemplates/<template>"
KEYS = words(
    "uuid name coe image_id flavor_id master_flavor_id keypair_id external_network_id",
    "fixed_network fixed_subnet dns_nameserver network_driver volume_driver apiserver_port",
    "docker_volume_size docker_storage_driver cluster_distro server_type http_proxy https_proxy",
    "no_proxy insecure_registry registry_enabled tls_disabled public hidden tags labels",
    "master_lb_enabled floating_ip_enabled driver project_id user_id created_at updated_at links",
)
GOOD = {"coe": "kubernetes", "image_id": "fake-image"}


def replaced(field: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": f"/{field}", "value": value}]


def refused(says: str, has: str = "", status: int = 400, **body: Any) -> Fact:
    return Fact(CREATE, says, body=GOOD | body, status=status, has=has, code="client")


FACTS: Sequence[Fact] = (
    Fact(LIST, "shows templates in full", of="clustertemplates", keys=KEYS),
    Fact(DETAIL, "shows templates in full", of="clustertemplates", keys=KEYS),
    Fact(SHOW, "finds by uuid", ask=UNUSED, keys=KEYS, shows={"name": "unused"}),
    Fact(SHOW, "finds by name", ask="/v1/clustertemplates/unused", keys=KEYS),
    Fact(SHOW, "an ambiguous name is 409", ask="/v1/clustertemplates/twin", status=409),
    Fact(SHOW, "an unknown one is 404", ask="/v1/clustertemplates/absent", status=404),
    Fact(
        CREATE,
        "answers 201 with a Location and the whole object",
        body=GOOD,
        status=201,
        keys=KEYS,
        shows={"network_driver": "flannel", "dns_nameserver": "8.8.8.8", "cluster_distro": "fake"},
        headers={"location": "<any>"},
    ),
    Fact(
        CREATE,
        "emits labels as text",
        body=GOOD | {"labels": {"a": 1}},
        status=201,
        shows={"labels": {"a": "1"}},
    ),
    Fact(
        CREATE,
        "the volume driver of Kubernetes is cinder",
        body=GOOD | {"volume_driver": "cinder"},
        status=201,
        shows={"volume_driver": "cinder"},
    ),
    Fact(CREATE, "an unset coe is 400", body={"image_id": "fake-image"}, status=400),
    Fact(CREATE, "an unset image is 400", body={"coe": "kubernetes"}, status=400),
    refused("an unknown image is 400, not 404", "absent", image_id="absent"),
    refused("an unknown flavor is 400, not 404", "absent", flavor_id="absent"),
    refused("an image without a distribution is 400", "distro", image_id="mute-image"),
    refused("an unknown attribute is 400", "colour", colour="red"),
    refused("apiserver_port is 1024 at least", "apiserver_port", apiserver_port=1023),
    refused("apiserver_port is 65535 at most", "apiserver_port", apiserver_port=65536),
    refused("an unknown network driver is 400", "flannel", network_driver="magic"),
    refused("an unknown volume driver is 400", "magic", volume_driver="magic"),
    refused("an unknown server type is 400", "server_type", server_type="mainframe"),
    refused("labels of labels are 400", "labels.a", labels={"a": {"b": "c"}}),
    refused("public needs clustertemplate:publish", "public", 403, public=True),
    refused("hidden needs clustertemplate:publish", "hidden", 403, hidden=True),
    Fact(
        CREATE,
        "an administrator publishes",
        body=GOOD | {"public": True},
        status=201,
        token="admin-token",
        shows={"public": True},
    ),
    *(
        Fact(
            CREATE,
            f"knows the network driver {name}",
            body=GOOD | {"network_driver": name},
            status=201,
        )
        for name in ("flannel", "calico", "cilium")
    ),
    Fact(
        CHANGE,
        "answers 200 with the object",
        ask=UNUSED,
        body=replaced("name", "new"),
        keys=KEYS,
        shows={"name": "new"},
    ),
    Fact(CHANGE, "a plain object is 400", ask=UNUSED, body={"name": "new"}, status=400),
    Fact(
        CHANGE,
        "an internal attribute is 400",
        ask=UNUSED,
        body=replaced("uuid", "x"),
        status=400,
        has="internal attribute",
    ),
    Fact(
        CHANGE,
        "a new attribute is 400",
        ask=UNUSED,
        status=400,
        body=[{"op": "add", "path": "/colour", "value": "red"}],
    ),
    Fact(
        CHANGE,
        "removing a mandatory attribute is 400",
        ask=UNUSED,
        status=400,
        body=[{"op": "remove", "path": "/coe"}],
    ),
    *(
        Fact(
            CHANGE,
            f"of one in use `{name}` may change",
            ask=USED,
            body=replaced(name, value),
            token="admin-token",
            shows={name: value},
        )
        for name, value in (("name", "new"), ("public", True), ("hidden", True), ("tags", "a"))
    ),
    Fact(
        CHANGE,
        "of one in use nothing else may",
        ask=USED,
        status=400,
        body=replaced("dns_nameserver", "1.1.1.1"),
    ),
    Fact(
        CHANGE,
        "publishing needs clustertemplate:publish",
        ask=UNUSED,
        status=403,
        body=replaced("public", True),
    ),
    Fact(DELETE, "answers 204", ask=UNUSED, status=204),
    Fact(DELETE, "one in use is 400", ask=USED, status=400),
    Fact(DELETE, "an unknown one is 404", ask="/v1/clustertemplates/absent", status=404),
)
