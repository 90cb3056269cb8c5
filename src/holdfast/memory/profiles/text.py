"""A profile as YAML that a person keeps: read, checked, changed with its comments, and told to a model.

Values in, values out: knows no file. Names of fields are free; those it knows, in German and English, have a
rank, and when room is short the first ranks are told.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from holdfast.errors import BadRequest, TooLarge
from holdfast.memory.private import redact
from holdfast.words import language_of

LARGEST = 2_048
_BRACKETS = 50

# By rank. The first name is how the field is known in code, the second its German one; the rest are others'.
FIELDS: dict[str, tuple[str, ...]] = {
    "language": ("language", "sprache"),
    "name": ("name", "name"),
    "company": ("company", "firma", "companyName"),
    "preferences": ("preferences", "praeferenzen", "präferenzen", "vorlieben"),
    "preferences.answer_length": ("answer_length", "antwortlaenge", "antwortlänge"),
    "preferences.formality": ("formality", "formalitaet", "formalität"),
    "preferences.code_language": ("code_language", "code_sprache"),
    "industry": ("industry", "branche"),
    "location": ("location", "standort"),
    "team_size": ("team_size", "teamgroesse", "teamgröße", "mitarbeiter", "teamSize"),
    "products": ("products", "produkte"),
}
_GERMAN_ONLY = {names[1] for names in FIELDS.values()} - {names[0] for names in FIELDS.values()}
_RANKS = {name: rank for rank, names in enumerate(FIELDS.values()) for name in names}

_STYLE = "style"
# What German readers, people and models, see for the fields that are known.
_GERMAN = {
    "language": "Sprache",
    "name": "Name",
    "company": "Firma",
    "preferences": "Vorlieben",
    "preferences.answer_length": "Antwortlänge",
    "preferences.formality": "Anrede",
    "preferences.code_language": "Programmiersprache",
    "preferences.style": "Stil",
    "industry": "Branche",
    "location": "Standort",
    "team_size": "Teamgröße",
    "products": "Produkte",
}

_HEADS = {
    ("de", True): "Du bist ein KI-Assistent für folgendes Unternehmen:",
    ("de", False): "Du bist ein KI-Assistent für folgende Person:",
    ("en", True): "You are an AI assistant for the following company:",
    ("en", False): "You are an AI assistant for the following person:",
}
_ENDS = {
    "de": "Berücksichtige diesen Kontext in deinen Antworten.",
    "en": "Keep this context in mind in your answers.",
}


@dataclass(frozen=True, slots=True)
class ProfileExcerpt:
    """What a model is told of a profile, the fields that had no room, and what is wrong with the file."""

    text: str = ""
    left_out: tuple[str, ...] = ()
    trouble: str = ""


class InvalidProfile(BadRequest):
    """A text that cannot be a profile; `line` is where it goes wrong, 0 where that is not one place."""

    def __init__(self, message: str, *, hint: str = "", line: int = 0) -> None:
        super().__init__(message, hint=hint, param="text")
        self.line = line


def parse(text: str) -> CommentedMap:
    """The fields of a profile, comments kept. BadRequest says what is wrong with it, and in which line."""
    size = len(text.encode(errors="replace"))
    if size > LARGEST:
        raise TooLarge(
            f"The profile has {size:,} bytes; at most {LARGEST:,} are kept.",
            hint="It goes into every request: keep what matters most, and remember the rest.",
        )
    if text.count("[") + text.count("{") > _BRACKETS:
        # Deep nesting takes the reader seconds, and this is read for every request.
        raise _broken("is no YAML that a person wrote: it has too many brackets")
    try:
        found = _yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {mark.line + 1}" if mark else ""
        line = mark.line + 1 if mark else 0
        raise _broken(f"is no YAML{where}: {error.problem or error.context}", line) from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise _broken(f"is no YAML: {error}") from error
    if found is None:
        return CommentedMap()
    if not isinstance(found, CommentedMap):
        raise _broken("is no list of fields")
    for key, value in found.items():
        _check(key, value)
    return found


def serialize(fields: CommentedMap) -> str:
    """The fields as YAML. Checked again, since a change may have made it too large."""
    out = io.StringIO()
    if fields:
        _yaml().dump(fields, out)
    text = out.getvalue()
    parse(text)
    return text


def set_field(text: str, key: str, value: Any) -> str:
    """The profile with one field set, or without it where the value is None; comments stay."""
    fields = parse(text)
    *outer, name = _names_in(fields, key)
    place = fields
    for part in outer:
        there = place.get(part)
        if not isinstance(there, CommentedMap):
            if value is None:
                return text
            # What stood there in one line becomes one of several.
            place[part] = CommentedMap() if there is None else CommentedMap({_STYLE: there})
        place = place[part]
    if value is None:
        if name not in place:
            return text
        del place[name]
    elif place.get(name) == value:
        return text
    else:
        place[name] = _plain(value)
    return serialize(fields) if fields else ""


def get_field(text: str, key: str) -> Any:
    found: Any = parse(text)
    for part in _names_in(found, key):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def detect_language(text: str) -> Literal["de", "en"]:
    """The language to tell a profile in: the one it names, else that of its fields and words.

    Never that of a question, which may change from turn to turn.
    """
    named = str(get_field(text, "language") or "").lower()
    if named:
        return "de" if named.startswith(("de", "ger")) else "en"
    return "de" if _GERMAN_ONLY.intersection(parse(text)) or language_of(text) == "de" else "en"


def label_of(key: str, language: Literal["de", "en"]) -> str:
    """What a field is called for a reader of this language; one that nobody knows is called as it is."""
    outer, _, inner = key.partition(".")
    if not inner:
        return _label(outer, language, inside=False)
    return f"{_label(outer, language, inside=False)}.{_label(inner, language, inside=True)}"


def _label(name: str, language: Literal["de", "en"], *, inside: bool) -> str:
    groups = ((key, names) for key, names in FIELDS.items() if ("." in key) == inside)
    known, names = next(((key, names) for key, names in groups if name in names), ("", ()))
    if inside and name == _STYLE:
        known = f"preferences.{_STYLE}"
    if not known:
        return name
    if language == "en":
        return known.rpartition(".")[2]
    # Who has another German word for it reads their own.
    own = name not in names[:2] and name.islower() and bool(names)
    return name.capitalize() if own else _GERMAN[known]


def render_for_model(
    text: str, cap: int, count: Callable[[str], int], language: Literal["de", "en"]
) -> ProfileExcerpt:
    """As much of the profile as fits into so many tokens, the first ranks first, in the order of the file."""
    fields = parse(text)
    units = list(_units(fields))
    company = any(name in fields for name in FIELDS["company"])
    chosen: set[str] = set()
    best = ""
    for key, _ in sorted(units, key=lambda unit: _rank(unit[0])):
        body = _body([unit for unit in units if unit[0] in chosen | {key}], language)
        whole = f"{_HEADS[language, company]}\n{body}\n{_ENDS[language]}"
        if count(whole) <= cap:
            chosen.add(key)
            best = whole
    return ProfileExcerpt(
        redact(best), tuple(label_of(key, language) for key, _ in units if key not in chosen)
    )


def _yaml() -> YAML:
    # A new one each time: it keeps what it read, and is no thing to share among threads.
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4_096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _check(key: object, value: object) -> None:
    """Text, numbers, lists of them, and one level of fields inside a field."""
    inner = value.values() if isinstance(value, dict) else [value]
    names = [key, *value] if isinstance(value, dict) else [key]
    if not all(isinstance(name, str) and name for name in names):
        raise _broken(f"has a field whose name is no text: {names[-1]!r}")
    for one in inner:
        plain = one if isinstance(one, list) else [one]
        if any(isinstance(leaf, list | dict | set) for leaf in plain):
            raise _broken(f"has too many levels in the field '{key}'")


def _names_in(fields: CommentedMap, key: str) -> list[str]:
    """The names of a field as this file has them: `company` is `firma` where that is there."""
    parts = key.split(".")
    if not all(parts) or len(parts) > 2:
        raise BadRequest(f"'{key}' is no field.", hint="Name a field, or FIELD.INNER for one inside another.")
    found: list[str] = []
    place: Any = fields
    # A new field of a German profile gets its German name.
    german = bool(_GERMAN_ONLY.intersection(fields))
    for depth, part in enumerate(parts):
        others = _others(part, inside=depth > 0)
        there = place if isinstance(place, dict) else {}
        new = others[1] if german and others else part
        name = part if part in there else next((other for other in others if other in there), new)
        found.append(name)
        place = there.get(name)
    return found


def _others(name: str, *, inside: bool) -> tuple[str, ...]:
    groups = (names for key, names in FIELDS.items() if ("." in key) == inside)
    return next((names for names in groups if name in names), ())


def _units(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in fields.items():
        if isinstance(value, dict):
            for inner, leaf in value.items():
                yield f"{key}.{inner}", leaf
        elif value is not None:
            yield key, value


def _rank(key: str) -> int:
    name = key.rsplit(".", 1)[-1]
    outer = key.split(".", 1)[0]
    return _RANKS.get(name, _RANKS.get(outer, len(_RANKS)))


def _body(units: list[tuple[str, Any]], language: Literal["de", "en"]) -> str:
    lines: list[str] = []
    last = ""
    for key, value in units:
        outer, _, inner = label_of(key, language).partition(".")
        if inner and outer != last:
            lines.append(f"{outer}:")
        last = outer
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        lines.append(f"  {inner}: {shown}" if inner else f"{outer}: {shown}")
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    """A value without secrets, as YAML keeps it."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return CommentedMap({str(name): _plain(inner) for name, inner in value.items()})
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _broken(what: str, line: int = 0) -> InvalidProfile:
    return InvalidProfile(f"The profile {what}.", hint="Correct it; the file was not touched.", line=line)
