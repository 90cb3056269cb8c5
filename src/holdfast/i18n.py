"""Translations. Sentences are English in the code; `locales/de/LC_MESSAGES/holdfast.po` has the German ones.

    _("{name} was deleted.").format(name=name)              the reader is known: translate now
    ngettext("{n} file", "{n} files", n).format(n=n)        a number decides
    pgettext("menu", "Memory")                              one English word with two meanings
    lazy("There is no key {name}.", name=name)              the reader is not known yet; `translate` later

The `.po` file is read directly, when the first sentence is translated, so there is no build step to forget.
Errors of the protocols stay English, as clients of those protocols expect. Notices inside an answer, for
clients that show nothing else of Holdfast, are marked as ours: models and searches never see them.
"""

import json
import locale
import re
import string
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, Self

Language = Literal["en", "de"]
LANGUAGES: tuple[Language, ...] = ("en", "de")
# How the names of locales begin.
_PREFIXES: dict[str, Language] = {"de": "de", "german": "de"}

# Between the context and the text of a message, as in compiled catalogues of gettext.
CONTEXT_END = "\x04"

_GERMAN_MARKS = str.maketrans(",.", ".,")

_BANNER = re.compile(r"(?:(?<!\n)\n+)?⟦Holdfast: [^⟦⟧]*⟧\n*")

_current: ContextVar[Language] = ContextVar("language", default="en")


def speak(language: str, locale_name: str = "") -> None:
    """Sets the language for this context: `en`, `de`, or `auto` for that of the person's locale.

    `locale_name` is what the environment calls it; it need not be installed here.
    """
    _current.set(match_language((locale_name or _of_system()) if language == "auto" else language))


def match_language(name: str) -> Language:
    """Return the language of a locale (`de_AT`, `German_Austria`) or a browser's header; else English."""
    return next((code for prefix, code in _PREFIXES.items() if name.lower().startswith(prefix)), "en")


def current_language() -> Language:
    """Return the language of this context."""
    return _current.get()


def gettext(message: str) -> str:
    """Translate a message; imported as `_`. One without a translation stays English."""
    return _find_text(_current.get(), message)


def pgettext(context: str, message: str) -> str:
    """Translate a message whose English has several translations, depending on the context."""
    return _find_text(_current.get(), message, context)


def ngettext(singular: str, plural: str, number: int) -> str:
    """Translate a message in the form for this number."""
    return _find_form(_current.get(), singular, plural, number)


class _GermanNumbers(string.Formatter):
    """Fills a form with numbers as German writes them: `{n:,}` becomes 1.234."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = str(super().format_field(value, format_spec))
        return text.translate(_GERMAN_MARKS) if isinstance(value, int | float) and format_spec else text


_GERMAN_NUMBERS = _GermanNumbers()


class GermanForm(str):
    """A translated message, whose `format` writes numbers with the marks of its language."""

    __slots__ = ()

    def format(self, *values: object, **named: object) -> str:
        return _GERMAN_NUMBERS.vformat(self, values, named)


class LazyText(str):
    """An English sentence that `translate` gives in another language later; a string in all else."""

    __slots__ = ("context", "number", "plural", "template", "values")

    template: str
    plural: str
    number: int
    context: str
    values: dict[str, Any]

    def __new__(
        cls, template: str, values: dict[str, Any], plural: str = "", number: int = 1, context: str = ""
    ) -> Self:
        english = plural if plural and number != 1 else template
        text = super().__new__(cls, english.format(**values) if values else english)
        text.template, text.values = template, values
        text.plural, text.number, text.context = plural, number, context
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.values, self.plural, self.number, self.context

    def in_language(self, language: Language) -> str:
        if self.plural:
            form = _find_form(language, self.template, self.plural, self.number)
        else:
            form = _find_text(language, self.template, self.context)
        values = {
            name: value.in_language(language) if isinstance(value, LazyText) else value
            for name, value in self.values.items()
        }
        return form.format(**values) if values else form


def lazy(message: str, /, **values: object) -> LazyText:
    """Mark a message that is translated when its reader is known; `values` fill its placeholders."""
    return LazyText(message, values)


def lazy_context(context: str, message: str, /, **values: object) -> LazyText:
    return LazyText(message, values, context=context)


def lazy_plural(singular: str, plural: str, number: int, /, **values: object) -> LazyText:
    return LazyText(singular, values, plural, number)


def translate(text: str) -> str:
    """Translate a lazy text, or a plain one that is a message as it stands; any other text stays as it is."""
    return in_language(text, _current.get())


def in_language(text: str, language: Language) -> str:
    return text.in_language(language) if isinstance(text, LazyText) else _find_text(language, text)


def in_all_languages(text: str) -> list[str]:
    """Return a text in every language, in the order of `LANGUAGES`, for what is stored and read later."""
    return [in_language(text, language) for language in LANGUAGES]


def pick(texts: Sequence[str]) -> str:
    """Return the text for the language of this context from what `in_all_languages` made."""
    return texts[LANGUAGES.index(_current.get())]


def localize_number(number: str) -> str:
    """Write a number with the marks of the language: `1,234.5` is `1.234,5` in German."""
    return number.translate(_GERMAN_MARKS) if _current.get() == "de" else number


def _find_text(language: Language, message: str, context: str = "") -> str:
    if language == "en":
        return message
    key = f"{context}{CONTEXT_END}{message}" if context else message
    return load_catalogue(language).get(key, (message,))[0]


def _find_form(language: Language, singular: str, plural: str, number: int) -> str:
    forms = (
        (singular, plural) if language == "en" else load_catalogue(language).get(singular, (singular, plural))
    )
    # The rule of both languages; one that counts otherwise brings its own.
    return forms[number != 1]


@cache
def load_catalogue(language: Language) -> dict[str, tuple[str, ...]]:
    """Load the translations of a language by English text; several for messages with a number."""
    # Imported late: a command that speaks English starts faster without it.
    from importlib.resources import files

    path = files("holdfast") / "locales" / language / "LC_MESSAGES" / "holdfast.po"
    entries = read_po(path.read_text("utf-8").splitlines())
    return {message: tuple(map(GermanForm, forms)) for message, forms in entries}


def read_po(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Read the messages of a `.po` file, without its header and what is marked fuzzy or obsolete."""
    entry: dict[str, str] = {}
    fuzzy = False
    field = ""
    for line in (*lines, ""):
        if line.startswith("#"):
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
        elif line.startswith('"'):
            entry[field] += json.loads(line)
        elif line:
            field, _, text = line.partition(" ")
            entry[field] = json.loads(text)
        else:
            forms = tuple(text for name, text in entry.items() if name.startswith("msgstr"))
            if entry.get("msgid") and all(forms) and not fuzzy:
                context = f"{entry['msgctxt']}{CONTEXT_END}" if "msgctxt" in entry else ""
                yield context + entry["msgid"], forms
            entry, fuzzy = {}, False


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
