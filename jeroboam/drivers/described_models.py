"""Makes models from their JSON schemas, where the classes cannot be imported.

Each field is checked as far as its own type and bounds go. What lies deeper is checked by the model
itself, in the process that has it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from jeroboam.models import Model

Schema = Mapping[str, Any]

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict[str, Any],
    "null": None,
}
# What pydantic calls the bounds that JSON Schema has.
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
_REFERENCE = "#/$defs/"


def schema_of(model: type[Model]) -> dict[str, Any]:
    """Return the JSON schema of a model, with nothing but what it says in itself."""
    schema = model.model_json_schema()
    inlined = _inlined(schema, schema.get("$defs", {}), ())
    inlined.pop("$defs", None)
    return dict(inlined)


def model_of(schema: Schema, module: str) -> type[Model]:
    """Return a model of an object.

    Args:
        schema: As ``schema_of`` gives it.
        module: Where the model says it is from; the description of the API tells namesakes apart
            by it.

    Raises:
        Exception: Whatever pydantic raises about a schema that is none.
    """
    required = schema.get("required", ())
    # A field's name may be no word of Python, or that of a method of models; its alias is free.
    fields: dict[str, Any] = {
        f"field_{number}": (
            _annotation(field),
            Field(... if name in required else field.get("default"), alias=name),
        )
        for number, (name, field) in enumerate(schema.get("properties", {}).items())
    }
    closed = schema.get("additionalProperties") is False
    config = ConfigDict(
        extra="forbid" if closed else "allow", json_schema_extra=_as_described(schema)
    )
    base: type[Model] = type("Described", (Model,), {"__module__": module, "model_config": config})
    made: type[Model] = create_model(
        schema.get("title", "Model"), __base__=base, __module__=module, **fields
    )
    return made


def _as_described(schema: Schema) -> Any:
    def replace(generated: dict[str, Any]) -> None:
        generated.clear()
        generated.update(schema)

    return replace


def _annotation(schema: Schema) -> Any:
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(kinds) == 1:
        return _annotation(kinds[0]) | None
    bounds = {name: schema[key] for key, name in _BOUNDS.items() if key in schema}
    kind = _kind(schema)
    return Annotated[kind, Field(**bounds)] if bounds and kind is not Any else kind


def _kind(schema: Schema) -> Any:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if values:
        return Literal[tuple(values)]
    if schema.get("type") == "array":
        return list[_annotation(schema.get("items", {}))]  # type: ignore[misc]
    return _TYPES.get(str(schema.get("type")), Any)


def _inlined(part: Any, definitions: Schema, within: tuple[str, ...]) -> Any:
    if isinstance(part, list):
        return [_inlined(one, definitions, within) for one in part]
    if not isinstance(part, dict):
        return part
    name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
    if not name:
        return {key: _inlined(value, definitions, within) for key, value in part.items()}
    if name in within:
        return {}  # A model that holds itself: no schema without references says how deep.
    beside = {key: value for key, value in part.items() if key != "$ref"}
    return _inlined(definitions[name], definitions, (*within, name)) | beside
