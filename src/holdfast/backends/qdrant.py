"""Qdrant: a server finds the nearest vectors, or Qdrant's library in a folder.

One collection for one embedder, created and marked by us; that of another embedder is replaced. The library
is an extra and takes seconds to load; a server needs none of it.
"""

import json
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import httpx

from holdfast.errors import ConfigError, VectorsError
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import OpenVectorBackend, VectorOptions
from holdfast.memory.vectors import RowSpan, Vector, VectorPoint
from holdfast.store.fulltext import container_number

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

Json = Mapping[str, Any]

# The point that says whose collection it is. It is in no container, so no question finds it.
_MARK = 0
_OURS = "holdfast"
# Points on a page when all are listed, and rows named in one filter.
_PAGE, _AT_ONCE = 5_000, 2_000
# How many candidates a search keeps in view at least.
_CANDIDATES = 1_000

# Seconds a question may take before vectors are compared here instead, and a change.
_QUESTION, _CHANGE = 4.0, 30.0
_PATH = re.compile(r"/collections/(?P<name>[^/?]+)(?P<what>[^?]*)")


class QdrantConnection(Protocol):
    """Sends requests of Qdrant's REST interface; raises VectorsError on failure."""

    location: str
    # Whether a field can be given an index, without which a server would look at every point.
    indexes: bool

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        """The `result` of the answer; None if there is nothing at this path."""

    def close(self) -> None: ...


class QdrantBackend:
    name = "qdrant"
    curious = True

    def __init__(self, wire: QdrantConnection, identity: EmbedderIdentity, collection: str) -> None:
        self.location = f"{wire.location} ({collection})"
        self._wire = wire
        self._identity = identity
        self._collection = collection
        self._path = f"/collections/{collection}"

    def list_points(self) -> Iterable[tuple[int, int]]:
        self._prepare()
        points: list[tuple[int, int]] = []
        offset: Any = None
        while True:
            asked = {"limit": _PAGE, "offset": offset, "with_payload": ["row"], "with_vector": False}
            page = self._wire.call("POST", f"{self._path}/points/scroll", asked) or {"points": []}
            # The mark has no row, and what somebody else put there is not ours to take away.
            points += (
                (point["id"], point["payload"]["row"])
                for point in page["points"]
                if "row" in point["payload"]
            )
            offset = page.get("next_page_offset")
            if offset is None:
                return points

    def put(self, points: Sequence[VectorPoint]) -> None:
        self._put(
            {
                "id": point.key,
                "vector": point.vector.tolist(),
                "payload": {**point.about, "row": point.row, "container": container_number(point.row)},
            }
            for point in points
        )

    def drop(self, keys: Collection[int]) -> None:
        # Synchronous: what is forgotten must be gone when this returns.
        self._request("POST", "/points/delete?wait=true", {"points": list(keys)})

    def nearest(
        self, spans: Sequence[RowSpan], vector: Vector, best: int, also: Collection[int]
    ) -> dict[int, float]:
        if not spans:
            return {}
        asked = vector.tolist()
        within = [span_filter(span) for span in spans]
        nearness: dict[int, float] = {}
        most = best
        while True:
            rows = self._query_points(
                build_search(asked, {"should": within}, most, {"hnsw_ef": max(_CANDIDATES, most)})
            )
            for row, near in rows:
                if len(nearness) < best or row in nearness:
                    nearness[row] = max(near, nearness.get(row, -1.0))
            if len(nearness) >= best or len(rows) < most:
                break
            # Several pieces of one row were among them.
            most *= 2
        missing = iter(sorted(set(also) - nearness.keys()) if self._wire.indexes else ())
        while portion := list(islice(missing, _AT_ONCE)):
            named = {"key": "row", "match": {"any": portion}}
            wanted = {"must": [named], "should": within}
            # More than a few pieces a row are rare; the nearest come first.
            for row, near in self._query_points(
                build_search(asked, wanted, 4 * len(portion), {"exact": True})
            ):
                nearness[row] = max(near, nearness.get(row, -1.0))
        return nearness

    def settle(self) -> None:
        """A server does that by itself."""

    def alone(self) -> None:
        """Nothing to drop: there is one collection, of this embedder."""

    def close(self) -> None:
        self._wire.close()

    def _prepare(self) -> None:
        """Create the collection unless it is there and ours."""
        known = self._wire.call("GET", self._path)
        if known is not None:
            if self._is_current(known):
                return
            # Ours, of another embedder or half made: all of it comes from the store.
            self._request("DELETE", "")
        self._make()

    def _make(self) -> None:
        vectors = {"size": self._identity.dimensions, "distance": "Cosine"}
        if self._wire.call("PUT", self._path, {"vectors": vectors}) is None:
            raise VectorsError(
                f"What answers at {self._wire.location} is no Qdrant.",
                hint="Name the address of its HTTP port, usually 6333.",
            )
        for name in ("row", "container") if self._wire.indexes else ():
            self._request("PUT", "/index?wait=true", {"field_name": name, "field_schema": "integer"})
        first = [1.0] + [0.0] * (self._identity.dimensions - 1)
        mark = {"made_by": _OURS, "embedder": str(self._identity), "identity": self._identity.key}
        self._put([{"id": _MARK, "vector": first, "payload": mark}])

    def _is_current(self, known: Json) -> bool:
        """Whether the collection is this embedder's; VectorsError if somebody else created it."""
        vectors = known["config"]["params"].get("vectors") or {}
        fits = (vectors.get("size"), vectors.get("distance")) == (self._identity.dimensions, "Cosine")
        marks = self._wire.call("POST", f"{self._path}/points", {"ids": [_MARK], "with_payload": True})
        mark = marks[0].get("payload") or {} if marks else {}
        half_made = fits and not known.get("points_count")
        if mark.get("made_by") != _OURS and not half_made:
            raise VectorsError(
                f"The collection {self._collection} of {self._wire.location} was not created by Holdfast.",
                hint="Name another one with vectors_collection, or delete it if it is not needed.",
            )
        return fits and mark.get("identity") == self._identity.key

    def _put(self, points: Iterable[Json]) -> None:
        self._request("PUT", "/points?wait=true", {"points": list(points)})

    def _query_points(self, search: Json) -> list[tuple[int, float]]:
        (answer,) = self._request("POST", "/points/query/batch", {"searches": [search]})
        return [(point["payload"]["row"], point["score"]) for point in answer["points"]]

    def _request(self, method: str, path: str, body: Json | None = None) -> Any:
        """Send a request to the collection, which must exist."""
        result = self._wire.call(method, f"{self._path}{path}", body)
        if result is None:
            raise VectorsError(
                f"The collection {self._collection} of {self._wire.location} is gone.",
                hint="It is made anew by itself.",
            )
        return result


def span_filter(span: RowSpan) -> Json:
    # By container, since the numbers of rows are larger than what Qdrant compares exactly.
    return {"key": "container", "range": {"gte": container_number(span[0]), "lte": container_number(span[1])}}


def build_search(asked: list[float], wanted: Json, most: int, how: Json) -> Json:
    return {"query": asked, "filter": wanted, "limit": most, "params": how, "with_payload": ["row"]}


class QdrantServer:
    """A server at an address; `key` is what it asks for."""

    indexes = True

    def __init__(self, address: str, key: str = "") -> None:
        self.location = address
        headers = {"api-key": key} if key else {}
        # Nothing of the environment: what is remembered goes to the server that was named, past no proxy.
        self._http = httpx.Client(base_url=address, headers=headers, trust_env=False)

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        timeout = _QUESTION if method == "GET" or "/query" in path else _CHANGE
        try:
            answer = self._http.request(method, path, json=body, timeout=timeout)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise VectorsError(
                f"Qdrant at {self.location} does not answer: {why}.",
                hint="See that it runs; it is asked again by itself.",
            ) from error
        if answer.status_code in (401, 403):
            raise VectorsError(
                f"Qdrant at {self.location} wants another key ({answer.status_code}).",
                hint="Set vectors_key to the one of that server.",
            )
        if answer.status_code == 404:
            return None
        try:
            content = answer.json()
        except json.JSONDecodeError:
            content = None
        if answer.status_code != 200 or not isinstance(content, dict) or "result" not in content:
            reason = read_reason(content, answer.text)
            raise VectorsError(
                f"Qdrant at {self.location} answered {answer.status_code}: {reason}",
                hint="It is asked again by itself.",
            )
        return content["result"]

    def close(self) -> None:
        self._http.close()


class QdrantFolder:
    """Qdrant's own library on a folder, which takes the same requests as the server."""

    indexes = False

    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self._folder = folder
        self._client: QdrantClient | None = None
        # It is made for one thread.
        self._using = threading.Lock()

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        parts = _PATH.match(path)
        assert parts is not None
        with self._using:
            client = self._client = self._client or open_client(self._folder)
            makes = (method, parts["what"]) == ("PUT", "")
            if not makes and not client.collection_exists(parts["name"]):
                return None
            try:
                return _ACTIONS[method, parts["what"]](client, parts["name"], body or {})
            except (ValueError, OSError) as error:
                raise VectorsError(f"Qdrant in {self.location}: {error}") from error

    def close(self) -> None:
        with self._using:
            if self._client is not None:
                self._client.close()
                self._client = None


def open_client(folder: Path) -> "QdrantClient":
    try:
        from qdrant_client import QdrantClient
    except ModuleNotFoundError as error:
        raise VectorsError(
            "Qdrant in a folder needs the package qdrant-client.",
            hint="Install it: pip install 'holdfast[qdrant]'. A Qdrant server needs no package.",
        ) from error
    try:
        return QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise VectorsError(
            f"Another program has the Qdrant in {folder} open.",
            hint="Only one can at a time; a Qdrant server serves several.",
        ) from error
    except (OSError, ValueError) as error:
        raise VectorsError(
            f"The Qdrant in {folder} cannot be opened: {error}.",
            hint="It can be deleted: it is made anew from the database.",
        ) from error


def _create(client: "QdrantClient", name: str, body: Json) -> Any:
    from qdrant_client import models

    return client.create_collection(name, vectors_config=models.VectorParams(**body["vectors"]))


def _retrieve(client: "QdrantClient", name: str, body: Json) -> Any:
    return [record.model_dump() for record in client.retrieve(name, **body)]


def _scroll(client: "QdrantClient", name: str, body: Json) -> Any:
    asked = {**body, "with_vectors": body["with_vector"]}
    del asked["with_vector"]
    points, following = client.scroll(name, **asked)
    return {"points": [record.model_dump() for record in points], "next_page_offset": following}


def _upsert(client: "QdrantClient", name: str, body: Json) -> Any:
    from qdrant_client import models

    return client.upsert(name, [models.PointStruct(**point) for point in body["points"]])


def _delete(client: "QdrantClient", name: str, body: Json) -> Any:
    return client.delete(name, body["points"])


def _query(client: "QdrantClient", name: str, body: Json) -> Any:
    from qdrant_client import models

    # It compares one by one, and would warn that there is nothing about that to be set.
    asked = [models.QueryRequest(**{**search, "params": None}) for search in body["searches"]]
    return [answer.model_dump() for answer in client.query_batch_points(name, asked)]


_ACTIONS: Mapping[tuple[str, str], Callable[["QdrantClient", str, Json], Any]] = {
    ("GET", ""): lambda client, name, _: client.get_collection(name).model_dump(mode="json"),
    ("PUT", ""): _create,
    ("DELETE", ""): lambda client, name, _: client.delete_collection(name),
    ("POST", "/points"): _retrieve,
    ("POST", "/points/scroll"): _scroll,
    ("PUT", "/points"): _upsert,
    ("POST", "/points/delete"): _delete,
    ("POST", "/points/query/batch"): _query,
}


def read_reason(content: Any, text: str) -> str:
    status = content.get("status") if isinstance(content, dict) else None
    return str(status["error"]) if isinstance(status, dict) and "error" in status else text[:200]


def open_qdrant(options: VectorOptions) -> OpenVectorBackend:
    """Use the server that the location names (`qdrant+http://…`), or a folder (`qdrant:FOLDER`)."""
    kind, _, path = options.location.partition(":")
    if kind == "qdrant":
        folder = Path(path).expanduser()
        return lambda identity: QdrantBackend(QdrantFolder(folder), identity, options.collection)
    address = options.location.removeprefix("qdrant+")
    parts = urlsplit(address)
    if not parts.hostname or parts.username or parts.password:
        raise ConfigError(
            "vectors names no Qdrant that can be reached.",
            hint="Write qdrant+http://HOST:6333, and the key into vectors_key.",
        )
    return lambda identity: QdrantBackend(QdrantServer(address, options.key), identity, options.collection)
