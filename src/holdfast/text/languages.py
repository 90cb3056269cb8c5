"""All languages that Holdfast reads. A new one is a file in `lang` with the same lists, and a place here."""

from holdfast.text.lang import any_of, de, en

LANGUAGES = (en, de)


def words_of(name: str) -> str:
    """Return a list of words in all languages."""
    return " ".join(getattr(language, name) for language in LANGUAGES)


def any_word(name: str) -> str:
    """Return a pattern for any word of a list, in any language."""
    return any_of(words_of(name))
