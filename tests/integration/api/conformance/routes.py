"""The routes of Magnum, and which real clients drive each in ``tests/acceptance/clients``.

keystoneauth plays Terraform, cluster-autoscaler and auto-healer there.
"""

from collections.abc import Mapping

OSC, SDK, KSA = "`openstack coe`", "openstacksdk", "keystoneauth"
TEMPLATES, CLUSTERS, GROUPS = "/v1/clustertemplates", "/v1/clusters", "/nodegroups"
GROUP = f"{CLUSTERS}/{{cluster}}{GROUPS}"
QUOTA = "/v1/quotas/{project}/{resource}"

MAGNUM_ROUTES: Mapping[str, tuple[str, ...]] = {
    "GET /": (OSC, SDK, KSA),
    "GET /v1": (),
    "GET /healthcheck": (),
    f"GET {TEMPLATES}": (OSC, SDK),
    f"GET {TEMPLATES}/detail": (),
    f"GET {TEMPLATES}/{{id}}": (OSC, SDK),
    f"POST {TEMPLATES}": (OSC, SDK),
    f"PATCH {TEMPLATES}/{{id}}": (OSC, SDK),
    f"DELETE {TEMPLATES}/{{id}}": (OSC, SDK),
    f"GET {CLUSTERS}": (OSC, SDK),
    f"GET {CLUSTERS}/detail": (),
    f"GET {CLUSTERS}/{{id}}": (OSC, SDK, KSA),
    f"POST {CLUSTERS}": (OSC, SDK, KSA),
    f"PATCH {CLUSTERS}/{{id}}": (OSC, SDK, KSA),
    f"DELETE {CLUSTERS}/{{id}}": (OSC, SDK, KSA),
    f"POST {CLUSTERS}/{{id}}/actions/resize": (OSC, KSA),
    f"POST {CLUSTERS}/{{id}}/actions/upgrade": (OSC,),
    f"GET {GROUP}": (OSC, KSA),
    f"GET {GROUP}/{{id}}": (OSC,),
    f"POST {GROUP}": (OSC, KSA),
    f"PATCH {GROUP}/{{id}}": (OSC,),
    f"DELETE {GROUP}/{{id}}": (OSC,),
    "GET /v1/certificates/{id}": (OSC, SDK),
    "POST /v1/certificates": (OSC, SDK),
    "PATCH /v1/certificates/{id}": (OSC,),
    "PATCH /v1/credentials/{id}": (OSC,),
    "GET /v1/quotas": (OSC,),
    f"GET {QUOTA}": (OSC,),
    "POST /v1/quotas": (OSC,),
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
