"""The words of all languages that Holdfast reads and writes, asked for by name.

A language is a package here, with the same names as every other: `cues` has the patterns by which a sentence
shows what it states, `beginnings` those for how a clause begins, `words` lists of words, `phrases` patterns
of several words, `headings` what Holdfast writes itself. A new language is such a package, its line in
`LANGUAGES`, and a catalogue of translations.

Lists of words are separated by blanks; an underscore stands for a blank inside one. Phrases are alternatives
of a regular expression. A list is empty where a language has no such thing.
"""

from types import ModuleType
from typing import Any

from holdfast.text.lang import de, en
from holdfast.text.lang.shape import LanguageData, any_of

__all__ = [
    "LANGUAGES",
    "LOWER",
    "UPPER",
    "LanguageData",
    "any_of",
    "any_phrase",
    "any_word",
    "by_language",
    "merged_rows",
    "merged_table",
    "rows_of",
    "word_set",
    "words_of",
]

# Where a sentence could be of two languages, the first one here has it.
LANGUAGES: dict[str, ModuleType] = {"de": de, "en": en}


def by_language(name: str) -> dict[str, Any]:
    """Return something by the codes of the languages."""
    return {code: getattr(language, name) for code, language in LANGUAGES.items()}


def words_of(*names: str) -> str:
    """Return lists of words in all languages, as one list."""
    return " ".join(
        words if isinstance(words, str) else " ".join(words)
        for name in names
        for words in by_language(name).values()
    )


def word_set(*names: str) -> frozenset[str]:
    """Return the words of these lists in all languages, casefolded: "ß" is "ss"."""
    return frozenset(words_of(*names).casefold().split())


def any_word(*names: str) -> str:
    """Return a pattern for any word of these lists, in any language."""
    return any_of(words_of(*names))


def any_phrase(*names: str) -> str:
    """Return a pattern for any phrase of these names, in any language."""
    phrases = [phrase for name in names for phrase in by_language(name).values() if phrase]
    return f"(?:{'|'.join(phrases)})"


def rows_of(name: str) -> tuple[str, ...]:
    """Return a list whose places mean the same in every language, such as months, with all their words."""
    rows = zip(*by_language(name).values(), strict=True)
    return tuple(" ".join(dict.fromkeys(" ".join(row).split())) for row in rows)


def merged_table(name: str) -> dict[str, Any]:
    """Return a table that gives the words of all languages their meaning."""
    return {word: meaning for table in by_language(name).values() for word, meaning in table.items()}


def merged_rows(name: str) -> dict[str, str]:
    """Return a table of lists of words, each list with the words of all languages."""
    rows: dict[str, str] = {}
    for table in by_language(name).values():
        for meaning, words in table.items():
            rows[meaning] = f"{rows.get(meaning, '')} {words}".strip()
    return rows


# The letters of all languages, for use inside a character class.
UPPER = "A-Z" + "".join(by_language("CAPITAL_LETTERS").values())
LOWER = "a-z" + "".join(by_language("SMALL_LETTERS").values())
