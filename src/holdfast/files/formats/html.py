"""A page of HTML as text with Markdown headings, in one pass by patterns.

For a digest or a quick look. It does not tell what matters on a page from what stands around it.
"""

import re
from html import unescape

from holdfast.patterns import late

_HIDDEN = late(
    r"<!--.*?(?:-->|\Z)|<(script|style|noscript|template|svg|head)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TITLE = late(r"<title\b[^<>]*>([^<]*)", re.IGNORECASE)
_HEADING = late(r"<h([1-6])\b[^<>]*>", re.IGNORECASE)
_ITEM = late(r"<li\b[^<>]*>", re.IGNORECASE)
_BREAK = late(
    r"</?(?:p|div|br|hr|h[1-6]|ul|ol|dl|dt|dd|li|tr|table|section|article|header|footer|nav|main|aside|pre|blockquote|form"
    r"|figure|figcaption|address|option)\b[^<>]*>",
    re.IGNORECASE,
)
_CELL = late(r"</t[dh]\s*>", re.IGNORECASE)
_TAG = late(r"</?[a-zA-Z!?][^<>]*>")
_BLANKS = late(r"[ \t\r\f\v\xa0]+")
_GAPS = late(r"\n\s*\n\s*")


def readable(page: str) -> str:
    title = _TITLE.search(page)
    text = _HIDDEN.sub(" ", page)
    text = _HEADING.sub(lambda found: "\n\n" + "#" * int(found[1]) + " ", text)
    text = _CELL.sub(" | ", _BREAK.sub("\n", _ITEM.sub("\n- ", text)))
    text = unescape(_TAG.sub("", text))
    lines = (_BLANKS.sub(" ", line).strip(" ") for line in text.split("\n"))
    body = _GAPS.sub("\n\n", "\n".join(lines)).strip()
    named = " ".join(unescape(title[1]).split()) if title else ""
    return f"{named}\n\n{body}" if named else body
