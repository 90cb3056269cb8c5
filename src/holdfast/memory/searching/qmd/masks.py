"""Which files of a folder belong to a collection: patterns as QMD has them, for who must check a path.

Knows `*`, `?`, `**/`, alternatives in braces, and `!(a|b)` for a name that is none of these. Touches no file.
"""

import re
from functools import lru_cache

# Everything Markdown, and of a scope's own folder what belongs to nobody else and was not put away.
EVERY_MASK = "**/*.{md,markdown}"
OWN_MASK = "{*,!(archive|conversations|projects)/**/*}.{md,markdown}"

_TOKEN = re.compile(r"\*\*/|\*|\?|!\(([^()/]*)\)|\{|\}|,|.", re.DOTALL)
_MEANING = {"**/": r"(?:[^/]+/)*", "*": r"[^/]*", "?": r"[^/]", "{": "(?:", "}": ")"}


def matches_mask(mask: str, path: str) -> bool:
    return _compile_mask(mask).fullmatch(path) is not None


def has_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?{[")


def escape_mask(name: str) -> str:
    """A mask for this one name, whatever signs are in it."""
    return re.sub(r"[*?{}\[\](),!|\\]", "?", name)


@lru_cache
def _compile_mask(mask: str) -> re.Pattern[str]:
    found, depth = "", 0
    for token in _TOKEN.finditer(mask):
        text = token[0]
        depth += (text == "{") - (text == "}")
        if token[1] is not None:
            found += rf"(?!(?:{'|'.join(map(re.escape, token[1].split('|')))})(?:/|$))[^/]*"
        elif text == "," and depth:
            found += "|"
        else:
            found += _MEANING.get(text) or re.escape(text)
    return re.compile(found, re.DOTALL)
