"""What binds the future in what a person wrote: rules, prohibitions and decisions, word for word.

Only a person's own words count, not what they quote or paste. What a sentence states is told by its grammar.
"""

from collections.abc import Callable

from holdfast.text.statements import Statement, statements_in
from holdfast.window.own_words import own_sentences


def rules_in(text: str) -> tuple[str, ...]:
    """The sentences that say how things are to be done from now on, prohibitions included."""
    return _sentences(text, lambda one: one.lasting and (one.kind in ("rule", "prohibition") or _binds(one)))


def _binds(one: Statement) -> bool:
    return one.binding and one.kind != "decision"


def forbidden_in(text: str) -> tuple[str, ...]:
    """The sentences that forbid something or say that it failed; where it is not sure, they count."""
    return _sentences(text, lambda one: one.kind in ("prohibition", "failure"))


def decisions_in(text: str) -> tuple[str, ...]:
    """The sentences that say what was decided."""
    return _sentences(text, lambda one: one.kind == "decision")


def _sentences(text: str, wanted: Callable[[Statement], bool]) -> tuple[str, ...]:
    sentences = list(own_sentences(text))
    found = statements_in([masked for _, masked in sentences])
    return tuple(dict.fromkeys(sentences[one.sentence][0] for one in found if wanted(one)))
