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

_BANNER = re.compile(r"(?:(?<!\n)\n+)?⟦Holdfast: [^⟦⟧]*⟧\n*")

_current: ContextVar[Language] = ContextVar("language", default="en")


def speak(language: str, locale_name: str = "") -> None:
    """Sets the language for this context: `en`, `de`, or `auto` for that of the person's locale.

    `locale_name` is what the environment calls it; it need not be installed here.
    """
    wanted = (locale_name or _of_system()).lower() if language == "auto" else language
    _current.set("de" if wanted.startswith(("de", "german")) else "en")


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


def _of_system() -> str:
    with suppress(locale.Error):
        # Python takes over only the character set of the person's locale by itself.
        locale.setlocale(locale.LC_CTYPE, "")
    return locale.getlocale(locale.LC_CTYPE)[0] or ""
