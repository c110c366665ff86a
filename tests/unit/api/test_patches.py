"""JSON patches with Magnum's rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeroboam.api.http import patches
from jeroboam.api.http.patches import PatchOperation
from jeroboam.errors import InvalidRequestError

DOCUMENT = {"name": "small", "coe": "kubernetes", "keypair_id": None, "labels": {"a": "1"}}
MANDATORY = frozenset({"coe"})


def apply(*operations: dict[str, Any]) -> dict[str, Any]:
    patch = [PatchOperation.model_validate(operation) for operation in operations]
    return patches.apply(DOCUMENT, patch, mandatory=MANDATORY)


def refusal(*operations: dict[str, Any]) -> str:
    with pytest.raises(InvalidRequestError) as refused:
        apply(*operations)
    return refused.value.message


def test_replace_changes_an_attribute_and_nothing_else() -> None:
    """One attribute gets the new value; the document given stays as it was."""
    assert apply({"op": "replace", "path": "/name", "value": "big"}) == {
        **DOCUMENT,
        "name": "big",
    }
    assert DOCUMENT["name"] == "small"


def test_add_sets_an_attribute_that_is_not_set() -> None:
    """Adding works on an attribute which has no value."""
    changed = apply({"op": "add", "path": "/keypair_id", "value": "mykey"})
    assert changed["keypair_id"] == "mykey"


def test_add_refuses_an_attribute_that_is_set() -> None:
    """Adding over a value is refused with a hint."""
    message = refusal({"op": "add", "path": "/name", "value": "big"})
    assert message == ("The attribute /name has existed, please use 'replace' operation instead.")


def test_add_refuses_an_unknown_attribute() -> None:
    """Attributes cannot be made up."""
    message = refusal({"op": "add", "path": "/colour", "value": "red"})
    assert message.startswith("Adding a new attribute /colour to the root")


@pytest.mark.parametrize("op", ["replace", "remove"])
def test_unknown_attributes_cannot_be_changed(op: str) -> None:
    """Replacing or removing what does not exist is refused."""
    assert "no such attribute" in refusal({"op": op, "path": "/colour", "value": "red"})


def test_remove_unsets_an_attribute_even_when_a_value_comes_along() -> None:
    """A removed attribute has no value; one in the request is ignored."""
    assert apply({"op": "remove", "path": "/name", "value": "x"})["name"] is None


def test_mandatory_attributes_cannot_be_removed() -> None:
    """Removing a mandatory attribute is refused."""
    assert refusal({"op": "remove", "path": "/coe"}) == (
        "'/coe' is a mandatory attribute and can not be removed"
    )


@pytest.mark.parametrize("attribute", sorted(patches.INTERNAL))
@pytest.mark.parametrize("op", ["add", "replace", "remove"])
def test_internal_attributes_cannot_be_changed(attribute: str, op: str) -> None:
    """The server's own attributes are out of reach."""
    assert refusal({"op": op, "path": f"/{attribute}", "value": "x"}) == (
        f"'/{attribute}' is an internal attribute and can not be updated"
    )


@pytest.mark.parametrize("op", ["add", "replace"])
def test_a_value_is_needed(op: str) -> None:
    """Adding and replacing need a value."""
    expected = "'add' and 'replace' operations needs value"
    assert refusal({"op": op, "path": "/name"}) == expected
    assert refusal({"op": op, "path": "/name", "value": None}) == expected


def test_single_labels_can_be_added_replaced_and_removed() -> None:
    """The path ``/labels/<key>`` leads to one label."""
    changed = apply(
        {"op": "add", "path": "/labels/b", "value": "2"},
        {"op": "replace", "path": "/labels/a", "value": 5},
        {"op": "add", "path": "/labels/c", "value": "3"},
        {"op": "remove", "path": "/labels/c"},
    )
    assert changed["labels"] == {"a": 5, "b": "2"}
    assert DOCUMENT["labels"] == {"a": "1"}


@pytest.mark.parametrize("op", ["replace", "remove"])
def test_a_label_that_is_not_there_is_refused(op: str) -> None:
    """Replacing or removing an unknown label is refused."""
    assert "no such key" in refusal({"op": op, "path": "/labels/zz", "value": "1"})


@pytest.mark.parametrize("path", ["/name/x", "/labels/a/b", "/colour/x"])
def test_paths_that_lead_nowhere_are_refused(path: str) -> None:
    """Only labels have members."""
    assert "no such member" in refusal({"op": "add", "path": path, "value": "1"})


@pytest.mark.parametrize("text", ["{'a': 'true', 'b': 2}", '{"a": "true", "b": 2}'])
def test_all_labels_can_be_replaced_by_a_literal(text: str) -> None:
    """Clients send all labels as the text of a Python or JSON mapping."""
    changed = apply({"op": "replace", "path": "/labels", "value": text})
    assert changed["labels"] == {"a": "true", "b": 2}


@pytest.mark.parametrize("text", ["no mapping", "{'a': open('x')}", "(" * 500])
def test_labels_that_are_no_literal_are_refused(text: str) -> None:
    """Text that is no literal is refused and never evaluated."""
    assert "no mapping" in refusal({"op": "replace", "path": "/labels", "value": text})


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "move", "path": "/name", "value": "x"},
        {"op": "add", "path": "name", "value": "x"},
        {"op": "add", "path": "/na me", "value": "x"},
        {"op": "add", "path": "/", "value": "x"},
        {"op": "add", "path": "/labels", "value": {"a": "b"}},
        {"op": "replace", "path": "/name", "value": 1.5},
        {"op": "replace", "path": "/name", "value": "x", "from": "/coe"},
        {"path": "/name", "value": "x"},
    ],
)
def test_what_is_no_operation_is_refused(operation: dict[str, Any]) -> None:
    """Other operations, paths and types of values are refused by the schema."""
    with pytest.raises(ValidationError):
        PatchOperation.model_validate(operation)


Operations: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    op=st.sampled_from(["add", "replace", "remove"]),
    path=st.sampled_from(["/name", "/coe", "/keypair_id", "/labels", "/labels/a", "/uuid", "/z"]),
    value=st.one_of(st.none(), st.integers(), st.text(max_size=5)),
)


@given(st.lists(Operations, max_size=4))
def test_a_patch_is_applied_or_refused(operations: list[dict[str, Any]]) -> None:
    """Any patch keeps the set of attributes, or is refused as the user's mistake."""
    try:
        changed = apply(*operations)
    except InvalidRequestError:
        return
    assert changed.keys() == DOCUMENT.keys()
    assert changed["coe"] is not None
