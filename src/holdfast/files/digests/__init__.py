"""Digests of files: a short form for the window, and single elements by name. Pure; accepts any text.

This module detects the kind of a file and sets the token budget; the modules beside it handle the kinds.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from holdfast.files.digests import code, data, prose, python
from holdfast.files.digests.base import Digest, ElementLocation, LineRange
from holdfast.files.digests.code import GRAMMARS
from holdfast.files.digests.data import detect_delimiter
from holdfast.files.digests.prose import is_log
from holdfast.files.formats import html_to_text
from holdfast.text.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

__all__ = [
    "Digest",
    "LineRange",
    "build_digest",
    "detect_kinds",
    "find_element",
    "kind_by_name",
    "list_elements",
]

_SUFFIXES = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    # A header may be C or C++, and the grammar of C++ reads both.
    "cpp": "h cc cpp cxx c++ hh hpp hxx h++ cu cuh ino",
    "ruby": "rb rake gemspec",
    "php": "php",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc",
    "lua": "lua",
    "perl": "pl pm",
    "elixir": "ex exs",
    "csharp": "cs",
    "shell": "sh bash zsh ksh",
    "sql": "sql ddl",
    "css": "css scss less",
    "ini": "ini cfg conf desktop service properties",
    "makefile": "mk mak",
    "r": "r",
    "markdown": "md markdown mdx mdown rst adoc pdf docx",
    "html": "html htm xhtml",
    "json": "json geojson ipynb webmanifest map har",
    "jsonl": "jsonl ndjson",
    "yaml": "yaml yml",
    "toml": "toml",
    "table": "csv tsv tab psv",
    "log": "log",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {"makefile": "makefile", "gnumakefile": "makefile", "gemfile": "ruby", "rakefile": "ruby",
            "pipfile": "toml", "cargo.lock": "toml", "poetry.lock": "toml", "uv.lock": "toml",
            "readme": "markdown", "changelog": "markdown"}  # fmt: skip
_PROGRAMS = (
    ("python", "python"),
    ("node", "javascript"),
    ("sh", "shell"),
    ("ruby", "ruby"),
    ("perl", "perl"),
)
_LOG_NAME = late(r"\.log(?:\.\d+|-\d{8})?$")
_PYTHON = late(r"^(?:from [\w.]+ import |import \w|def \w+\(|class \w+[(:]|async def )", re.MULTILINE)
_MARKDOWN = late(r"^#{1,6} \S", re.MULTILINE)
_SAMPLE_CHARACTERS = 20_000
_FEW_LINES = 4


def detect_kinds(name: str, text: str) -> list[str]:
    """Return the kinds to try in this order; if none applies, the text is plain."""
    named = kind_by_name(name)
    return list(dict.fromkeys(kind for kind in (named, *kinds_by_content(text, named)) if kind))


def kind_by_name(name: str) -> str:
    base = re.split(r"[/\\]", name)[-1].casefold()
    if base in _BY_NAME:
        return _BY_NAME[base]
    if _LOG_NAME.search(base):
        return "log"
    return _BY_SUFFIX.get(base.rpartition(".")[2], "") if "." in base else ""


def kinds_by_content(text: str, named: str) -> list[str]:
    # If the name states a kind and it does not apply, the file is most likely a broken one of that kind.
    if named:
        return ["jsonl"] if named == "json" else []
    beginning = text[:_SAMPLE_CHARACTERS]
    if beginning.startswith("#!"):
        first = beginning.partition("\n")[0]
        return [kind for word, kind in _PROGRAMS if word in first][:1]
    kinds: list[str] = []
    opening = beginning.lstrip("\ufeff \t\r\n")[:1]
    if opening in ("{", "[") and opening:
        kinds += ["json", "jsonl"]
    if is_log(beginning):
        kinds.append("log")
    if len(_PYTHON.findall(beginning)) >= 3:
        kinds.append("python")
    if len(_MARKDOWN.findall(beginning)) >= 2:
        kinds.append("markdown")
    # A few lines of prose may have the same number of commas.
    if beginning.count("\n") > _FEW_LINES and detect_delimiter(beginning):
        kinds.append("table")
    return kinds


# The digest of a larger file takes less than a tenth of its tokens; of a smaller one a third, up to what the
# smallest large file would have.
_LARGE_BYTES = 20_000
_LARGE_DIVISOR = 11
_SMALL_DIVISOR, _SMALL_TOKENS = 3, 400
# More is too much for a small window. Only the names of a Python module may take more.
_MOST_TOKENS = 2_000
# The line that says what is left out.
_NOTICE_TOKENS = 30
# Larger sources are read by patterns: a grammar takes ten times as long, 0.25 s for a million characters.
_HUGE_CHARACTERS = 400_000

_WORDS = late(r"[^\W_]+")


def build_digest(name: str, text: str) -> Digest:
    """Return the digest of a text, or the text itself if a digest would not be shorter."""
    tokens = estimate(text, UNKNOWN).tokens
    most = token_budget(text, tokens)
    digest = next(filter(None, (digest_kind(kind, text, most) for kind in detect_kinds(name, text))), None)
    digest = digest or prose.digest_plain(text, most)
    if len(digest.text) >= len(text) or estimate(digest.text, UNKNOWN).tokens >= tokens:
        return Digest(digest.kind, text, "")
    return digest


def find_element(name: str, text: str, wanted: str) -> LineRange | None:
    """Return the first function, class, method, heading or key of this name.

    `Class.method` names a nested element, and `method` alone is enough. An exact match comes first; after
    that, case, blanks and punctuation are ignored.
    """
    location = match_location(list(find_locations(name, text)), wanted.strip())
    if location is None:
        return None
    first = text.count("\n", 0, location.start) + 1
    return LineRange(
        first, first + text.count("\n", location.start, location.end), text[location.start : location.end]
    )


def list_elements(name: str, text: str) -> list[str]:
    """Return the names that `find_element` knows in this text, each once, in their order."""
    return list(dict.fromkeys(location.name for location in find_locations(name, text)))


def token_budget(text: str, tokens: int) -> int:
    share = tokens // _LARGE_DIVISOR
    if len(text) <= _LARGE_BYTES and len(text.encode("utf-8", "replace")) <= _LARGE_BYTES:
        share = max(share, min(_SMALL_TOKENS, tokens // _SMALL_DIVISOR))
    return max(min(share, _MOST_TOKENS) - _NOTICE_TOKENS, 1)


def digest_kind(kind: str, text: str, most: int) -> Digest | None:
    if kind in code.PATTERNS and (len(text) > _HUGE_CHARACTERS or not (kind in GRAMMARS or kind in _DIGESTS)):
        return code.digest_by_lines(kind, text, most)
    if kind in GRAMMARS:
        return code.digest_code(kind, text, most) or code.digest_by_lines(kind, text, most)
    return _DIGESTS[kind](text, most)


def digest_html(text: str, most: int) -> Digest:
    page = html_to_text(text)
    digest = prose.digest_markdown(page, most) or prose.digest_plain(page, most)
    left_out = f"marks of the page and {digest.left_out}"
    return Digest("html", digest.text.removesuffix(f"[{digest.left_out}]") + f"[{left_out}]", left_out)


_DIGESTS: dict[str, Callable[[str, int], Digest | None]] = {
    "python": python.digest_python,
    "markdown": prose.digest_markdown,
    "html": digest_html,
    "json": partial(data.digest_values, "json"),
    "jsonl": partial(data.digest_values, "jsonl"),
    "toml": partial(data.digest_values, "toml"),
    "yaml": data.digest_yaml,
    "table": data.digest_table,
    "log": prose.digest_log,
}


def find_locations(name: str, text: str) -> Iterator[ElementLocation]:
    """Yield the elements of the first kind that has any."""
    for kind in detect_kinds(name, text):
        locations = list(locate_kind(kind, text))
        if locations:
            yield from locations
            return


def locate_kind(kind: str, text: str) -> Iterator[ElementLocation]:
    if kind == "python":
        yield from python.locate_python(text)
    elif kind == "markdown":
        yield from prose.locate_sections(text)
    elif kind in ("json", "toml", "yaml"):
        yield from data.locate_keys(kind, text)
    elif kind in code.PATTERNS:
        locations = list(code.locate_code(kind, text)) if kind in GRAMMARS else []
        yield from locations or code.locate_by_lines(kind, text)


def match_location(locations: list[ElementLocation], wanted: str) -> ElementLocation | None:
    if not wanted:
        return None
    for same in (is_same, is_alike):
        for inside in (False, True):
            for location in locations:
                if same(location.name, wanted, inside):
                    return location
    return None


def is_same(name: str, wanted: str, inside: bool) -> bool:
    return name.endswith(f".{wanted}") if inside else name == wanted


def is_alike(name: str, wanted: str, inside: bool) -> bool:
    words, wanted_words = _WORDS.findall(name.casefold()), _WORDS.findall(wanted.casefold())
    return bool(wanted_words) and (
        words[-len(wanted_words) :] == wanted_words if inside else words == wanted_words
    )
