"""`holdfast files`: show what a reference like `@./engine.py:Engine.turn` expands to.

In the user's own shell every readable file may be referenced; files with secrets only with `:full`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    ConversationId,
    JsonOption,
    ProjectOption,
    console,
    load,
    open_conversation,
    print_error,
    print_json,
    print_table,
    write,
)
from holdfast.config import Settings
from holdfast.errors import HoldfastError
from holdfast.i18n import gettext as _
from holdfast.i18n import pick, translate
from holdfast.messages import JsonObject

if TYPE_CHECKING:
    from holdfast.files.attach import AttachedFile
    from holdfast.files.references import Mode
    from holdfast.files.roots import Roots

app = typer.Typer(help="Files that messages point at with @.", no_args_is_help=True)

# The most element names listed for a file.
_MAX_NAMES = 12


@dataclass(frozen=True, slots=True)
class _TokenCounts:
    before: int
    after: int
    model: str
    method: str

    @property
    def savings(self) -> float:
        """Tokens saved in percent; the heading added to a complete file does not count as a loss."""
        return max(0.0, round(100 * (1 - self.after / self.before), 1)) if self.before else 0.0


def current_roots(pasted: str = "") -> "Roots":
    """Return roots that allow every readable file; `pasted` is text that the user did not type."""
    from holdfast.files.roots import Roots

    here = Path.cwd()
    return Roots((Path(here.anchor),), here, secrets=True, pasted=pasted)


@app.command()
def show(
    context: typer.Context,
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="As in a message: @./file.py, ./file.py:full, @./src/:tree.")
    ],
    model: Annotated[str | None, typer.Option("--model", "-m", help="The model to count for.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a reference becomes: how, with how many tokens before and after, and the text."""
    from holdfast.files.attach import attach_references
    from holdfast.files.references import parse_reference

    settings = load(context, model=model).settings
    roots = current_roots()
    rows = attach_references([parse_reference(reference)], roots)
    texts = [read_source_text(row, roots) for row in rows]
    counted = asyncio.run(count_tokens(settings, rows, texts))
    names = [list_elements(row, text) for row, text in zip(rows, texts, strict=True)]
    if as_json:
        print_json([serialize_file(*columns) for columns in zip(rows, counted, names, strict=True)])
    else:
        for columns in zip(rows, counted, names, strict=True):
            print_file(*columns)
    if all(row.trouble and not row.hash for row in rows):
        raise typer.Exit(1)


@app.command("list")
def list_(
    context: typer.Context,
    conversation: ConversationId,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the files that a conversation's messages brought in, and which of them have changed since."""
    from holdfast.context.attachments import files_of

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        lanes = store.lanes.of(row.id)
        rows = [
            {**file, "changed": has_changed(file)} for file in (files_of(store, lanes[0]) if lanes else ())
        ]
    if as_json:
        print_json({"files": rows})
        return
    states = {"whole": _("in the window"), "short": _("shortened"), "out": _("out of the window")}
    lines = []
    for file in rows:
        notes = [states[file["state"]], *([_("changed")] if file["changed"] else [])]
        notes += [pick(file["trouble"])] if file["trouble"] else []
        mode = mode_labels().get(file["mode"], "")
        lines.append((file["name"], mode, f"{file['tokens']:,}", ", ".join(notes)))
    if lines:
        print_table((_("file"), _("mode"), _("tokens"), _("now")), lines)
    else:
        console.print(_("No files yet."))


def has_changed(row: JsonObject) -> bool:
    """Return whether the file on disk differs from the one that was attached."""
    from holdfast.files.attach import attach_files

    if not row["hash"]:
        return False
    return any(file.hash != row["hash"] for file in attach_files(f"@{row['reference']}", current_roots()))


def read_source_text(row: "AttachedFile", roots: "Roots") -> str:
    """Return the whole text of a file, or an empty string for a folder or a search."""
    from holdfast.files.attach import load_source

    if not row.hash:
        return ""
    source = load_source(roots, roots.find(row.path, full=True))
    if source.data.whole:
        return source.text
    # For a file that was only read in part, repeat the text up to about its size.
    return source.text * max(1, source.data.size // max(1, len(source.text.encode())))


async def count_tokens(
    settings: Settings, rows: "Sequence[AttachedFile]", texts: Sequence[str]
) -> list[_TokenCounts]:
    """Count tokens before and after shortening, with the model's tokenizer or else by an estimate."""
    from holdfast.cli.ask import choose_model
    from holdfast.tokens.estimate import estimate, family_of
    from holdfast.wiring import running_engine

    pairs = [(text or row.text, row.text) for row, text in zip(rows, texts, strict=True)]
    try:
        async with running_engine(settings) as engine:
            name = await choose_model(engine, settings.model)
            provider = await engine.upstreams.route(name)
            family = (await provider.describe(name)).family
            count = engine.models.counters.count_text
            counts = []
            for before, after in pairs:
                first = await count(provider, name, before, family)
                second = await count(provider, name, after, family)
                counts.append(_TokenCounts(first.tokens, second.tokens, name, second.method))
            return counts
    except HoldfastError as error:
        print_error(_("Estimated: {error}").format(error=translate(str(error))))
    guess = family_of(settings.model)
    return [
        _TokenCounts(
            estimate(before, guess).tokens, estimate(after, guess).tokens, settings.model, "estimate"
        )
        for before, after in pairs
    ]


def list_elements(row: "AttachedFile", text: str) -> list[str]:
    from holdfast.files.digests import list_elements

    return list_elements(Path(row.path).name, text) if text else []


def serialize_file(row: "AttachedFile", counted: _TokenCounts, names: list[str]) -> dict[str, Any]:
    return {
        "path": row.path,
        "mode": row.mode,
        "size": row.size,
        "hash": row.hash,
        "model": counted.model,
        "method": counted.method,
        "tokens_before": counted.before,
        "tokens_after": counted.after,
        "saved_percent": counted.savings,
        "text": row.text,
        "digest": row.digest,
        "trouble": translate(row.trouble) or None,
        "elements": names,
        "more": suggest_references(row),
    }


def print_file(row: "AttachedFile", counted: _TokenCounts, names: list[str]) -> None:
    from holdfast.files.references import element_suffix

    if row.trouble:
        print_error(row.trouble)
        if not row.hash:
            return
    about = f"{row.path}: {mode_labels()[row.mode]}, "
    if row.hash and counted.savings:
        about += _("{before:,} tokens become {after:,}, {savings} % saved").format(
            before=counted.before, after=counted.after, savings=counted.savings
        )
    else:
        about += _("{after:,} tokens").format(after=counted.after)
    about += _(", estimated") if counted.method == "estimate" else ""
    console.print(about, style="bold")
    write(f"{row.text}\n")
    if more := suggest_references(row):
        console.print(_("More: ") + "  ".join(more), style="dim")
    if public := [name for name in names if not name.rpartition(".")[2].startswith("_")][:_MAX_NAMES]:
        asked = element_suffix(public[0])
        parts = _("Parts, as {asked}: ").format(asked=asked)
        console.print(parts + ", ".join(public), style="dim")


def mode_labels() -> dict[str, str]:
    return {
        "full": _("whole"),
        "summary": _("digest"),
        "element": _("one element"),
        "lines": _("lines"),
        "tree": _("tree"),
        "list": _("list"),
        "search": _("search"),
    }


def suggest_references(row: "AttachedFile") -> list[str]:
    """Return references that would show more of it, as they are written in a message."""
    from holdfast.files.references import Reference, format_reference

    here, path = Path.cwd(), Path(row.path)
    name = f"./{path.relative_to(here)}" if path.is_relative_to(here) else row.path
    name = "./" if path == here else name

    def spell(mode: "Mode", detail: str = "") -> str:
        return "@" + format_reference(name, Reference(0, 0, name, mode, detail))

    if row.mode in ("tree", "list", "search"):
        other: Mode = "tree" if row.mode == "list" else "list"
        return [spell(other), spell("search", _("WORD"))]
    return [spell("full")] if row.hash and row.mode != "full" else []
