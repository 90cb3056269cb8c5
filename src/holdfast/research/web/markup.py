"""Markup taken off, by code that reads it once from front to end, however it was made to keep us busy.

For XML, and for pages from which nothing better could be got. Knows nothing of what matters on a page.
"""

import re
from html import unescape

# A tag ends before the next one begins, so no sign is looked at twice.
_MARK = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|<[/!?]?([a-zA-Z][\w:.-]*+)[^<>]*>|<[!?][^<>]*>")
# What is between these is not for readers.
_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head", "iframe", "object"})
# These stand in the middle of a line.
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "cite",
        "code",
        "data",
        "dfn",
        "em",
        "font",
        "i",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,2000})", re.IGNORECASE)
_BLANK = re.compile(r"[^\S\n]+")
_LONGEST_TITLE = 300


def strip_tags(markup: str) -> str:
    """The text of a page without its tags, one line for what stands in one."""
    kept: list[str] = []
    done = 0
    hidden = ""
    for mark in _MARK.finditer(markup):
        before, done = markup[done : mark.start()], mark.end()
        name = (mark[1] or "").lower()
        closes = mark[0].startswith("</")
        if hidden:
            if mark[0] == hidden or (closes and name == hidden):
                hidden = ""
            continue
        kept.append(before)
        if mark[0] == "<!--":
            hidden = "-->"
        elif name in _HIDDEN and not closes and not mark[0].endswith("/>"):
            hidden = name
        elif name and name not in _INLINE:
            kept.append("\n")
    if not hidden:
        kept.append(markup[done:])
    return tidy(unescape("".join(kept)))


def find_title(markup: str) -> str:
    found = _TITLE.search(markup)
    return one_line(unescape(found[1])) if found else ""


def one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_TITLE]


def tidy(text: str) -> str:
    """Without blanks at the ends of lines and without empty lines in a row."""
    lines = (_BLANK.sub(" ", line).strip() for line in text.replace("\0", "").splitlines())
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip()
