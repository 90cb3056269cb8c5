"""The profile of a person: a small YAML file, part of every private conversation.

It is read, set field by field with its comments kept, replaced, rendered for a model, and learns: preferences
that speak of a field are proposed for it. Field names are free; known ones, in German and English, have a
rank, and when room is short the first ranks are rendered. A broken file is reported and left alone. Groups
have no profile.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from holdfast.errors import BadRequest, HoldfastError, TooLarge
from holdfast.i18n import lazy
from holdfast.memory.base import Memory
from holdfast.memory.private import redact, redact_file
from holdfast.memory.scopes import check_writable, profile_file
from holdfast.memory.workspace import Note, Workspace, read_or_empty, update_file
from holdfast.messages import Scope
from holdfast.store.memories import ProfileProposal, ProposalRepository
from holdfast.text.analyser import language_of
from holdfast.text.lang import UPPER, any_phrase, any_word, by_language, de, en, merged_table

LARGEST = 2_048
_BRACKETS = 50

# By rank. The first name is how the field is known in code, the second its German one; the rest are others'.
FIELDS: dict[str, tuple[str, ...]] = {
    field: (english.split()[0], german.split()[0], *german.split()[1:], *english.split()[1:])
    for field, english in en.PROFILE_FIELDS.items()
    for german in (de.PROFILE_FIELDS[field],)
}
_GERMAN_ONLY = {names[1] for names in FIELDS.values()} - {names[0] for names in FIELDS.values()}
_RANKS = {name: rank for rank, names in enumerate(FIELDS.values()) for name in names}

_STYLE = "style"
# What German readers, people and models, see for the fields that are known.
_GERMAN = de.PROFILE_LABELS
_HEADS = by_language("PROFILE_INTRODUCTIONS")
_ENDS = by_language("PROFILE_END")


@dataclass(frozen=True, slots=True)
class ProfileExcerpt:
    """The text for a model, the fields that had no room, and what is wrong with the file."""

    text: str = ""
    left_out: tuple[str, ...] = ()
    trouble: str = ""


class InvalidProfile(BadRequest):
    """The text is not a profile; `line` is where it goes wrong, 0 if that is not one place."""

    def __init__(self, message: str, *, hint: str = "", line: int = 0) -> None:
        super().__init__(message, hint=hint, param="text")
        self.line = line


def parse(text: str) -> CommentedMap:
    """Parse the fields of a profile with comments; BadRequest names the problem and its line."""
    size = len(text.encode(errors="replace"))
    if size > LARGEST:
        raise TooLarge(
            lazy("The profile has {size:,} bytes; at most {largest:,} are kept.", size=size, largest=LARGEST),
            hint=lazy("It goes into every request: keep what matters most, and remember the rest."),
        )
    if text.count("[") + text.count("{") > _BRACKETS:
        # Deep nesting takes the reader seconds, and this is read for every request.
        raise broken_profile(lazy("The profile is no YAML that a person wrote: it has too many brackets."))
    try:
        fields = new_yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, why = mark.line + 1 if mark else 0, error.problem or error.context
        raise broken_profile(
            lazy("The profile is no YAML in line {line}: {why}.", line=line, why=why)
            if line
            else lazy("The profile is no YAML: {why}.", why=why),
            line,
        ) from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise broken_profile(lazy("The profile is no YAML: {why}.", why=str(error))) from error
    if fields is None:
        return CommentedMap()
    if not isinstance(fields, CommentedMap):
        raise broken_profile(lazy("The profile is no list of fields."))
    for key, value in fields.items():
        check_field(key, value)
    return fields


def serialize(fields: CommentedMap) -> str:
    """Write the fields as YAML, checked again, since a change may have made it too large."""
    out = io.StringIO()
    if fields:
        new_yaml().dump(fields, out)
    text = out.getvalue()
    parse(text)
    return text


def set_field(text: str, key: str, value: Any) -> str:
    """Return the profile with one field set, or removed if the value is None; comments stay."""
    fields = parse(text)
    *outer, name = resolve_names(fields, key)
    place = fields
    for part in outer:
        current = place.get(part)
        if not isinstance(current, CommentedMap):
            if value is None:
                return text
            # What stood there in one line becomes one of several.
            place[part] = CommentedMap() if current is None else CommentedMap({_STYLE: current})
        place = place[part]
    if value is None:
        if name not in place:
            return text
        del place[name]
    elif place.get(name) == value:
        return text
    else:
        place[name] = clean_value(value)
    return serialize(fields) if fields else ""


def get_field(text: str, key: str) -> Any:
    """Return the value of a field, None if it is not set."""
    value: Any = parse(text)
    for part in resolve_names(value, key):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def detect_language(text: str) -> Literal["en", "de"]:
    """Return the language to render a profile in: the one it names, else that of its fields and words.

    Never that of a question, which may change from turn to turn.
    """
    named = str(get_field(text, "language") or "").lower()
    if named:
        return "de" if named.startswith(("de", "ger")) else "en"
    return "de" if _GERMAN_ONLY.intersection(parse(text)) or language_of(text) == "de" else "en"


def label_of(key: str, language: Literal["en", "de"]) -> str:
    """Return the label of a field in this language; an unknown one keeps its name."""
    outer, _, inner = key.partition(".")
    if not inner:
        return _label(outer, language, inside=False)
    return f"{_label(outer, language, inside=False)}.{_label(inner, language, inside=True)}"


def _label(name: str, language: Literal["en", "de"], *, inside: bool) -> str:
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
    text: str, cap: int, count: Callable[[str], int], language: Literal["en", "de"]
) -> ProfileExcerpt:
    """Render as much of the profile as fits into `cap` tokens, first ranks first, in file order."""
    fields = parse(text)
    units = list(_units(fields))
    company = any(name in fields for name in FIELDS["company"])
    chosen: set[str] = set()
    best = ""
    for key, _ in sorted(units, key=lambda unit: rank_field(unit[0])):
        body = format_fields([unit for unit in units if unit[0] in chosen | {key}], language)
        whole = f"{_HEADS[language][company]}\n{body}\n{_ENDS[language]}"
        if count(whole) <= cap:
            chosen.add(key)
            best = whole
    return ProfileExcerpt(
        redact(best), tuple(label_of(key, language) for key, _ in units if key not in chosen)
    )


def new_yaml() -> YAML:
    # A new one each time: it keeps what it read, and is no thing to share among threads.
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4_096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def check_field(key: object, value: object) -> None:
    """Allow text, numbers, lists of them, and one level of fields inside a field."""
    inner = value.values() if isinstance(value, dict) else [value]
    names = [key, *value] if isinstance(value, dict) else [key]
    if not all(isinstance(name, str) and name for name in names):
        raise broken_profile(lazy("The profile has a field whose name is no text: {name!r}.", name=names[-1]))
    for leaves in inner:
        plain = leaves if isinstance(leaves, list) else [leaves]
        if not all(_can_be_written(text) for text in (*names, *plain) if isinstance(text, str)):
            raise broken_profile(f"has half a character in {key!r}: \\ud… without its other half")
        if any(isinstance(leaf, list | dict | set) for leaf in plain):
            raise broken_profile(lazy("The profile has too many levels in the field '{key}'.", key=key))


def _can_be_written(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, which an escape can name and no answer can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def resolve_names(fields: CommentedMap, key: str) -> list[str]:
    """Return a field's names as this file has them: `company` is `firma` if that is there."""
    parts = key.split(".")
    if not all(parts) or len(parts) > 2:
        raise BadRequest(
            lazy("'{key}' is no field.", key=key),
            hint=lazy("Name a field, or FIELD.INNER for one inside another."),
        )
    names: list[str] = []
    place: Any = fields
    # A new field of a German profile gets its German name.
    german = bool(_GERMAN_ONLY.intersection(fields))
    for depth, part in enumerate(parts):
        aliases = _others(part, inside=depth > 0)
        fields_here = place if isinstance(place, dict) else {}
        new = aliases[1] if german and aliases else part
        name = (
            part if part in fields_here else next((other for other in aliases if other in fields_here), new)
        )
        names.append(name)
        place = fields_here.get(name)
    return names


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


def rank_field(key: str) -> int:
    name = key.rsplit(".", 1)[-1]
    outer = key.split(".", 1)[0]
    return _RANKS.get(name, _RANKS.get(outer, len(_RANKS)))


def format_fields(units: list[tuple[str, Any]], language: Literal["en", "de"]) -> str:
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


def clean_value(value: Any) -> Any:
    """Return a value without secrets, as YAML types."""
    if isinstance(value, str):
        # Half of a pair of surrogates is no text: no file could have it, and no answer.
        return redact(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return CommentedMap({str(name): clean_value(inner) for name, inner in value.items()})
    return [clean_value(item) for item in value] if isinstance(value, list | tuple) else value


def broken_profile(message: str, line: int = 0) -> InvalidProfile:
    return InvalidProfile(
        message,
        hint=lazy("Correct it; the file was not touched."),
        line=line,
    )


@dataclass(frozen=True, slots=True)
class ProfileTrait:
    """A field by its English name, with a dot for an inner one, and a value for it."""

    field: str
    value: str


_NOT = re.compile(rf"\b{any_phrase('DENIALS')}\b", re.IGNORECASE)
_ANSWER = any_phrase("ANSWERS")

_LENGTHS = merged_table("ANSWER_LENGTHS")
_TONES = {
    tone: "|".join(words[tone] for words in by_language("TONES").values() if tone in words)
    for tone in merged_table("TONES")
}
_SPEECH = any_word("ANSWER_LANGUAGES")
_CODE = r"Python|TypeScript|JavaScript|Rust|Go|Java|Kotlin|C\+\+|C#|Ruby|PHP|Swift|Elixir|Scala"

_NAMED = re.compile(rf"\b{any_phrase('INTRODUCTIONS')} ((?-i:[{UPPER}])[\w-]+)", re.IGNORECASE)
_SPEAKS = re.compile(
    rf"\b{_ANSWER}\w*\b.{{0,40}}?\b(?:in|auf) ({_SPEECH})\b|\b(?:in|auf) ({_SPEECH})\b.{{0,20}}\b{_ANSWER}",
    re.IGNORECASE,
)
_CODES = re.compile(
    rf"\b(?:code|examples|beispiele|snippets|programm\w*)\b.{{0,40}}?\b(?:in|auf) ({_CODE})(?!\w)"
    rf"|\b(?:prefers?|bevorzug\w*) ({_CODE})(?!\w)(?: {any_phrase('PREFERRED_TO')}|\.|$)",
    re.IGNORECASE,
)


def read_trait(text: str) -> ProfileTrait | None:
    """Return the field and value a preference speaks of, if it is just one and not negated."""
    if _NOT.search(text):
        return None
    speaks_of_answers = re.search(_ANSWER, text, re.IGNORECASE)
    candidates = (
        match_group("name", _NAMED, text),
        match_group("language", _SPEAKS, text),
        match_group("preferences.code_language", _CODES, text),
        match_value("preferences.answer_length", _LENGTHS, text) if speaks_of_answers else None,
        match_value("preferences.formality", _TONES, text),
    )
    traits = [trait for trait in candidates if trait is not None]
    return traits[0] if len(traits) == 1 else None


def match_group(field: str, pattern: re.Pattern[str], text: str) -> ProfileTrait | None:
    groups = {group for match in pattern.finditer(text) for group in match.groups() if group}
    return ProfileTrait(field, groups.pop()) if len(groups) == 1 else None


def match_value(field: str, values: dict[str, str], text: str) -> ProfileTrait | None:
    matches = [
        value for value, words in values.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
    ]
    return ProfileTrait(field, matches[0]) if len(matches) == 1 else None


# The names of the setup form, and the fields they fill.
_FORM = {
    "companyName": "company",
    "industry": "industry",
    "teamSize": "team_size",
    "products": "products",
    "preferences": "preferences",
}


class Profile:
    """Reads and changes profiles.

    `automatic` accepts proposals at once, unless the person set that field themselves.
    """

    def __init__(
        self, workspace: Workspace, proposals: ProposalRepository, *, automatic: bool = False
    ) -> None:
        self.automatic = automatic
        self._workspace = workspace
        self._proposals = proposals

    def show(self, scope: Scope) -> Note:
        """Return the file as it is, broken or not; empty if there is none."""
        return read_or_empty(self._workspace, profile_file(require_private(scope)))

    def fields(self, scope: Scope) -> dict[str, Any]:
        return dict(parse(self.show(scope).text))

    def replace(self, scope: Scope, text: str, expect: str | None = None) -> str:
        """Replace the whole text if it is a profile; return its tag."""
        parse(text)
        clean = redact_file(text)
        parse(clean)
        return self._workspace.write(profile_file(require_own(scope)), clean, expect)

    def set(self, scope: Scope, key: str, value: str) -> None:
        """Set one field from the command line: a number, a list in brackets, or text."""
        self.patch(scope, {key: parse_words(value)})

    def patch(self, scope: Scope, fields: Mapping[str, Any]) -> None:
        """Set several fields and remove those that are None; all or nothing."""

        def work(text: str) -> str:
            for key, value in _flat(fields):
                text = set_field(text, key, value)
            return text

        update_file(self._workspace, profile_file(require_own(scope)), work)

    def fill(self, scope: Scope, form: Mapping[str, Any], language: Literal["en", "de"] = "en") -> None:
        """Take over a setup form; fields get names of this language unless the file has its own."""
        unknown = sorted(set(form) - set(_FORM))
        if unknown:
            raise BadRequest(
                lazy("'{unknown}' is no field of the form.", unknown=unknown[0]),
                hint=lazy("It has {names}.", names=", ".join(_FORM)),
            )
        fields: dict[str, Any] = {}
        for name, value in form.items():
            if name == "products" and isinstance(value, str):
                value = [part.strip() for part in value.split(",") if part.strip()]
            if value not in ("", [], None):
                fields[FIELDS[_FORM[name]][1 if language == "de" else 0]] = value
        self.patch(scope, fields)

    def render(
        self, scope: Scope, cap: int, count: Callable[[str], int], language: Literal["en", "de"] | None = None
    ) -> ProfileExcerpt:
        """Render the profile within `cap` tokens, in its own language if none is given.

        Empty for a group; a broken file is reported.
        """
        if scope.kind == "group":
            return ProfileExcerpt()
        try:
            text = self.show(scope).text
            return render_for_model(text, cap, count, language or detect_language(text))
        except HoldfastError as error:
            return ProfileExcerpt(trouble=str(error))

    def propose(self, memory: Memory) -> ProfileProposal | None:
        """Propose what a preference says of a field; None if that is nothing new."""
        if memory.kind != "preference" or memory.scope.kind == "group":
            return None
        trait = read_trait(memory.text)
        try:
            current = get_field(self.show(memory.scope).text, trait.field) if trait else None
        except HoldfastError:
            # A broken file can wait for its person; so can what it might learn.
            current = None
        if trait is None or str(current).casefold() == trait.value.casefold():
            return None
        proposal = self._proposals.put(
            memory.scope.user,
            trait.field,
            trait.value,
            text=memory.text,
            conversation=memory.conversation,
            messages=memory.messages,
        )
        if proposal is not None and self.automatic and current is None:
            return self.accept(memory.scope, proposal.id)
        return proposal

    def proposals(self, scope: Scope) -> list[ProfileProposal]:
        return self._proposals.open(require_private(scope).user)

    def accept(self, scope: Scope, name: str) -> ProfileProposal:
        proposal = self._proposals.get(require_private(scope).user, name)
        self.patch(scope, {proposal.field: proposal.value})
        return self._proposals.decide(scope.user, name, "accepted")

    def dismiss(self, scope: Scope, name: str) -> ProfileProposal:
        return self._proposals.decide(require_own(scope).user, name, "dismissed")


def require_private(scope: Scope) -> Scope:
    if scope.kind == "group":
        raise BadRequest(lazy("A group has no profile."), hint=lazy("A profile belongs to one person."))
    return scope


def require_own(scope: Scope) -> Scope:
    """Return the scope if it may change the person's profile."""
    check_writable(require_private(scope), Scope(scope.user))
    return scope


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield inner fields one by one, so that their neighbours stay."""
    for key, value in fields.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", leaf) for inner, leaf in value.items())
        else:
            yield key, value


def parse_words(value: str) -> Any:
    try:
        parsed = YAML(typ="safe").load(value)
    except (YAMLError, ValueError):
        return value
    return parsed if isinstance(parsed, str | int | float | bool | list) else value
