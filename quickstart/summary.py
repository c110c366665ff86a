"""What the quickstart says at the end: what there is, and how to look at it."""

from rich.text import Text

from quickstart.demo import Outcome
from quickstart.display import duration
from quickstart.layout import CHECKOUT, Layout
from quickstart.tenant import CLOUD


def of(outcome: Outcome, layout: Layout, elapsed: float) -> Text:
    """Return the closing words."""
    cluster = outcome.cluster
    good = outcome.complete
    text = Text("\n")
    text.append(f"Cluster {cluster.name} is ")
    text.append(str(cluster.status), style="bold green" if good else "bold red")
    text.append(f" ({duration(elapsed)} in all).\n")
    if not good:
        text.append(f"{cluster.status_reason}\n")
    for title, link in (
        (
            "Its creation, step by step, in the Temporal UI",
            outcome.run_link or layout.temporal_ui_url,
        ),
        ("Jeroboam's API", f"{layout.api_url}/v1"),
    ):
        text.append(f"\n{title}:\n  ")
        text.append(link, style="cyan")
    text.append("\nAs a tenant, in another terminal:\n")
    for line in (*_exports(layout), *_examples(outcome)):
        text.append(f"  {line}\n", style="cyan")
    logs = layout.home.relative_to(CHECKOUT) / "log"
    text.append(f"Logs: {logs}/ and {layout.cloud_home.name}/logs/")
    return text


def _exports(layout: Layout) -> tuple[str, ...]:
    return (
        f"export OS_CLIENT_CONFIG_FILE={layout.clouds_yaml} OS_CLOUD={CLOUD}",
        f"export PATH={layout.programs}:$PATH",
    )


def _examples(outcome: Outcome) -> tuple[str, ...]:
    return (
        "openstack coe cluster list",
        f"openstack coe cluster show {outcome.cluster.name}",
        "openstack stack list",
        f"jeroboam operation list --cluster {outcome.cluster.name}",
    )
