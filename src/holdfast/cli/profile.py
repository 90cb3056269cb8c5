"""`holdfast profile`: show and edit the profile that every private conversation begins with.

It is one YAML file, set field by field or edited as a whole; learned facts are proposed, not added.
"""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    console,
    edit_text,
    load,
    open_memory,
    print_error,
    print_json,
    print_table,
    write,
)
from holdfast.errors import BadRequest, Conflict, HoldfastError
from holdfast.i18n import current_language, pgettext
from holdfast.i18n import gettext as _
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.profile import Profile
    from holdfast.store import ProfileProposal

app = typer.Typer(help="The profile: what models know about you.", no_args_is_help=True)

ProposalId = Annotated[str, typer.Argument(metavar="ID", help="As `profile proposals` has it.")]

# The profile belongs to the user, whatever the project.
_SCOPE = Scope()


@app.command()
def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show your profile as it is kept."""
    with open_memory(load(context).settings) as parts:
        profile = serialize_profile(parts.profile)
    if as_json:
        print_json(profile)
        return
    print_profile(profile)


def serialize_profile(profile: "Profile") -> dict[str, Any]:
    """Return the profile's text, its fields if it can be parsed, and otherwise the error."""
    text, fields, trouble = profile.show(_SCOPE).text, None, None
    try:
        # Values that JSON has no type for, such as dates, become strings.
        fields = json.loads(json.dumps(profile.fields(_SCOPE), default=str))
    except HoldfastError as error:
        trouble = str(error)
    return {"text": text, "fields": fields, "trouble": trouble, "proposals": len(profile.proposals(_SCOPE))}


def print_profile(profile: dict[str, Any]) -> None:
    if profile["text"]:
        write(profile["text"])
    else:
        console.print(_("There is no profile yet. `holdfast profile set name …` begins one."))
    if profile["proposals"]:
        number = profile["proposals"]
        waiting = _("{number} proposed for it").format(number=number)
        console.print(f"{waiting}: holdfast profile proposals", style="dim")
    if profile["trouble"]:
        print_error(profile["trouble"])


@app.command("set")
def set_(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="A field, or FIELD.INNER for one inside another.")
    ],
    value: Annotated[list[str], typer.Argument(metavar="VALUE", help="Its value; '' takes the field away.")],
    as_json: JsonOption = False,
) -> None:
    """Set one field: text, a number, or a list in brackets. Comments in the file stay."""
    words = " ".join(value)
    with open_memory(load(context).settings) as parts:
        if words:
            parts.profile.set(_SCOPE, key, words)
        else:
            parts.profile.patch(_SCOPE, {key: None})
        profile = serialize_profile(parts.profile)
    if as_json:
        print_json(profile)
    else:
        print_profile(profile)


@app.command()
def edit(context: typer.Context, as_json: JsonOption = False) -> None:
    """Edit your profile in your editor ($EDITOR); it is checked before it is put back."""
    with open_memory(load(context).settings) as parts:
        before = parts.profile.show(_SCOPE)
        text = edit_text(before.text, ".yaml")
        while text is not None:
            try:
                parts.profile.replace(_SCOPE, text, before.tag)
            except BadRequest as error:
                text = edit_again(text, error)
            except Conflict as error:
                raise save_draft(text, error) from error
            else:
                break
        profile = serialize_profile(parts.profile)
    if as_json:
        print_json(profile)
    elif text is None:
        console.print(_("Nothing was changed."))
    else:
        print_profile(profile)


def edit_again(text: str, error: HoldfastError) -> str | None:
    """Offer another edit of an invalid text; raise the error if the user declines or cannot be asked."""
    if not sys.stdin.isatty():
        raise save_draft(text, error) from error
    print_error(str(error))
    if not typer.confirm(_("Edit it again?"), default=True):
        raise save_draft(text, error) from error
    # An unchanged text is still invalid, and is offered for editing again.
    after = edit_text(text, ".yaml")
    return text if after is None else after


def save_draft(text: str, error: HoldfastError) -> HoldfastError:
    """Save an edited text to a temporary file; return the error with the file's path in its hint."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="surrogateescape", prefix="profile-", suffix=".yaml", delete=False
    ) as file:
        file.write(text)
    place = Path(file.name)
    return type(error)(
        error.message, hint=_("{hint} What you wrote is in {place}.").format(hint=error.hint, place=place)
    )


@app.command()
def proposals(context: typer.Context, as_json: JsonOption = False) -> None:
    """List what your profile might learn from what you said."""
    with open_memory(load(context).settings) as parts:
        waiting = parts.profile.proposals(_SCOPE)
    if as_json:
        print_json([asdict(proposal) for proposal in waiting])
    elif waiting:
        columns = (_("id"), _("field"), _("value"), _("because"))
        print_table(
            columns,
            [(proposal.id, field_label(proposal), proposal.value, proposal.text) for proposal in waiting],
        )
        console.print("holdfast profile accept ID · holdfast profile dismiss ID", style="dim")
    else:
        console.print(_("Nothing is proposed."))


@app.command()
def accept(context: typer.Context, proposal: ProposalId, as_json: JsonOption = False) -> None:
    """Take a proposal into your profile."""
    with open_memory(load(context).settings) as parts:
        decided = parts.profile.accept(_SCOPE, proposal)
    print_decision(decided, pgettext("done", "Set"), as_json)


@app.command()
def dismiss(context: typer.Context, proposal: ProposalId, as_json: JsonOption = False) -> None:
    """Turn a proposal down; it is not made again."""
    with open_memory(load(context).settings) as parts:
        decided = parts.profile.dismiss(_SCOPE, proposal)
    print_decision(decided, _("Dismissed"), as_json)


def print_decision(decided: "ProfileProposal", label: str, as_json: bool) -> None:
    if as_json:
        print_json(asdict(decided))
    else:
        console.print(f"{label}: {field_label(decided)} = {decided.value}")


def field_label(proposal: "ProfileProposal") -> str:
    from holdfast.memory.profile import label_of

    return label_of(proposal.field, current_language())
