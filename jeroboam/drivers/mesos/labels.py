"""The labels of the Mesos drivers; names are Magnum's wherever it has one."""

import json
import re

from jeroboam.drivers.docker import labels as docker
from jeroboam.drivers.labels import Kind, Label, LabelTable
from jeroboam.drivers.nodes.labels import IMAGE_PREFIX, NUMBER, VERSION, matching

_PATH = re.compile(r"(?:/[\w.-]+)+")
_WORDS = re.compile(r"[\w/.-]+(?:,[\w/.-]+)*")


def _variables(text: str) -> str:
    """Return a JSON object of texts in one line."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise ValueError(text)
    return json.dumps(found, sort_keys=True)


PATH = matching("path", "an absolute path", _PATH)
WORDS = matching("list of words", "words separated by commas", _WORDS)
VARIABLES = Kind("JSON object", 'a JSON object of texts as {"LANG": "C"}', _variables)

_MESOS = (
    IMAGE_PREFIX,
    Label("mesos_tag", NUMBER, "1.7.1", "Version of Mesos: tag of the images of master and agent."),
    Label("marathon_tag", VERSION, "v1.11.24", "Version of Marathon: tag of its image."),
    Label("zookeeper_tag", NUMBER, "3.9.3", "Version of ZooKeeper: tag of its image."),
    Label("haproxy_tag", NUMBER, "3.0.6", "Version of HAProxy, which ends TLS: tag of its image."),
    Label(
        "mesos_slave_isolation",
        WORDS,
        "",
        "How agents keep tasks apart; Mesos' own choice if not set. `cgroups/...` needs an image "
        "with version 1 of control groups.",
    ),
    Label(
        "mesos_slave_image_providers",
        WORDS,
        "",
        "Kinds of images that the Mesos containerizer takes, for example `docker`.",
    ),
    Label("mesos_slave_work_dir", PATH, "/var/lib/mesos", "Where agents keep the tasks' files."),
    Label(
        "mesos_slave_executor_env_variables",
        VARIABLES,
        "",
        "Environment of executors, a JSON object of texts.",
    ),
)

TABLE = LabelTable((*_MESOS, *docker.COMMON), docker.RETIRED)

FIXED = docker.FIXED

OF_GROUPS = docker.OF_GROUPS | {
    *("container_infra_prefix", "mesos_tag"),
    *("mesos_slave_isolation", "mesos_slave_image_providers"),
    *("mesos_slave_work_dir", "mesos_slave_executor_env_variables"),
}
