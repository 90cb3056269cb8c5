"""Reads explicit requests to remember something: "remember that …", "merk dir das".

Looks at one message, and at the user's previous messages where it only refers to them. "Remember when …" and
"save the file" are no such requests.
"""

import re
from collections.abc import Sequence
from typing import Literal

from holdfast.patterns import late
from holdfast.text.statements import statements_in, without_particles
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
    stating = {statement.sentence for statement in statements_in([masked for _, masked in plain])}
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
    for form, pattern in _REQUESTS:
        match = pattern.match(masked)
        if match:
            content = masked[match.end() :].strip(" .!?")
            whole = " " in content and not _EMPTY.match(content)
            if whole and (form != "statement" or statements_in([content])):
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
    kinds = [statement.kind for statement in statements_in([text]) if statement.lasting]
    if not kinds or kinds[0] in ("fact", "failure"):
        return "fact"
    return "decision" if kinds[0] == "decision" else "preference"


def _end_sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "…", ")", '"', "“")) else f"{text}."


_HINT = late(
    r"(?i)remember|memor|in mind|forget|\bnote|\bmerk|vergiss|speicher|notier|denke? (?:\w+ )?da?ran|behalt"
    r"|schreibe? (?:\w+ )?(?:dir|auf)|\bsave|\bstore|write (?:this|that|it)? ?down|jot|festhalt|halte? "
    r"|record\b"
    r"|für später|for later|for future|abspeicher"
)
_WRAPPED_TEXT = late(
    r"\s*(?:\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|»([^«]+)«|'([^']+)'|<(?:user_?\w*|query|message|prompt"
    r"|input)>(.+)"
    r"</(?:user_?\w*|query|message|prompt|input)>)\s*\Z",
    re.DOTALL | re.IGNORECASE,
)
# References without content: "remember what we said", "merk dir das für später". An article with its noun,
# or a whole sentence about "this", has content.
_EMPTY = late(
    r"(?i:what|was|wie|how|who|wer|wo|where|when|to|zu|the time|that time)\b"
    r"|(?i:das|dies|es)\b(?! (?:[a-zäöüß]+ )?[A-ZÄÖÜ])(?!(?: \S+){4})"
    r"|(?i:this|that|it)\b(?!(?: \S+){3})"
)

_PLEASE = (
    r"(?:(?:please|pls|and|also|ok|okay|oh|hey|btw|by the way|can you|could you|will you|would you"
    r"|I want you to|I need you to|you should|bitte|und|auch|ach|noch was|noch etwas|kannst du|könntest du"
    r"|würdest du|du sollst|ach ja|übrigens|wichtig|important|so|also)[,:!]* +){0,3}"
)
_LATER = (
    r"(?: (?:for later|for the future|for next time|from now on|always|für später|für die zukunft"
    r"|fürs nächste mal|bitte|doch|mal|gut|unbedingt|auch|noch|down|please))*"
)
_WHERE = (
    r"(?: (?:to|in|into) (?:your |the |my )?(?:long-term )?memory"
    r"| in(?: deine[mn]|s|m)? (?:gedächtnis|speicher))?"
)
_REMEMBER = r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|memori[sz]e)"
_WRITE = (
    r"(?:save|store|note(?: down)?|write down|jot down|record|put on record|make a note of|take a note of)"
)
_MERKE = (
    r"(?:merke? dir|merken sie sich|dir (?:bitte )?merken|notiere? dir|speichere?(?: dir)?(?: ab)?|notiere?"
    r"|behalte?(?: dir)?|vergiss(?: bitte)? nicht|denke? (?:bitte )?da?ran|schreibe? dir(?: bitte)? auf"
    r"|halte? fest"
    r"|behalte? (?:bitte )?im (?:hinter)?kopf)"
)
_THIS = r"(?: (?:this|that|it|the following|these))"
_DAS = r"(?: (?:das|dies|folgendes|es|alles))"


def _request_pattern(text: str) -> re.Pattern[str]:
    return late(_PLEASE + text, re.IGNORECASE)


_REQUESTS: tuple[tuple[_Form, re.Pattern[str]], ...] = (
    ("sentence", _request_pattern(rf"{_REMEMBER}{_LATER}{_WHERE} that (?!time|day|night|one|when|thing)")),
    ("sentence", _request_pattern(rf"(?:{_REMEMBER}|{_WRITE}){_LATER}{_THIS}?{_LATER}{_WHERE}: ?")),
    ("sentence", _request_pattern(r"remember to (?=(?:always|never|only)\b)")),
    (
        "sentence",
        _request_pattern(r"(?:make|take) (?:a )?note(?: of)?(?: this| the following)?(?::| that) ?"),
    ),
    (
        "sentence",
        _request_pattern(r"note(?: down)?(?: this)? for (?:later|the future|next time)(?::|,? that) ?"),
    ),
    (
        "sentence",
        _request_pattern(
            r"(?:for (?:the record|later|future reference)|für später|zum merken|fürs protokoll): ?"
        ),
    ),
    (
        "sentence",
        _request_pattern(
            r"(?:save|store|add|put|write)(?: this| the following)? (?:to|in|into) \w* ?memory(?::| that) ?"
        ),
    ),
    ("clause", _request_pattern(rf"{_MERKE}{_LATER}{_WHERE},? dass ")),
    ("sentence", _request_pattern(rf"{_MERKE}{_LATER}{_DAS}?{_LATER}{_WHERE}: ?")),
    ("statement", _request_pattern(rf"{_REMEMBER}{_LATER}{_WHERE},? (?!to\b|when\b|the time\b)")),
    (
        "statement",
        _request_pattern(
            rf"{_MERKE}{_LATER}, (?=(?:ich|wir|meine?|unsere?|bei uns|der|die|das|[A-ZÄÖÜ]\w+) )"
        ),
    ),
    # "merk dir meinen Geburtstag: 3. Mai", "remember the number 4711"
    ("thing", _request_pattern(rf"merke? dir{_LATER} (?=(?:den|die|das|meine?n?|unsere?n?) .*\d)")),
    ("thing", _request_pattern(rf"(?:remember|memori[sz]e){_LATER} (?=(?:the|my|our) .*\d)")),
)
_END = (
    r"(?: (?:for me|for later|for the future|for next time|für mich|für später|gut|bitte|please|ok|okay|down"
    r"|somewhere|irgendwo))*[.!]*$"
)
_POINT = (
    rf"(?:(?:{_REMEMBER}|{_WRITE}){_LATER}{_THIS}{_WHERE}|keep{_THIS} in mind|write{_THIS} down"
    rf"|note{_THIS}(?: down)?"
    rf"|make a note(?: of{_THIS})?|{_MERKE}{_LATER}{_DAS}?{_WHERE}|(?:das|dies)(?: bitte)? merken"
    rf"|schreibe? dir{_DAS}(?: bitte)? auf"
    rf"|halte?{_DAS}(?: bitte)? fest|behalte?{_DAS}(?: bitte)? im (?:hinter)?kopf"
    rf"|dir{_DAS}(?: bitte)? (?:merken|notieren|aufschreiben)|notiere?{_DAS})"
)
# The whole sentence is the request.
_REFERENCE = _request_pattern(rf"{_POINT}{_END}")
# The request follows its content.
_TRAILING_REQUEST = late(rf"(?i)(?:[,;–]|\s-)\s+{_PLEASE}{_POINT}{_END}")

_SUBJECT = late(
    r"(?:(?i:ich|wir|er|es|man)|(?i:meine?|unsere?|der|die|das|eine?) (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\w-]+"
    r"|(?:Frau|Herr|Dr\.|Prof\.) [A-ZÄÖÜ][\w-]+|[A-ZÄÖÜ][a-zäöüß]+) "
)
_FINITE = late(r"[a-zäöüß]+(?:t|e|st|en)|bin|sind|war|kann|muss|darf|soll|will|mag|wird")
_SEPARABLE = late(
    r"(?:ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|zu|zurück|zusammen|teil"
    r"|statt)[a-zäöüß]{3,}"
)
# A reason, a condition, an exception: the clause before it is complete.
_ADDED = late(
    r"(?i) (?:weil|da|denn|wegen|damit|obwohl|trotz|außer|ausgenommen|wenn|falls|solange|sobald|seit|bis|um"
    r"|ohne|und zwar|nämlich|es sei denn)\b"
)
_PRONOUN = late(r"(?i:ich|wir|er|es|man) ")
# "die Frau von Peter …": the subject goes on.
_GOES_ON = late(
    r"(?i)(?:von|vom|des|der|aus|für|bei|im|in|am|an|auf|mit|und|oder|zur|zum|unserer|meiner|unseres|meines) "
)
