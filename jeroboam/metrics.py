"""What is known of all clusters, as a page for Prometheus."""

from collections.abc import Iterable, Iterator, Sequence

from jeroboam.models import Cluster, HealthStatus
from jeroboam.models.certificate import CertificateEnds
from jeroboam.models.monitoring import Monitored

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

EXPIRING_DAYS = (7, 30, 90)
"""For these numbers of days it is told how many certificates end within them."""

_HEALTH = {HealthStatus.HEALTHY: 1, HealthStatus.UNHEALTHY: 0, HealthStatus.UNKNOWN: -1}

Found = Sequence[tuple[Cluster, Monitored]]


def page(found: Found, ends: CertificateEnds) -> str:
    """Return the metrics of all clusters.

    Args:
        found: Those that were looked at.
        ends: When their certificate authorities end.
    """
    return "".join(f"{line}\n" for line in (*_lines(found), *_certificates(ends)))


def _lines(found: Found) -> Iterator[str]:
    yield from _family(
        "jeroboam_cluster_health",
        "1 is healthy, 0 unhealthy, -1 not known.",
        ((_labels(one), _HEALTH[one.health_status]) for one, _ in found if one.health_status),
    )
    yield from _family(
        "jeroboam_cluster_checked_timestamp_seconds",
        "When the cluster was looked at last.",
        ((_labels(one), record.checked_at.timestamp()) for one, record in found),
    )
    yield from _family(
        "jeroboam_cluster_check_failures",
        "How many looks in a row have found nothing out.",
        ((_labels(one), record.failures) for one, record in found),
    )
    for name, field, text in (
        ("cpu_cores", "cpu_millicores", "CPU in use, or reserved"),
        ("cpu_capacity_cores", "cpu_capacity_millicores", "CPU that is there"),
        ("memory_bytes", "memory_mib", "Memory in use, or reserved"),
        ("memory_capacity_bytes", "memory_capacity_mib", "Memory that is there"),
    ):
        yield from _family(f"jeroboam_node_{name}", f"{text}, by node.", _of_nodes(found, field))


def _certificates(ends: CertificateEnds) -> Iterator[str]:
    yield from _family(
        "jeroboam_certificate_expiry_timestamp_seconds",
        "When the first of all clusters' CAs of a kind ends.",
        ((f'kind="{kind}"', first.timestamp()) for kind, first in ends.first.items()),
    )
    yield from _family(
        "jeroboam_certificates_expiring",
        "How many clusters' CAs of a kind end within so many days, or have ended.",
        (
            (f'kind="{kind}",days="{days}"', number)
            for days, numbers in ends.within.items()
            for kind, number in numbers.items()
        ),
    )


def _of_nodes(found: Found, field: str) -> Iterator[tuple[str, float]]:
    for cluster, record in found:
        if record.usage is None:
            continue
        for name, node in record.usage.nodes.items():
            value = getattr(node, field)
            scaled = value / 1000 if field.endswith("millicores") else value * 2**20
            yield _labels(cluster, node=name, source=record.usage.source.partition(":")[0]), scaled


def _family(name: str, text: str, values: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for labels, value in values:
        yield f"{name}{{{labels}}} {value:.15g}"


def _labels(cluster: Cluster, **more: str) -> str:
    labels = {
        "cluster": cluster.uuid,
        "cluster_name": cluster.name,
        "project": cluster.project_id,
        **more,
    }
    return ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
