"""Which kind of file this is: by its name, and where that says nothing, by what is in it.

Knows names and first signs. Reading a kind is for the modules beside it.
"""

import re

from holdfast.files.digests.logs import is_log
from holdfast.files.digests.tables import sign_of
from holdfast.patterns import late

_SUFFIXES = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    # A header may be of either; C++ reads C as well.
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
_GLANCE = 20_000
_FEW = 4


def kinds_of(name: str, text: str) -> list[str]:
    """Kinds to be tried in this order; a text that is none of them is plain."""
    named = named_kind(name)
    return list(dict.fromkeys(kind for kind in (named, *_by_content(text, named)) if kind))


def named_kind(name: str) -> str:
    base = re.split(r"[/\\]", name)[-1].casefold()
    if base in _BY_NAME:
        return _BY_NAME[base]
    if _LOG_NAME.search(base):
        return "log"
    return _BY_SUFFIX.get(base.rpartition(".")[2], "") if "." in base else ""


def _by_content(text: str, named: str) -> list[str]:
    # A name that says what it is, and is wrong, is most likely a broken file of that kind, and no other.
    if named:
        return ["jsonl"] if named == "json" else []
    beginning = text[:_GLANCE]
    if beginning.startswith("#!"):
        first = beginning.partition("\n")[0]
        return [kind for word, kind in _PROGRAMS if word in first][:1]
    found: list[str] = []
    opening = beginning.lstrip("\ufeff \t\r\n")[:1]
    if opening in ("{", "[") and opening:
        found += ["json", "jsonl"]
    if is_log(beginning):
        found.append("log")
    if len(_PYTHON.findall(beginning)) >= 3:
        found.append("python")
    if len(_MARKDOWN.findall(beginning)) >= 2:
        found.append("markdown")
    # Two lines of prose may have a comma each.
    if beginning.count("\n") > _FEW and sign_of(beginning):
        found.append("table")
    return found
