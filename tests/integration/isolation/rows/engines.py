"""What drivers add about the engines in their clusters; a cluster of each engine is there."""

from tests.integration.isolation.row import Row

KUBERNETES = "/v1/clusters/{cluster}/kubernetes"
SWARM = "/v1/clusters/{cluster}/swarm"
MESOS = "/v1/clusters/{cluster}/mesos"
ONE = {"cluster": "kubernetes"}

#                                            owner member reader stranger nobody admin
ROWS = (
    Row(f"POST {KUBERNETES}/kubeconfig/admin", "200 403 403 404 403 200", about=ONE),
    Row(f"POST {KUBERNETES}/kubeconfig/view", "200 200 403 404 403 200", about=ONE),
    Row(f"GET {KUBERNETES}/nodes", "200 200 200 404 403 200", about=ONE),
    Row(f"GET {KUBERNETES}/events", "200 200 200 404 403 200", about=ONE),
    Row(f"GET {KUBERNETES}/workloads", "200 200 200 404 403 200", about=ONE),
    Row(
        f"POST {KUBERNETES}/deployments/{{namespace}}/{{name}}/restart",
        "200 200 403 404 403 200",
        about=ONE | {"namespace": "resource", "name": "resource"},
    ),
    Row(f"GET {SWARM}/services", "200 200 200 404 403 200", about={"cluster": "swarm"}),
    Row(f"GET {SWARM}/nodes", "200 200 200 404 403 200", about={"cluster": "swarm"}),
    Row(f"GET {MESOS}/apps", "200 200 200 404 403 200", about={"cluster": "mesos"}),
)
