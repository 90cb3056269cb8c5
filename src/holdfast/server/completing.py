"""Names of files while somebody types a reference to one: only for those who may point at files at all.

Looks into one folder at a time, as `files` lets it. What a reference becomes is not known here.
"""

import asyncio
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.files.problems import FileProblem
from holdfast.files.roots import FileEntry, Roots, is_secret
from holdfast.server.files import roots_for

router = APIRouter(prefix="/api/files", tags=["Files"])


@router.get("/complete")
async def complete(
    request: Request, q: str = Query("", max_length=1_000), limit: int = Query(20, ge=1, le=100)
) -> dict[str, Any]:
    """Files and folders whose path begins with `q`; `allowed` is false for those who may not point at any."""
    roots = roots_for(request)
    if roots is None:
        return {"allowed": False, "files": []}
    found = await asyncio.to_thread(_names, roots, q, limit)
    return {"allowed": True, "files": [{"path": path, "folder": folder} for path, folder in found]}


def _names(roots: Roots, typed: str, limit: int) -> list[tuple[str, bool]]:
    """The entries of the folder that was typed so far, those first that begin with the rest."""
    before, slash, start = typed.rpartition("/")
    wanted, prefix = start.casefold(), f"{before}{slash}"
    rows = [(f"{prefix}{row.steps[-1]}", row) for row in _entries(roots, f"{before}{slash}" or ".")]
    begins = [one for one in rows if one[1].steps[-1].casefold().startswith(wanted)]
    within = [one for one in rows if wanted in one[1].steps[-1].casefold()[1:] and one not in begins]
    return [
        (f"{path}/" if row.kind == "folder" else path, row.kind == "folder")
        for path, row in (*begins, *within)[:limit]
    ]


def _entries(roots: Roots, folder: str) -> list[FileEntry]:
    try:
        found = roots.find(folder)
        rows = roots.entries(found) if found.kind == "folder" else []
    except FileProblem:
        return []
    return [
        row
        for row in rows
        if row.kind in ("file", "folder")
        and not row.steps[-1].startswith(".")
        and not is_secret(PurePath(row.path).parts)
    ]
