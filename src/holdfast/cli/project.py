"""`holdfast init` and `holdfast brief`: what a repository says of itself, and what an agent must know of it.

Hooks run `brief` before every session: it loads no more than it needs, and is silent where there is nothing.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    ProjectOption,
    YesOption,
    console,
    current_scope,
    load,
    open_memory,
    print_json,
    print_table,
    write,
)
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.i18n import ngettext

if TYPE_CHECKING:
    from holdfast.transfer.repository import MemoryProposal, RepositoryChanges


def init(
    context: typer.Context,
    update: Annotated[
        bool, typer.Option("--update", help="Only what is new or changed since the last time.")
    ] = False,
    yes: YesOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the proposals and keep nothing.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Propose memories from what this repository says about itself, and keep those you accept.

    Read are the README, manifests, CI, the git log, and the rules that agents know: AGENTS.md, CLAUDE.md,
    .cursorrules. No model is asked.
    """
    from holdfast.transfer.repository import RepositoryMemories, find_root, read_repository

    settings, scope = load(context).settings, current_scope(project)
    root = find_root(Path.cwd())
    if root is None and project is None:
        raise BadRequest(
            _("There is no repository here."),
            hint=_("Go to a folder under git, or name a project with --project."),
        )
    with open_memory(settings) as parts:
        memories = RepositoryMemories(parts.store, parts.library, scope)
        changes = memories.compare(read_repository(root or Path.cwd()), again=not update)
        # Nobody is asked where a program reads along.
        decides = not dry_run and (yes or not as_json)
        if not as_json:
            print_changes(changes, scope.project)
        accepted: RepositoryChanges = changes
        declined: list[MemoryProposal] = []
        if decides and changes and not yes:
            accepted, declined = choose(changes)
        if decides:
            memories.accept(accepted, declined)
    if as_json:
        print_json({"project": scope.project, "kept": decides, **serialize_changes(changes)})
    elif decides and changes:
        number = len(accepted.new) + len(accepted.changed)
        console.print(
            ngettext(
                "{n} memory was kept in {project}.", "{n} memories were kept in {project}.", number
            ).format(n=number, project=scope.project)
        )


def print_changes(changes: "RepositoryChanges", project: str) -> None:
    if not changes:
        console.print(_("{project} has nothing new to say.").format(project=project))
        return
    rows = [
        *((_("new"), proposal.text, proposal.source) for proposal in changes.new),
        *((_("changed"), proposal.text, proposal.source) for proposal in changes.changed),
        *((_("gone"), record.text, key) for key, record in changes.gone),
    ]
    print_table((_("what"), _("text"), _("source")), rows)
    if changes.known:
        known = ngettext("{n} more is known already.", "{n} more are known already.", changes.known)
        console.print(known.format(n=changes.known), style="dim")


def choose(changes: "RepositoryChanges") -> "tuple[RepositoryChanges, list[MemoryProposal]]":
    """Ask which proposals are to be kept: all, none, or each in turn."""
    if not sys.stdin.isatty():
        raise BadRequest(
            _("Nobody can be asked which of them to keep."),
            hint=_("Add --yes to keep all, or --dry-run to only look."),
        )
    answer = (
        typer.prompt(_("Keep all of them (a), choose (c), or none (n)?"), default="a").strip().lower()[:1]
    )
    if answer == "a":
        return changes, []
    declined = [
        proposal
        for proposal in (*changes.new, *changes.changed)
        if answer != "c" or not typer.confirm(f"{proposal.text} ({proposal.source})", default=True)
    ]
    left = replace(
        changes,
        new=tuple(proposal for proposal in changes.new if proposal not in declined),
        changed=tuple(proposal for proposal in changes.changed if proposal not in declined),
        gone=changes.gone if answer == "c" else (),
    )
    # What was changed and declined stays as it was, and is asked about again.
    return left, [proposal for proposal in declined if proposal in changes.new]


def serialize_changes(changes: "RepositoryChanges") -> dict[str, Any]:
    def listed(proposals: "tuple[MemoryProposal, ...]") -> list[dict[str, Any]]:
        return [
            {"kind": proposal.kind, "text": proposal.text, "source": proposal.source}
            for proposal in proposals
        ]

    return {
        "new": listed(changes.new),
        "changed": listed(changes.changed),
        "gone": [{"key": key, "text": record.text, "memory": record.memory} for key, record in changes.gone],
        "known": changes.known,
    }


def brief(
    context: typer.Context,
    project: ProjectOption = None,
    window: Annotated[
        int | None, typer.Option(min=512, help="The model's window in tokens; the brief is a share of it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print what is forbidden, failed, open and decided in this project, for the start of a session."""
    settings, scope = load(context).settings, current_scope(project)
    if not settings.memory:
        if as_json:
            print_json({"project": scope.project, "text": "", "tokens": 0})
        return
    from holdfast.brief import USUAL_WINDOW, build_brief, estimate_tokens
    from holdfast.memory.folder import build_workspace
    from holdfast.memory.library import Catalogue
    from holdfast.memory.notes import Notes
    from holdfast.store import open_store

    with open_store(settings.store) as store:
        catalogue = Catalogue(Notes(build_workspace(settings)), store.recollections)
        made = build_brief(store, catalogue, scope, window=window or USUAL_WINDOW)
    if as_json:
        print_json(made.to_json(estimate_tokens))
    else:
        write(made.render())
