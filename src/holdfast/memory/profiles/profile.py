"""The profile of a person: one small YAML file, told to the model in every private conversation.

It is shown, set field by field, replaced, and learns: preferences that speak of a field are proposed for it.
A broken file is told, left alone, and everything else goes on without. Groups have none.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from holdfast.errors import BadRequest, HoldfastError
from holdfast.memory.base import Memory
from holdfast.memory.private import redact_file
from holdfast.memory.profiles.text import (
    FIELDS,
    ProfileExcerpt,
    detect_language,
    get_field,
    parse,
    render_for_model,
    set_field,
)
from holdfast.memory.profiles.traits import read_trait
from holdfast.memory.scopes import profile_file
from holdfast.memory.workspace.base import Note, Workspace, read_or_empty, update_file
from holdfast.messages import Scope
from holdfast.store import Proposal
from holdfast.store.proposals import Proposals

# The names of the setup form, and the fields they fill.
_FORM = {
    "companyName": "company",
    "industry": "industry",
    "teamSize": "team_size",
    "products": "products",
    "preferences": "preferences",
}


class Profile:
    """`automatic` accepts what is proposed at once, unless the person set that field themselves."""

    def __init__(self, workspace: Workspace, proposals: Proposals, *, automatic: bool = False) -> None:
        self.automatic = automatic
        self._workspace = workspace
        self._proposals = proposals

    def show(self, scope: Scope) -> Note:
        """The file as it is, broken or not; empty where there is none."""
        return read_or_empty(self._workspace, profile_file(_private(scope)))

    def fields(self, scope: Scope) -> dict[str, Any]:
        return dict(parse(self.show(scope).text))

    def replace(self, scope: Scope, text: str, expect: str | None = None) -> str:
        """Put another text in place, as it was written, if it is a profile; its tag."""
        parse(text)
        kept = redact_file(text)
        parse(kept)
        return self._workspace.write(profile_file(_private(scope)), kept, expect)

    def set(self, scope: Scope, key: str, value: str) -> None:
        """Set one field from the words of a command line: numbers, lists in brackets, or text."""
        self.patch(scope, {key: _from_words(value)})

    def patch(self, scope: Scope, fields: Mapping[str, Any]) -> None:
        """Set several fields, and remove those that are None; all of it or nothing."""

        def work(text: str) -> str:
            for key, value in _flat(fields):
                text = set_field(text, key, value)
            return text

        update_file(self._workspace, profile_file(_private(scope)), work)

    def fill(self, scope: Scope, form: Mapping[str, Any], language: Literal["de", "en"] = "en") -> None:
        """Take over a setup form. Fields get the names of the language, unless the file has its own."""
        unknown = sorted(set(form) - set(_FORM))
        if unknown:
            raise BadRequest(f"'{unknown[0]}' is no field of the form.", hint=f"It has {', '.join(_FORM)}.")
        fields = {_named(_FORM[name], language): _split_products(name, value) for name, value in form.items()}
        self.patch(scope, {name: value for name, value in fields.items() if value not in ("", [], None)})

    def text(
        self, scope: Scope, cap: int, count: Callable[[str], int], language: Literal["de", "en"] | None = None
    ) -> ProfileExcerpt:
        """What a model is told within a cap of tokens, in the profile's own language if none is named.

        A group is told nothing, a broken file is reported.
        """
        if scope.kind == "group":
            return ProfileExcerpt()
        try:
            text = self.show(scope).text
            return render_for_model(text, cap, count, language or detect_language(text))
        except HoldfastError as error:
            return ProfileExcerpt(trouble=str(error))

    def propose(self, memory: Memory) -> Proposal | None:
        """Propose what a preference says of a field; None where it says nothing new."""
        if memory.kind != "preference" or memory.scope.kind == "group":
            return None
        trait = read_trait(memory.text)
        try:
            there = get_field(self.show(memory.scope).text, trait.field) if trait else None
        except HoldfastError:
            # A broken file can wait for its person; so can what it might learn.
            there = None
        if trait is None or str(there).casefold() == trait.value.casefold():
            return None
        made = self._proposals.put(
            memory.scope.user,
            trait.field,
            trait.value,
            text=memory.text,
            conversation=memory.conversation,
            messages=memory.messages,
        )
        if made is not None and self.automatic and there is None:
            return self.accept(memory.scope, made.id)
        return made

    def proposals(self, scope: Scope) -> list[Proposal]:
        return self._proposals.open(_private(scope).user)

    def accept(self, scope: Scope, name: str) -> Proposal:
        proposal = self._proposals.get(_private(scope).user, name)
        self.patch(scope, {proposal.field: proposal.value})
        return self._proposals.decide(scope.user, name, "accepted")

    def dismiss(self, scope: Scope, name: str) -> Proposal:
        return self._proposals.decide(_private(scope).user, name, "dismissed")


def _private(scope: Scope) -> Scope:
    if scope.kind == "group":
        raise BadRequest("A group has no profile.", hint="A profile belongs to one person.")
    return scope


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is inside a field is set one by one, so that its neighbours stay."""
    for key, value in fields.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", leaf) for inner, leaf in value.items())
        else:
            yield key, value


def _from_words(value: str) -> Any:
    try:
        found = YAML(typ="safe").load(value)
    except (YAMLError, ValueError):
        return value
    return found if isinstance(found, str | int | float | bool | list) else value


def _named(field: str, language: Literal["de", "en"]) -> str:
    return FIELDS[field][1 if language == "de" else 0]


def _split_products(name: str, value: Any) -> Any:
    """Products come as a list, or with commas between them."""
    if name == "products" and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value
