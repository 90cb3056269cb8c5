"""What scripts say to people, one table a page; templates say the rest where it stands."""

from importlib import import_module

from holdfast.i18n import translate
from holdfast.server.pages.words import core, meter, palette


def words_of(page: str) -> dict[str, str]:
    """Return the words of a page and those of all pages, in the language of this context."""
    own = import_module(f"{__name__}.{page}")
    table = {**core.WORDS, **meter.WORDS, **palette.WORDS, **own.WORDS}
    words = {name: translate(text) for name, text in table.items()}
    for prefix, (describe, names) in (meter.NAMES | getattr(own, "NAMES", {})).items():
        words |= {f"{prefix}_{name}": describe(name) for name in names}
    return words
