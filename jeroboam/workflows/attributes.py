"""Search attributes as Temporal takes them."""

from collections.abc import Mapping

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes


def typed(attributes: Mapping[str, str]) -> TypedSearchAttributes:
    """Return search attributes as Temporal's client takes them; all are keywords."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(SearchAttributeKey.for_keyword(name), value)
            for name, value in attributes.items()
        ]
    )
