"""All facts that are compared, by the part of the API that they are about."""

from collections.abc import Sequence

from tests.integration.api.conformance.fact import Fact
from tests.integration.api.conformance.facts import (
    certificates,
    clusters,
    lists,
    node_groups,
    others,
    roots,
    templates,
)

FACTS: Sequence[Fact] = (
    *roots.FACTS,
    *templates.FACTS,
    *clusters.FACTS,
    *node_groups.FACTS,
    *certificates.FACTS,
    *others.FACTS,
    *lists.FACTS,
)
