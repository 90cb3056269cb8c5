"""Words for the meter, which stands on several pages: sections, levels and marks as `window` says them."""

from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import TypeVar

from holdfast.i18n import speak
from holdfast.window import sentences
from holdfast.window.decisions import LEVEL_OF

Name = TypeVar("Name", int, str)

SECTIONS = (
    "tools", "system", "profile", "summary", "history", "question", "files", "recalled", "research",
    "reserve",
)  # fmt: skip
MARKS = ("1", "2", "3 ahead", "3")


def both(prefix: str, render: Callable[[Name], str], names: Iterable[Name]) -> dict[str, tuple[str, str]]:
    """What `said` makes of each name, English and German."""

    def render_in(language: str, name: Name) -> str:
        speak(language)
        return render(name)

    # In a context of its own: whoever asks goes on in the language they spoke.
    return {
        f"{prefix}_{name}": (
            copy_context().run(render_in, "en", name),
            copy_context().run(render_in, "de", name),
        )
        for name in names
    }


WORDS: dict[str, tuple[str, str]] = {
    "meter": (
        "Window of {window} tokens, {used} used, {reserve} kept for the answer.",
        "Fenster von {window} Tokens, {used} belegt, {reserve} für die Antwort frei gehalten.",
    ),
    "meter_short": ("{used} of {room} tokens", "{used} von {room} Tokens"),
    "section_free": ("free", "frei"),
    **both("section", sentences.section, SECTIONS),
    **both("level", sentences.level, sorted(set(LEVEL_OF.values()))),
    **both("mark", sentences.mark, MARKS),
}
