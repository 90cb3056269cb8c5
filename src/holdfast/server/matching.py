"""Which version of a file a client means: entity tags in its headers, in the tags of the workspace.

Knows HTTP's conditions and nothing of files.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request

from holdfast.memory.workspace.base import ABSENT


def etag(tag: str) -> str:
    return f'"{tag}"'


def expected(request: Request, there: str, *, needed: bool = True) -> str | None:
    """The tag that a file must still have when it is written; None where any will do.

    `there` is the tag it has now. Whoever replaces a file must say which version they have read; a new one
    needs no such word.
    """
    if request.headers.get("if-none-match", "").strip() == "*":
        return ABSENT
    told = request.headers.get("if-match")
    if told is None:
        if needed and there != ABSENT:
            raise HTTPException(
                428,
                "It is there already. Read it first, and send its ETag as If-Match.",
                {"ETag": etag(there)},
            )
        return ABSENT if needed else None
    tags = [part.strip() for part in told.split(",")]
    if there != ABSENT and ("*" in tags or etag(there) in tags):
        return there
    # An old version, or one that cannot be: no file has this tag.
    raise changed(there)


def unchanged(request: Request, there: str) -> bool:
    """Whether a client has the current version already."""
    tags = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return "*" in tags or etag(there) in tags


def changed(there: str = ABSENT) -> HTTPException:
    headers = {"ETag": etag(there)} if there != ABSENT else None
    return HTTPException(412, "It was changed by somebody else meanwhile. Read it again.", headers)
