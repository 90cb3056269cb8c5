"""What a person asks to be remembered in so many words: "remember that …", "merk dir, dass …".

It reads one message and gives texts; it does not know where they are written. "Remember when …" and "save
the file" are no such wishes.
"""

import re
from typing import Literal

from holdfast.compaction.lines import Kind
from holdfast.compaction.statements import OPENING, statement_in
from holdfast.patterns import late
from holdfast.window.own_words import own_sentences
from holdfast.window.rules import decisions_in, rules_in

# Who asks for something to be remembered may need many words for it.
_LONGEST = 1_000

# What follows the asking: a sentence, a German clause with its verb at the end, or only a thing.
_Form = Literal["sentence", "clause", "thing"]


def remembered(text: str) -> list[tuple[Kind, str]]:
    """What the message asks to be remembered, without the asking, each as a sentence that stands alone."""
    if not _HINT.search(text):
        return []
    found: dict[str, tuple[Kind, str]] = {}
    for sentence, masked in own_sentences(text, _LONGEST):
        wish = _wish(masked)
        if wish is not None:
            told = _told(sentence, *wish)
            found.setdefault(told.casefold(), (_kind(told), told))
    return list(found.values())


def is_asked(masked: str) -> bool:
    """Whether a sentence, its quotes and code hidden, is such a wish."""
    return _wish(masked) is not None


def _wish(masked: str) -> tuple[_Form, int] | None:
    """What form the wish has, and where its content begins."""
    masked = masked.replace("’", "'")
    for form, pattern in _WISHES:
        match = pattern.match(masked)
        if match:
            content = masked[match.end() :].strip(" .!?")
            return (form, match.end()) if " " in content and not _EMPTY.match(content) else None
    return None


def _told(sentence: str, form: _Form, start: int) -> str:
    content = sentence[start:].strip(" ,:;").rstrip("?! ")
    opening = OPENING.match(sentence)
    whole = sentence[opening.end() if opening else 0 :].rstrip("?! ")
    if form == "clause":
        return _ended(_main_clause(content) or whole)
    return _ended(content if form == "sentence" else whole)


def _main_clause(clause: str) -> str:
    """A German clause as a sentence, its verb behind the subject; empty where that is risky."""
    body, comma, more = clause.rstrip(". ").partition(",")
    subject = _SUBJECT.match(body)
    # What follows a comma may still belong before the verb, unless its first word says otherwise.
    if not subject or (comma and not _ADDED.match(more)):
        return ""
    rest, _, verb = body[subject.end() :].rpartition(" ")
    if not rest or not _FINITE.fullmatch(verb) or _SEPARABLE.match(verb):
        return ""
    if _GOES_ON.match(rest) and not _PRONOUN.fullmatch(subject[0]):
        return ""
    return f"{subject[0]}{verb} {rest}{comma}{more}"


def _kind(text: str) -> Kind:
    if rules_in(text):
        return "preference"
    statement = statement_in(text)
    if statement is not None:
        return statement.kind
    return "decision" if decisions_in(text) else "fact"


def _ended(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "…", ")", '"', "“")) else f"{text}."


_HINT = late(
    r"(?i)remember|memor|in mind|forget|\bnote|\bmerk|vergiss|speicher|notier|denke? (?:bitte )?daran|behalt"
    r"|schreibe? dir"
)
# What only points at something else: "remember what we said", "merk dir das für später". An article with its
# noun, or a whole sentence about "this", says something.
_EMPTY = late(
    r"(?i:what|was|wie|how|who|wer|wo|where)\b"
    r"|(?i:das|dies|es)\b(?! (?:[a-zäöüß]+ )?[A-ZÄÖÜ])(?!(?: \S+){4})"
    r"|(?i:this|that|it)\b(?!(?: \S+){3})"
)

_PLEASE = (
    r"(?:(?:please|pls|and|also|ok|okay|oh|hey|btw|by the way|can you|could you|will you|would you"
    r"|I want you to|I need you to|you should|bitte|und|auch|ach|noch was|noch etwas|kannst du|könntest du"
    r"|würdest du|du sollst|ach ja|übrigens|wichtig)[,:!]* +){0,3}"
)
_LATER = (
    r"(?: (?:for later|for the future|for next time|from now on|always|für später|für die zukunft"
    r"|fürs nächste mal|bitte|doch|mal|gut|unbedingt|auch|noch))*"
)
_WHERE = (
    r"(?: (?:to|in|into) (?:your |the |my )?(?:long-term )?memory"
    r"| in(?: deine[mn]|s|m)? (?:gedächtnis|speicher))?"
)
_REMEMBER = r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|memori[sz]e)"
_MERKE = (
    r"(?:merke? dir|merken sie sich|dir (?:bitte )?merken|notiere? dir|speichere?(?: dir)?|notiere?"
    r"|behalte?(?: dir)?|vergiss(?: bitte)? nicht|denke? (?:bitte )?daran|schreibe? dir(?: bitte)? auf)"
)
_VERB = r"(?:am|is|are|was|have|has|use|uses|like|prefer|work|works|live|lives|need|hate|love|can't|don't)\b"


def _asking(text: str) -> re.Pattern[str]:
    return late(_PLEASE + text, re.IGNORECASE)


_WISHES: tuple[tuple[_Form, re.Pattern[str]], ...] = (
    ("sentence", _asking(rf"{_REMEMBER}{_LATER}{_WHERE} that (?!time|day|night|one|when|thing)")),
    ("sentence", _asking(rf"{_REMEMBER}{_LATER}{_WHERE}(?: this| the following)?: ?")),
    ("sentence", _asking(rf"{_REMEMBER}{_LATER}{_WHERE},? (?=I'm |we're |(?:I|we|my|our|the)\b.* {_VERB})")),
    ("sentence", _asking(r"remember to (?=(?:always|never|only)\b)")),
    ("sentence", _asking(r"(?:make|take) (?:a )?note(?: of)?(?: this| the following)?(?::| that) ?")),
    ("sentence", _asking(r"note(?: down)?(?: this)? for (?:later|the future|next time)(?::|,? that) ?")),
    (
        "sentence",
        _asking(
            r"(?:save|store|add|put|write)(?: this| the following)? (?:to|in|into) \w* ?memory(?::| that) ?"
        ),
    ),
    ("clause", _asking(rf"{_MERKE}{_LATER}{_WHERE},? dass ")),
    ("sentence", _asking(rf"{_MERKE}{_LATER}{_WHERE}(?: folgendes)?: ?")),
    ("sentence", _asking(rf"{_MERKE}{_LATER}, (?=(?:ich|wir|meine?|unsere?) )")),
    # "merk dir meinen Geburtstag: 3. Mai", "remember the number 4711"
    ("thing", _asking(rf"merke? dir{_LATER} (?=(?:den|die|das|meine?n?|unsere?n?) .*\d)")),
    ("thing", _asking(rf"(?:remember|memori[sz]e){_LATER} (?=(?:the|my|our) .*\d)")),
)

_SUBJECT = late(
    r"(?:(?i:ich|wir|er|es|man)|(?i:meine?|unsere?|der|die|das|eine?) (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\w-]+"
    r"|(?:Frau|Herr|Dr\.|Prof\.) [A-ZÄÖÜ][\w-]+|[A-ZÄÖÜ][a-zäöüß]+) "
)
_FINITE = late(r"[a-zäöüß]+(?:t|e|st|en)|bin|sind|war|kann|muss|darf|soll|will|mag|wird")
_SEPARABLE = late(
    r"(?:ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|zu|zurück|zusammen|teil|statt)[a-zäöüß]{3,}"
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
