"""What a file becomes when it is shown short, and how one element of it is reached. Pure; any text is fine.

Chooses the kind of file and how many tokens it may take. Knows no disk, and not who asks.
"""

from collections.abc import Callable, Iterator
from functools import partial

from holdfast.files.digests import code, keys, lines, logs, markdown, plain, python, shapes, tables
from holdfast.files.digests.grammars import GRAMMARS
from holdfast.files.digests.kinds import kinds_of
from holdfast.files.digests.values import Digest, Place, Span
from holdfast.files.formats.html import readable
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

__all__ = ["Digest", "Span", "digest_of", "element", "elements"]

# A file of more bytes is told in less than a tenth of its tokens; of a smaller one a third may be told, up to
# what a large one would have at least.
_LARGE = 20_000
_SHARE = 11
_SMALL_SHARE, _SMALL = 3, 400
# More is too much for a small window, whatever the file. Names of Python alone may take more.
_MOST = 2_000
# What is left out takes a line.
_LINE = 30
# Whoever asks waits: a grammar takes a quarter of a second for a million characters, patterns a tenth of it.
_HUGE = 400_000

_WORDS = late(r"[^\W_]+")


def digest_of(name: str, text: str) -> Digest:
    """The text as short as it can be told; the text itself where that is no longer."""
    tokens = estimate(text, UNKNOWN).tokens
    most = _budget(text, tokens)
    found = next(filter(None, (_digest(kind, text, most) for kind in kinds_of(name, text))), None)
    found = found or plain.digest(text, most)
    if len(found.text) >= len(text) or estimate(found.text, UNKNOWN).tokens >= tokens:
        return Digest(found.kind, text, "")
    return found


def element(name: str, text: str, wanted: str) -> Span | None:
    """The function, class, method, heading or key of this name; the first if there are several.

    `Class.method` names one inside another, and `method` alone will do. How a name is spelled comes first;
    then capital letters, blanks and signs do not count.
    """
    found = _matching(list(_places(name, text)), wanted.strip())
    if found is None:
        return None
    first = text.count("\n", 0, found.start) + 1
    return Span(first, first + text.count("\n", found.start, found.end), text[found.start : found.end])


def elements(name: str, text: str) -> list[str]:
    """The names that `element` knows in this text, each once, in their order."""
    return list(dict.fromkeys(place.name for place in _places(name, text)))


def _budget(text: str, tokens: int) -> int:
    share = tokens // _SHARE
    if len(text) <= _LARGE and len(text.encode("utf-8", "replace")) <= _LARGE:
        share = max(share, min(_SMALL, tokens // _SMALL_SHARE))
    return max(min(share, _MOST) - _LINE, 1)


def _digest(kind: str, text: str, most: int) -> Digest | None:
    if kind in lines.PATTERNS and (len(text) > _HUGE or not (kind in GRAMMARS or kind in _DIGESTS)):
        return lines.digest(kind, text, most)
    if kind in GRAMMARS:
        return code.digest(kind, text, most) or lines.digest(kind, text, most)
    return _DIGESTS[kind](text, most)


def _of_page(text: str, most: int) -> Digest:
    told = readable(text)
    found = markdown.digest(told, most) or plain.digest(told, most)
    left_out = f"marks of the page and {found.left_out}"
    return Digest("html", found.text.removesuffix(f"[{found.left_out}]") + f"[{left_out}]", left_out)


_DIGESTS: dict[str, Callable[[str, int], Digest | None]] = {
    "python": python.digest,
    "markdown": markdown.digest,
    "html": _of_page,
    "json": partial(shapes.digest, "json"),
    "jsonl": partial(shapes.digest, "jsonl"),
    "toml": partial(shapes.digest, "toml"),
    "yaml": keys.digest,
    "table": tables.digest,
    "log": logs.digest,
}


def _places(name: str, text: str) -> Iterator[Place]:
    """The places of the first kind that has any."""
    for kind in kinds_of(name, text):
        found = list(_places_of(kind, text))
        if found:
            yield from found
            return


def _places_of(kind: str, text: str) -> Iterator[Place]:
    if kind in ("python", "markdown"):
        yield from (python if kind == "python" else markdown).places(text)
    elif kind in ("json", "toml", "yaml"):
        yield from keys.places(kind, text)
    elif kind in lines.PATTERNS:
        found = list(code.places(kind, text)) if kind in GRAMMARS else []
        yield from found or lines.places(kind, text)


def _matching(places: list[Place], wanted: str) -> Place | None:
    if not wanted:
        return None
    for same in (_is_same, _is_alike):
        for inside in (False, True):
            for place in places:
                if same(place.name, wanted, inside):
                    return place
    return None


def _is_same(name: str, wanted: str, inside: bool) -> bool:
    return name.endswith(f".{wanted}") if inside else name == wanted


def _is_alike(name: str, wanted: str, inside: bool) -> bool:
    told, asked = _WORDS.findall(name.casefold()), _WORDS.findall(wanted.casefold())
    return bool(asked) and (told[-len(asked) :] == asked if inside else told == asked)
