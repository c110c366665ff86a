"""The version documents; public."""

from typing import Any

from fastapi import APIRouter

from jeroboam.api.http import versions
from jeroboam.api.http.dependencies import CurrentLinks
from jeroboam.api.http.links import Links

RESOURCES = (
    "clustertemplates",
    "clusters",
    "quotas",
    "certificates",
    "mservices",
    "stats",
    "federations",
    "credentials",
)
OF_CLUSTERS = ("nodegroups",)
"""Resources below a cluster that Magnum lists."""

EXTENSIONS = ("operations", "schedules", "hooks", "drivers")
"""What Magnum does not have; in a place of its own, so that the rest is as Magnum's clients know
it. Those of the engines in clusters are the drivers' and listed with them."""

EXTENSIONS_OF_CLUSTERS = (
    "operations",
    "nodes",
    "certificates",
    "keys",
    "driver",
    "usage",
    "maintenance_window",
)
ACTIONS = ("rebuild", "reboot", "check_health")

CLUSTER = "clusters/{cluster_id}"

router = APIRouter(tags=["versions"])


@router.get("/")
async def root(links: CurrentLinks) -> dict[str, Any]:
    """Tell which versions of the API there are."""
    return {
        "name": "OpenStack Magnum API",
        "description": "Clusters as a service for OpenStack, compatible with Magnum.",
        "versions": [
            {
                "id": "v1",
                "links": [{"href": f"{links.base}/v1/", "rel": "self"}],
                "status": "CURRENT",
                "max_version": str(versions.MAXIMUM),
                "min_version": str(versions.MINIMUM),
            }
        ],
    }


@router.get("/v1")
async def version_one(links: CurrentLinks) -> dict[str, Any]:
    """Tell which resources version 1 has."""
    own = [
        {"href": f"{links.base}/v1/", "rel": "self"},
        {
            "href": "https://docs.openstack.org/api-ref/container-infrastructure-management/",
            "rel": "describedby",
            "type": "text/html",
        },
    ]
    media_type = {
        "base": "application/json",
        "type": "application/vnd.openstack.magnum.v1+json",
    }
    return {
        "id": "v1",
        "links": own,
        "media_types": [media_type],
        **{name: _links(links, name, "") for name in RESOURCES},
        **{name: _links(links, CLUSTER, name) for name in OF_CLUSTERS},
        "extensions": _extensions(links),
    }


def _extensions(links: Links) -> dict[str, Any]:
    return {
        **{name: _links(links, name, "") for name in EXTENSIONS},
        "import": _links(links, "clusters", "import"),
        "clusters": {name: _links(links, CLUSTER, name) for name in EXTENSIONS_OF_CLUSTERS},
        "actions": {name: _links(links, CLUSTER, "actions", name) for name in ACTIONS},
    }


def _links(links: Links, *path: str) -> list[dict[str, Any]]:
    return [link.body() for link in links.resource(*path)]
