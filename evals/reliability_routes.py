"""Every route of the server, and requests made for each from its own description.

A route that is added is covered by itself: its places in the path are filled by their names, its arguments
and its body by the schema it publishes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from fastapi import FastAPI

SAFE_METHODS = ("GET", "HEAD")
# What is endless by its nature is tried apart.
ENDLESS = ("/api/events",)
_PLACE = re.compile(r"{(\w+)(?::\w+)?}")


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, with what the description says of its arguments and its body."""

    method: str
    path: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    media: str = "application/json"

    @property
    def changes(self) -> bool:
        return self.method not in SAFE_METHODS

    @property
    def places(self) -> list[str]:
        return _PLACE.findall(self.path)

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the path with these values in its places."""
        return _PLACE.sub(lambda place: values[place[1]], self.path)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that is tried: everything of it but the credentials."""

    route: Route
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All its words: what an answer repeats of them is no news to whoever sent it."""
        said = (self.content or b"").decode("utf-8", "replace")
        return "\n".join((self.path, json.dumps(dict(self.query)), said, json.dumps(dict(self.headers))))


def list_routes(app: FastAPI) -> list[Route]:
    """Return all routes of an app, also those that its description leaves out."""
    description = app.openapi()
    described = {
        (method.upper(), path): read_operation(description, method.upper(), path, operation)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    }
    hidden = {
        (method, re.sub(r":\w+}", "}", route.path)): Route(method, re.sub(r":\w+}", "}", route.path))
        for route in _walk(app.routes)
        for method in route.methods
    }
    return [*described.values(), *(route for name, route in hidden.items() if name not in described)]


def _walk(routes: Sequence[Any]) -> Iterator[Any]:
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from _walk(inner.routes)
        elif getattr(route, "methods", None):
            yield route


def read_operation(description: Mapping[str, Any], method: str, path: str, operation: Any) -> Route:
    arguments = {
        argument["name"]: resolve(argument.get("schema", {}), description)
        for argument in operation.get("parameters", ())
        if argument["in"] == "query"
    }
    content = operation.get("requestBody", {}).get("content", {})
    media = next(iter(content), "application/json")
    schema = content.get(media, {}).get("schema")
    body = resolve(schema, description) if schema else None
    return Route(method, path, arguments, body, media)


def resolve(schema: Mapping[str, Any], description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with what it refers to put in."""
    if "$ref" in schema:
        target: Any = description
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return resolve(target, description)
    solved = dict(schema)
    for name in ("anyOf", "oneOf", "allOf"):
        if name in solved:
            solved[name] = [resolve(option, description) for option in solved[name]]
    if "properties" in solved:
        solved["properties"] = {
            key: resolve(value, description) for key, value in solved["properties"].items()
        }
    if isinstance(solved.get("items"), dict):
        solved["items"] = resolve(solved["items"], description)
    return solved


def make_example(schema: Mapping[str, Any], name: str, values: Mapping[str, str], *, whole: bool) -> Any:
    """Return a value that a schema accepts, with those of ours where a property has their name."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if options:
        return make_example(options[0], name, values, whole=whole)
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type")
    if kind == "object":
        properties, needed = schema.get("properties", {}), schema.get("required", ())
        return {
            key: make_example(inner, key, values, whole=whole)
            for key, inner in properties.items()
            if whole or key in needed
        }
    if kind == "array":
        return [make_example(schema["items"], name, values, whole=whole)] if "items" in schema else []
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    if kind == "boolean":
        return False
    return values.get(name, values["text"])


def make_attempts(
    route: Route, places: Mapping[str, Sequence[str]], values: Mapping[str, str], limit: int
) -> Iterator[Attempt]:
    """Make requests for a route: its path with every thing there is, with few and with all arguments."""
    options = [places.get(place) or places["*"] for place in route.places]
    for chosen in list(product(*options))[:limit]:
        path = route.fill(dict(zip(route.places, chosen, strict=True)))
        for whole in (False, True):
            query = {
                name: make_example(schema, name, values, whole=whole)
                for name, schema in route.arguments.items()
                if whole or name in ("q", "text", "confirm")
            }
            body = route.body and make_example(route.body, "", values, whole=whole)
            if route.changes and body is None:
                content: bytes | None = (
                    values["text"].encode() if route.media != "application/json" else b"{}"
                )
            else:
                content = json.dumps(body).encode() if route.changes else None
            head = {"content-type": route.media, "if-match": "*"} if route.changes else {}
            yield Attempt(route, path, query, content, head)
            if not route.arguments and not route.body:
                break
