"""From a location to an index: `auto`, `pgvector`, a PostgreSQL, a Qdrant, `sqlite-vec`.

What is chosen is opened when it is first used. Knows the engines there are, and nothing of what they do.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from holdfast.errors import ConfigError
from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.searching.vectors.base import VectorBackend, VectorIndex
from holdfast.memory.searching.vectors.followed import RemoteVectorIndex
from holdfast.memory.searching.vectors.stored import StoredVectors
from holdfast.store import Store

COLLECTION = "memories"
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)

_WAYS = (
    "auto, pgvector, postgresql://USER:PASSWORD@HOST/NAME, qdrant+http://HOST:6333, qdrant:FOLDER, sqlite-vec"
    " or sqlite-vec:FILE"
)


@dataclass(frozen=True, slots=True)
class VectorOptions:
    """`store` is where the store is, `folder` where files of ours belong."""

    location: str = "auto"
    key: str = field(default="", repr=False)
    collection: str = COLLECTION
    extension: str = ""
    store: str = ""
    folder: Path = Path()


class OpenVectors(Protocol):
    """Makes the index of one embedder's vectors."""

    def __call__(self, store: Store, identity: EmbedderIdentity) -> VectorIndex: ...


class OpenVectorBackend(Protocol):
    def __call__(self, identity: EmbedderIdentity) -> VectorBackend: ...


def choose_vectors(options: VectorOptions) -> OpenVectors:
    """How to open an index where the options say; ConfigError if they say nothing that can be done."""
    opening = _engine(options)
    if opening is None:
        return StoredVectors

    def followed(store: Store, identity: EmbedderIdentity) -> VectorIndex:
        return RemoteVectorIndex(store, identity, opening(identity))

    return followed


def _engine(options: VectorOptions) -> OpenVectorBackend | None:
    """How to open the engine; None for comparing in process."""
    location = options.location.strip()
    if not _NAME.fullmatch(options.collection):
        raise ConfigError(
            f"vectors_collection is {options.collection!r}.",
            hint="Letters, digits, - and _ make the name of a collection.",
        )
    kind, _, rest = location.partition(":")
    match kind:
        case "" | "auto":
            return None
        case "pgvector" if not rest:
            return _pgvector(_url(options.store))
        case "postgresql" | "postgres":
            return _pgvector(_url(location))
        case "qdrant+http" | "qdrant+https":
            return _served(location.removeprefix("qdrant+"), options)
        case "qdrant" if rest and not rest.startswith("//"):
            return _in_folder(Path(rest).expanduser(), options)
        case "sqlite-vec":
            path = Path(rest).expanduser() if rest else options.folder / "vectors.db"
            return _sqlite_vec(path, options.extension)
    raise ConfigError(f"vectors is {location!r}.", hint=f"It must be one of: {_WAYS}.")


def _pgvector(url: URL) -> OpenVectorBackend:
    from holdfast.backends.pgvector import PgVectorBackend

    return lambda identity: PgVectorBackend(url, identity)


def _served(address: str, options: VectorOptions) -> OpenVectorBackend:
    from holdfast.backends.qdrant import QdrantBackend
    from holdfast.backends.qdrant_wires import QdrantServer

    parts = urlsplit(address)
    if not parts.hostname or parts.username or parts.password:
        raise ConfigError(
            "vectors names no Qdrant that can be reached.",
            hint="Write qdrant+http://HOST:6333, and the key into vectors_key.",
        )
    return lambda identity: QdrantBackend(QdrantServer(address, options.key), identity, options.collection)


def _in_folder(folder: Path, options: VectorOptions) -> OpenVectorBackend:
    from holdfast.backends.qdrant import QdrantBackend
    from holdfast.backends.qdrant_wires import QdrantFolder

    return lambda identity: QdrantBackend(QdrantFolder(folder), identity, options.collection)


def _sqlite_vec(path: Path, extension: str) -> OpenVectorBackend:
    from holdfast.backends.sqlite_vec import SqliteVecBackend

    return lambda identity: SqliteVecBackend(path, identity, extension=extension)


def _url(location: str) -> URL:
    try:
        url = make_url(location)
    except ArgumentError:
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigError(
            "vectors is pgvector, and the store is no PostgreSQL.",
            hint="Set store to postgresql://…, or write that address of a PostgreSQL into vectors.",
        )
    return url
