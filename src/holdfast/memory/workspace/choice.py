"""Which workspace a location means: a folder, or a bucket of an S3 server.

Knows both kinds and nothing of what is in them. What a bucket needs is loaded only for one.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import ConfigError
from holdfast.memory.workspace.base import Workspace
from holdfast.memory.workspace.folder import FolderWorkspace


@dataclass(frozen=True, slots=True)
class S3Options:
    """How a bucket is reached. Without an endpoint it is AWS, where keys may come from the machine's role."""

    endpoint: str = ""
    region: str = ""
    key: str = ""
    secret: str = field(default="", repr=False)
    path_style: bool = True


def is_bucket(location: str) -> bool:
    return location.startswith("s3://")


def open_workspace(location: str, options: S3Options, cache: Path | None = None) -> Workspace:
    """The workspace in a folder or at `s3://bucket/prefix`; `cache` is for what comes from a server."""
    if not is_bucket(location):
        return FolderWorkspace(Path(location).expanduser())
    try:
        from holdfast.memory.workspace.s3.bucket import S3Workspace
        from holdfast.memory.workspace.s3.cache import ObjectCache
        from holdfast.memory.workspace.s3.objects import S3Client
    except ModuleNotFoundError as error:
        raise ConfigError(
            "Notes on S3 need the package obstore.", hint="Install it: pip install 'holdfast[s3]'."
        ) from error
    objects = S3Client(location, options)
    # Two buckets of the same name on two servers are two.
    own = hashlib.sha256(f"{options.endpoint}\0{objects.place}".encode()).hexdigest()[:16]
    return S3Workspace(objects, ObjectCache(cache / own if cache is not None else None))
