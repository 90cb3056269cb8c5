"""What a preference says about a field of the profile: "short answers, please" is an answer length.

Patterns, German and English, for what a person says of themselves. Knows neither the profile's file nor
memories.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProfileTrait:
    """A field, by its English name with a dot for what is inside another, and the value it may have."""

    field: str
    value: str


_NOT = re.compile(r"\b(?:not|no|never|don't|doesn't|nicht|kein\w*|nie)\b", re.IGNORECASE)
_ANSWER = r"(?:answer|repl|respon|explanation|antwort|erklärung)"

_LENGTHS = {
    "short": r"short|brief|concise|terse|succinct",
    "detailed": r"detailed|long|thorough|in depth|comprehensive|verbose",
    "kurz": r"kurz\w*|knapp\w*|prägnant\w*",
    "ausführlich": r"ausführlich\w*|detailliert\w*|lang(?:e|en|er)?",
}
_TONES = {
    "formal": r"formal|formell\w*|förmlich\w*",
    "casual": r"casual|informal",
    "locker": r"locker\w*|ungezwungen\w*",
    "Sie": r"gesiezt|siezen|per Sie",
    "du": r"geduzt|duzen|per du",
}
_SPEECH = r"English|German|French|Spanish|Italian|Englisch|Deutsch|Französisch|Spanisch|Italienisch"
_CODE = r"Python|TypeScript|JavaScript|Rust|Go|Java|Kotlin|C\+\+|C#|Ruby|PHP|Swift|Elixir|Scala"

_NAMED = re.compile(
    r"\b(?:call me|my name is|nenn mich|ich heiße|mein name ist) ((?-i:[A-ZÄÖÜ])[\w-]+)", re.IGNORECASE
)
_SPEAKS = re.compile(
    rf"\b{_ANSWER}\w*\b.{{0,40}}?\b(?:in|auf) ({_SPEECH})\b|\b(?:in|auf) ({_SPEECH})\b.{{0,20}}\b{_ANSWER}",
    re.IGNORECASE,
)
_CODES = re.compile(
    rf"\b(?:code|examples|beispiele|snippets|programm\w*)\b.{{0,40}}?\b(?:in|auf) ({_CODE})(?!\w)"
    rf"|\b(?:prefers?|bevorzug\w*) ({_CODE})(?!\w)(?: for| als| über| over|\.|$)",
    re.IGNORECASE,
)


def read_trait(text: str) -> ProfileTrait | None:
    """The field a preference speaks of, if there is just one and nothing is denied."""
    if _NOT.search(text):
        return None
    found = [trait for trait in _traits(text) if trait is not None]
    return found[0] if len(found) == 1 else None


def _traits(text: str) -> list[ProfileTrait | None]:
    return [
        _match_group("name", _NAMED, text),
        _match_group("language", _SPEAKS, text),
        _match_group("preferences.code_language", _CODES, text),
        _match_value("preferences.answer_length", _LENGTHS, text)
        if re.search(_ANSWER, text, re.IGNORECASE)
        else None,
        _match_value("preferences.formality", _TONES, text),
    ]


def _match_group(field: str, pattern: re.Pattern[str], text: str) -> ProfileTrait | None:
    found = {group for match in pattern.finditer(text) for group in match.groups() if group}
    return ProfileTrait(field, found.pop()) if len(found) == 1 else None


def _match_value(field: str, values: dict[str, str], text: str) -> ProfileTrait | None:
    found = [value for value, words in values.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)]
    return ProfileTrait(field, found[0]) if len(found) == 1 else None
