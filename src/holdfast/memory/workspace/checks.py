"""What a memory may be that somebody writes down: its words, its kind, how much it matters."""

from holdfast.errors import BadRequest
from holdfast.memory.base import KINDS, Kind
from holdfast.memory.workspace.items import normalise

_LONGEST = 8_000


def check_text(text: str) -> str:
    if not normalise(text):
        raise BadRequest("A memory needs words.", hint="Say what is to be remembered.", param="text")
    if len(text) > _LONGEST:
        raise BadRequest(
            f"A memory has at most {_LONGEST:,} characters; this has {len(text):,}.",
            hint="Say it shorter, or write it into a note of your own.",
            param="text",
        )
    return normalise(text)


def check_kind(kind: str) -> Kind:
    found = next((known for known in KINDS if known == kind and known != "summary"), None)
    if found is None:
        raise BadRequest(f"{kind!r} is no kind of memory.", hint="Use fact, decision, preference or note.")
    return found


def check_listed_kind(kind: str) -> Kind:
    """The same for who only looks: summaries of conversations can be listed, but not written by hand."""
    return "summary" if kind == "summary" else check_kind(kind)


def check_importance(value: float) -> float:
    if not 0 <= value <= 1:
        raise BadRequest("Importance is between 0 and 1.", hint="0.5 is usual.", param="importance")
    return value
