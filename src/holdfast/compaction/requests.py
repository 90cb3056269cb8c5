"""Reads explicit requests to remember something: "remember that …", "merk dir das".

Looks at one message, and at the user's previous messages where it only refers to them. "Remember when …" and
"save the file" are no such requests.
"""

import re
from collections.abc import Sequence
from typing import Literal

from holdfast.text.lang import any_phrase, by_language
from holdfast.text.patterns import late
from holdfast.text.statements import is_doubtful, statements_in, without_particles
from holdfast.window.rules import own_sentences

MemoryKind = Literal["fact", "decision", "preference"]

# The longest sentence that is read as a request.
_LONGEST = 1_000

# What follows the request: a sentence, a German clause with its verb at the end, or only a thing.
_Form = Literal["sentence", "clause", "statement", "thing"]
_Pair = tuple[str, str]


def read_memory_requests(text: str, before: Sequence[str] = ()) -> list[tuple[MemoryKind, str]]:
    """Returns what the message asks to remember, each as a sentence of its own without the request.

    `before` are the previous messages of the same user, oldest first.
    """
    if not _HINT.search(text):
        return []
    requests: dict[str, tuple[MemoryKind, str]] = {}
    sentences = list(own_sentences(_unwrap(text), _LONGEST))
    for place, (sentence, masked) in enumerate(sentences):
        if _is_reference(masked):
            contents = [_end_sentence(content) for content in _resolve_reference(sentences, place, before)]
        else:
            request = _match_request(masked)
            contents = (
                [_request_content(sentence, *request)]
                if request is not None
                else _statement_before_request(sentence, masked)
            )
        for content in contents:
            requests.setdefault(content.casefold(), (_classify(content), content))
    return list(requests.values())


def is_memory_request(masked: str) -> bool:
    """Whether a sentence, with its quotes and code masked, asks to remember something."""
    return _match_request(masked) is not None or bool(_TRAILING_REQUEST.search(masked.replace("’", "'")))


def refers_back(text: str) -> bool:
    """Whether a message asks to remember something said before it."""
    return bool(_HINT.search(text)) and any(
        _is_reference(masked) for _, masked in own_sentences(_unwrap(text))
    )


def _unwrap(text: str) -> str:
    """Returns the text without quotes or a tag that a client put around all of it."""
    wrapped = _WRAPPED_TEXT.match(text)
    return next((group for group in wrapped.groups() if group), text) if wrapped else text


def _is_reference(masked: str) -> bool:
    """Whether a sentence asks to remember "this" without saying what."""
    return bool(_REFERENCE.match(masked.replace("’", "'")))


def _resolve_reference(sentences: Sequence[_Pair], place: int, before: Sequence[str]) -> list[str]:
    """Returns what "this" refers to: sentences before or after it in the message, or a previous message."""
    earlier = [pair for pair in sentences[:place] if not _is_reference(pair[1])]
    if earlier:
        return _choose_statements(earlier)
    later = [pair for pair in sentences[place + 1 :] if not pair[1].endswith("?")]
    if later:
        return [later[0][0]]
    return next(
        (
            statements
            for text in reversed(before)
            if (statements := _choose_statements(list(own_sentences(text, _LONGEST))))
        ),
        [],
    )


def _choose_statements(sentences: Sequence[_Pair]) -> list[str]:
    """Returns the sentences that state something, or the last one that is not a question."""
    plain = [(sentence, masked) for sentence, masked in sentences if not masked.rstrip().endswith("?")]
    stating = {statement.sentence for statement in statements_in(tuple(masked for _, masked in plain))}
    # In a long message, the end is meant.
    return [plain[at][0] for at in sorted(stating)[-3:]] or [sentence for sentence, _ in plain[-1:]]


def _statement_before_request(sentence: str, masked: str) -> list[str]:
    """Returns the statement before a request in the same sentence: "the code is 7788, remember that"."""
    behind = _TRAILING_REQUEST.search(masked.replace("’", "'"))
    if behind is None or len(sentence) != len(masked) or not behind.start():
        return []
    return [_end_sentence(without_particles(sentence[: behind.start()].strip(" ,;–-")))]


def _match_request(masked: str) -> tuple[_Form, int] | None:
    """Returns the form of the request and where its content begins; None if there is no request."""
    masked = masked.replace("’", "'")
    if masked.rstrip().endswith("?") and _REMINISCENCE.match(masked):
        return None
    for form, pattern in _REQUESTS:
        match = pattern.match(masked)
        if match:
            content = masked[match.end() :].strip(" .!?")
            whole = " " in content and not _EMPTY.match(content)
            # Behind a comma whatever is told counts: "Denk dran, die Tür klemmt"; not what is to be done.
            told = match[0].rstrip().endswith(",") and not is_doubtful(content) and not _TO_DO.search(content)
            if whole and (form != "statement" or told or statements_in((content,))):
                return form, match.end()
    return None


def _request_content(sentence: str, form: _Form, start: int) -> str:
    content = sentence[start:].strip(" ,:;").rstrip("?! ")
    whole = without_particles(sentence).rstrip("?! ")
    if form == "clause":
        return _end_sentence(_main_clause(content) or whole)
    return _end_sentence(whole if form == "thing" else content)


def _main_clause(clause: str) -> str:
    """Turns a German clause into a main clause, its verb after the subject; empty where that is risky."""
    body, comma, addition = clause.rstrip(". ").partition(",")
    subject = _SUBJECT.match(body)
    # Text after a comma may still belong before the verb, unless its first word says otherwise.
    if not subject or (comma and not _ADDED.match(addition)):
        return ""
    middle, _, verb = body[subject.end() :].rpartition(" ")
    if not middle or not _FINITE.fullmatch(verb) or _SEPARABLE.match(verb):
        return ""
    if _GOES_ON.match(middle) and not _PRONOUN.fullmatch(subject[0]):
        return ""
    return f"{subject[0]}{verb} {middle}{comma}{addition}"


def _classify(text: str) -> MemoryKind:
    kinds = [statement.kind for statement in statements_in((text,)) if statement.lasting]
    if not kinds or kinds[0] in ("fact", "failure"):
        return "fact"
    return "decision" if kinds[0] == "decision" else "preference"


def _end_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "…", ")", '"', "“")) else f"{text}."


_HINT = late(rf"(?i){any_phrase('REMEMBER_HINTS')}")
_WRAPPED_TEXT = late(
    r"\s*(?:\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|»([^«]+)«|'([^']+)'|<(?:user_?\w*|query|message|prompt"
    r"|input)>(.+)"
    r"</(?:user_?\w*|query|message|prompt|input)>)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
# References without content: "remember what we said", "merk dir das". An article with its noun,
# or a whole sentence about "this", has content.
_EMPTY = late(any_phrase("EMPTY_REFERENCES"))

_PLEASE = rf"(?:{any_phrase('REMEMBER_OPENINGS')}[,:!]* +){{0,3}}"
_LATER = rf"(?: {any_phrase('REMEMBER_FOR')})*"
_WHERE = rf"{any_phrase('REMEMBER_PLACES')}?"


def _request_pattern(text: str) -> re.Pattern[str]:
    return late(_PLEASE + text.replace("<later>", _LATER).replace("<where>", _WHERE), re.IGNORECASE)


_REQUESTS: tuple[tuple[_Form, re.Pattern[str]], ...] = tuple(
    (form, _request_pattern(text))
    for requests in by_language("REMEMBER_REQUESTS").values()
    for form, text in requests
)
_TO_DO = late(r"(?i)\b(?:zu \w+n|\w+zu\w+n)$|^to \w+")
_REMINISCENCE = late(rf"(?i){any_phrase('REMINISCENCES')}")
_END = rf"(?: {any_phrase('REMEMBER_ENDS')})*[.!]*$"
_POINT = any_phrase("REMEMBER_REFERENCES").replace("<later>", _LATER).replace("<where>", _WHERE)
# The whole sentence is the request.
_REFERENCE = _request_pattern(rf"{_POINT}{_END}")
# The request follows its content.
_TRAILING_REQUEST = late(rf"(?i)(?:[,;–]|\s-)\s+{_PLEASE}{_POINT}{_END}")

_SUBJECT = late(any_phrase("CLAUSE_SUBJECTS") + " ")
_FINITE = late(any_phrase("CLAUSE_VERBS"))
_SEPARABLE = late(any_phrase("CLAUSE_SEPARABLE"))
# A reason, a condition, an exception: the clause before it is complete.
_ADDED = late(rf"(?i) {any_phrase('CLAUSE_ADDITIONS')}\b")
_PRONOUN = late(rf"(?i:{any_phrase('CLAUSE_PRONOUNS')}) ")
# "die Frau von Peter …": the subject goes on.
_GOES_ON = late(rf"(?i){any_phrase('CLAUSE_GOES_ON')} ")
