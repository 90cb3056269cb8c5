"""How requests reach a Qdrant: over HTTP to a server, or to the library that does the same in a folder.

The library is an extra, and takes seconds to load; a server needs none of it. Knows nothing of vectors.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from holdfast.errors import VectorsError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

Json = Mapping[str, Any]

# Seconds a question may take before vectors are compared here instead, and a change.
_QUESTION, _CHANGE = 4.0, 30.0
_PATH = re.compile(r"/collections/(?P<name>[^/?]+)(?P<what>[^?]*)")


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
            told = answer.json()
        except json.JSONDecodeError:
            told = None
        if answer.status_code != 200 or not isinstance(told, dict) or "result" not in told:
            raise VectorsError(
                f"Qdrant at {self.location} answered {answer.status_code}: {_reason(told, answer.text)}",
                hint="It is asked again by itself.",
            )
        return told["result"]

    def close(self) -> None:
        self._http.close()


class QdrantFolder:
    """Qdrant's own library on a folder. It reads requests with the models that the server's are made of."""

    indexes = False

    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self._folder = folder
        self._client: QdrantClient | None = None
        # It is made for one thread.
        self._using = threading.Lock()

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        found = _PATH.match(path)
        assert found is not None
        with self._using:
            client = self._client = self._client or _open_client(self._folder)
            makes = (method, found["what"]) == ("PUT", "")
            if not makes and not client.collection_exists(found["name"]):
                return None
            try:
                return _ACTIONS[method, found["what"]](client, found["name"], body or {})
            except (ValueError, OSError) as error:
                raise VectorsError(f"Qdrant in {self.location}: {error}") from error

    def close(self) -> None:
        with self._using:
            if self._client is not None:
                self._client.close()
                self._client = None


def _open_client(folder: Path) -> "QdrantClient":
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
    return [one.model_dump() for one in client.retrieve(name, **body)]


def _scroll(client: "QdrantClient", name: str, body: Json) -> Any:
    asked = {**body, "with_vectors": body["with_vector"]}
    del asked["with_vector"]
    points, following = client.scroll(name, **asked)
    return {"points": [one.model_dump() for one in points], "next_page_offset": following}


def _upsert(client: "QdrantClient", name: str, body: Json) -> Any:
    from qdrant_client import models

    return client.upsert(name, [models.PointStruct(**one) for one in body["points"]])


def _delete(client: "QdrantClient", name: str, body: Json) -> Any:
    return client.delete(name, body["points"])


def _query(client: "QdrantClient", name: str, body: Json) -> Any:
    from qdrant_client import models

    # It compares one by one, and would warn that there is nothing about that to be set.
    asked = [models.QueryRequest(**{**one, "params": None}) for one in body["searches"]]
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


def _reason(told: Any, text: str) -> str:
    status = told.get("status") if isinstance(told, dict) else None
    return str(status["error"]) if isinstance(status, dict) and "error" in status else text[:200]
