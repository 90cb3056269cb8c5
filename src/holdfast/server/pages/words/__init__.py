"""What scripts say to people, in both languages, one table a page; templates say the rest where it stands."""

from importlib import import_module

from holdfast.i18n import say
from holdfast.server.pages.words import core, meter

Table = dict[str, tuple[str, str]]


def words_of(page: str) -> dict[str, str]:
    """The words of a page and those of all pages, in the language that is spoken now."""
    table: Table = {**core.WORDS, **meter.WORDS, **import_module(f"{__name__}.{page}").WORDS}
    return {name: say(en, de) for name, (en, de) in table.items()}
