"""What Docker and Marathon answer, in the form that their documentation gives."""

from typing import Any


def docker_node(name: str, role: str = "worker", state: str = "ready", **manager: Any) -> Any:
    node: dict[str, Any] = {
        "ID": f"id-{name}-{state}",
        "Version": {"Index": 9},
        "Spec": {"Role": role, "Availability": "active", "Labels": {}},
        "Description": {
            "Hostname": name,
            "Platform": {"Architecture": "x86_64", "OS": "linux"},
            "Resources": {"NanoCPUs": 2000000000, "MemoryBytes": 4104192000},
            "Engine": {"EngineVersion": "29.9.3", "Labels": {"disk": "ssd"}},
        },
        "Status": {"State": state, "Addr": "10.0.0.7"},
    }
    if role == "manager":
        node["ManagerStatus"] = {"Reachability": "reachable", "Addr": "10.0.0.7:2377", **manager}
    return node


def docker_service(name: str, mode: Any, **status: int) -> Any:
    service: dict[str, Any] = {
        "ID": f"id-{name}",
        "Version": {"Index": 19},
        "Spec": {
            "Name": name,
            "TaskTemplate": {"ContainerSpec": {"Image": "nginx:1.29@sha256:0011"}},
            "Mode": mode,
        },
        "Endpoint": {
            "Spec": {"Mode": "vip"},
            "Ports": [
                {"Protocol": "tcp", "TargetPort": 80, "PublishedPort": 8080},
                {"Protocol": "tcp", "TargetPort": 81},
            ],
        },
    }
    if status:
        service["ServiceStatus"] = {
            "RunningTasks": status["running"],
            "DesiredTasks": status["desired"],
            "CompletedTasks": 0,
        }
    return service


def app(name: str, instances: int, running: int, **fields: Any) -> Any:
    return {
        "id": name,
        "cmd": None,
        "instances": instances,
        "cpus": 0.5,
        "mem": 128,
        "disk": 0,
        "tasksStaged": instances - running,
        "tasksRunning": running,
        "tasksHealthy": running,
        "tasksUnhealthy": 0,
        "deployments": [{"id": "d1"}] if running < instances else [],
        "version": "2026-11-21T10:00:00.000Z",
        **fields,
    }
