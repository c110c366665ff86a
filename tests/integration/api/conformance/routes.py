"""The routes of Magnum, and which real clients drive each.

They do so in ``tests/acceptance/clients``, where keystoneauth plays Terraform, cluster-autoscaler
and auto-healer, and in ``tests/go_client``.
"""

from collections.abc import Mapping

OSC, SDK, KSA, GO = "`openstack coe`", "openstacksdk", "keystoneauth", "gophercloud"
TEMPLATES, CLUSTERS, GROUPS = "/v1/clustertemplates", "/v1/clusters", "/nodegroups"
GROUP = f"{CLUSTERS}/{{cluster}}{GROUPS}"
QUOTA = "/v1/quotas/{project}/{resource}"

MAGNUM_ROUTES: Mapping[str, tuple[str, ...]] = {
    "GET /": (OSC, SDK, KSA),
    "GET /v1": (),
    "GET /healthcheck": (),
    f"GET {TEMPLATES}": (OSC, SDK, GO),
    f"GET {TEMPLATES}/detail": (),
    f"GET {TEMPLATES}/{{id}}": (OSC, SDK, GO),
    f"POST {TEMPLATES}": (OSC, SDK, GO),
    f"PATCH {TEMPLATES}/{{id}}": (OSC, SDK, GO),
    f"DELETE {TEMPLATES}/{{id}}": (OSC, SDK, GO),
    f"GET {CLUSTERS}": (OSC, SDK, GO),
    f"GET {CLUSTERS}/detail": (GO,),
    f"GET {CLUSTERS}/{{id}}": (OSC, SDK, KSA, GO),
    f"POST {CLUSTERS}": (OSC, SDK, KSA, GO),
    f"PATCH {CLUSTERS}/{{id}}": (OSC, SDK, KSA, GO),
    f"DELETE {CLUSTERS}/{{id}}": (OSC, SDK, KSA, GO),
    f"POST {CLUSTERS}/{{id}}/actions/resize": (OSC, KSA, GO),
    f"POST {CLUSTERS}/{{id}}/actions/upgrade": (OSC, GO),
    f"GET {GROUP}": (OSC, KSA, GO),
    f"GET {GROUP}/{{id}}": (OSC, GO),
    f"POST {GROUP}": (OSC, KSA, GO),
    f"PATCH {GROUP}/{{id}}": (OSC, GO),
    f"DELETE {GROUP}/{{id}}": (OSC, GO),
    "GET /v1/certificates/{id}": (OSC, SDK, GO),
    "POST /v1/certificates": (OSC, SDK, GO),
    "PATCH /v1/certificates/{id}": (OSC, GO),
    "PATCH /v1/credentials/{id}": (OSC,),
    "GET /v1/quotas": (OSC,),
    f"GET {QUOTA}": (OSC,),
    "POST /v1/quotas": (OSC, GO),
    f"PATCH {QUOTA}": (OSC,),
    f"DELETE {QUOTA}": (OSC,),
    "GET /v1/stats": (OSC,),
    "GET /v1/mservices": (OSC, SDK),
    "GET /v1/federations": (),
    "GET /v1/federations/detail": (),
    "GET /v1/federations/{id}": (),
    "POST /v1/federations": (),
    "PATCH /v1/federations/{id}": (),
    "DELETE /v1/federations/{id}": (),
}
