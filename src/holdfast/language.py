"""German or English: every sentence a person reads is written in both, side by side, where it is said.

Errors of the protocols stay English, as clients of those protocols expect.
"""

import locale
from contextlib import suppress
from contextvars import ContextVar
from typing import Literal

Language = Literal["en", "de"]

_current: ContextVar[Language] = ContextVar("language", default="en")


def speak(language: str) -> None:
    """Sets the language for this context: `en`, `de`, or `auto` for that of the person's locale."""
    _current.set(_of_locale() if language == "auto" else "de" if language == "de" else "en")


def say(en: str, de: str) -> str:
    return de if _current.get() == "de" else en


def _of_locale() -> Language:
    with suppress(locale.Error):
        # Python takes over only the character set of the person's locale by itself.
        locale.setlocale(locale.LC_MESSAGES, "")
    name = locale.getlocale(locale.LC_MESSAGES)[0] or ""
    return "de" if name.lower().startswith(("de", "german")) else "en"
