"""A page of the web as its title and the text a reader came for, without what stands around it.

Thorough and slow; `html` beside it is neither. Pages can be made to keep it busy for hours: see `reader`.
"""

import re

from holdfast.patterns import late

# Chains of these take the library a time that grows with their square, and say nothing about a text.
_SPAN = late(r"</?(?:span|font)(?:\s[^<>]*)?>", re.IGNORECASE)
_MANY = 2_000


def article_of(markup: str) -> tuple[str, str]:
    """Title and main text, empty where there is none."""
    import trafilatura

    if len(_SPAN.findall(markup)) > _MANY:
        markup = _SPAN.sub("", markup)
    found = trafilatura.bare_extraction(markup, with_metadata=True, include_comments=False)
    if found is None or isinstance(found, dict):
        return "", ""
    return found.title or "", found.text or ""
