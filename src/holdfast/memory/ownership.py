"""Whose a memory is that was said in a project: the person's, or the project's.

What is about the person goes with them into every project; what is about the repository stays with it. No
model is asked: a sentence in the first person, or one about how to answer, is about the person.
"""

import re

from holdfast.memory.base import Kind
from holdfast.memory.scopes import owner
from holdfast.messages import BoundScope, Scope
from holdfast.text.lang import any_phrase, any_word
from holdfast.text.patterns import late

# Code and quotes are not the person's own words.
_QUOTED = late(r"`[^`]*`|\"[^\"]*\"|„[^„“”]*[“”]")
_PERSON = late(rf"\b{any_word('PERSONAL_PRONOUNS')}\b|^{any_phrase('PERSON_REFERENCES')}", re.IGNORECASE)
_REPOSITORY = late(rf"\b{any_word('REPOSITORY_WORDS')}\b", re.IGNORECASE)
_ANSWERS = late(rf"\b{any_phrase('ANSWERS')}|\b{any_word('ANSWER_LANGUAGES')}\b", re.IGNORECASE)


def place_memory(scope: Scope, kind: Kind, text: str) -> tuple[Scope, Kind]:
    """Return the owner of a memory that was said in a scope, and the kind it is there.

    A rule of a project is a decision there, since preferences belong to people. Who is bound to a project
    cannot speak for the person, so all they say is the project's.
    """
    if scope.kind == "group" or scope == Scope(scope.user):
        return owner(scope, kind), kind
    if not isinstance(scope, BoundScope) and is_personal(kind, text):
        return Scope(scope.user), kind
    return scope, "decision" if kind == "preference" else kind


def is_personal(kind: Kind, text: str) -> bool:
    """Whether a text is about the person, and not about the repository they work in."""
    words = _QUOTED.sub(" ", text)
    if _REPOSITORY.search(words):
        return False
    return bool(_PERSON.search(words)) or (kind == "preference" and bool(_ANSWERS.search(words)))
