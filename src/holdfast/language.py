"""German or English: every sentence a person reads is written in both, side by side, where it is said.

Errors of the protocols stay English, as clients of those protocols expect. What we tell people inside an
answer, because their client shows nothing else of us, is marked as ours: models and searches never see it.
"""

import locale
import re
from contextlib import suppress
from contextvars import ContextVar
from typing import Literal

Language = Literal["en", "de"]

_BANNER = re.compile(r"\n*⟦Holdfast: [^⟧]*⟧\n*")

_current: ContextVar[Language] = ContextVar("language", default="en")


def speak(language: str) -> None:
    """Sets the language for this context: `en`, `de`, or `auto` for that of the person's locale."""
    _current.set(_of_locale() if language == "auto" else "de" if language == "de" else "en")


def say(en: str, de: str) -> str:
    return de if _current.get() == "de" else en


def banner(text: str) -> str:
    """A line of ours in an answer. It is never sent to a model again."""
    return f"⟦Holdfast: {text.replace('⟧', ')')}⟧"


def without_banners(text: str) -> str:
    """The answer alone. What stood before and after a line of ours stays apart."""

    def between(found: re.Match[str]) -> str:
        return "\n\n" if found.start() > 0 and found.end() < len(text) else ""

    return _BANNER.sub(between, text) if "⟦Holdfast: " in text else text


def _of_locale() -> Language:
    with suppress(locale.Error):
        # Python takes over only the character set of the person's locale by itself.
        locale.setlocale(locale.LC_MESSAGES, "")
    name = locale.getlocale(locale.LC_MESSAGES)[0] or ""
    return "de" if name.lower().startswith(("de", "german")) else "en"
