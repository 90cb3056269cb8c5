"""`holdfast files`: what a reference like `@./engine.py:Engine.turn` becomes, and how to ask for more of it.

Here, in the person's own shell, everything they may read can be pointed at; a secret only with `:full`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.kept import Id, Json, kept
from holdfast.cli.output import complain, console, load, print_json, write
from holdfast.cli.project import Project
from holdfast.config import Settings
from holdfast.errors import HoldfastError
from holdfast.i18n import say
from holdfast.messages import JsonObject

if TYPE_CHECKING:
    from holdfast.files.bringing import Brought
    from holdfast.files.references import Mode
    from holdfast.files.roots import Roots

app = typer.Typer(help="Files that messages point at with @.", no_args_is_help=True)

# So many names of what is in a file are told.
_NAMES = 12


@dataclass(frozen=True, slots=True)
class _Counted:
    before: int
    after: int
    model: str
    method: str

    @property
    def saved(self) -> float:
        """In percent. The heading of a file that is there whole makes it no larger."""
        return max(0.0, round(100 * (1 - self.after / self.before), 1)) if self.before else 0.0


def roots_here(pasted: str = "") -> "Roots":
    """From the folder one is in, whatever one may read; `pasted` is text of others at a message's end."""
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
    as_json: Json = False,
) -> None:
    """Show what a reference becomes: how, with how many tokens before and after, and the text."""
    from holdfast.files.bringing import brought
    from holdfast.files.references import reference_from

    settings = load(context, model=model).settings
    roots = roots_here()
    rows = brought([reference_from(reference)], roots)
    texts = [_text_of(row, roots) for row in rows]
    counted = asyncio.run(_counted(settings, rows, texts))
    names = [_elements(row, text) for row, text in zip(rows, texts, strict=True)]
    if as_json:
        print_json([_as_json(*told) for told in zip(rows, counted, names, strict=True)])
    else:
        for told in zip(rows, counted, names, strict=True):
            _print(*told)
    if all(row.trouble and not row.hash for row in rows):
        raise typer.Exit(1)


@app.command("list")
def list_(context: typer.Context, conversation: Id, project: Project = None, as_json: Json = False) -> None:
    """List the files that a conversation's messages brought in, and which of them have changed since."""
    from holdfast.fitting.filing import files_of

    with kept(load(context).settings, conversation, project) as (store, row):
        lanes = store.lanes.of(row.id)
        rows = [{**one, "changed": _has_changed(one)} for one in (files_of(store, lanes[0]) if lanes else ())]
    if as_json:
        print_json({"files": rows})
        return
    states = {
        "whole": say("in the window", "im Fenster"),
        "short": say("shortened", "gekürzt"),
        "out": say("out of the window", "nicht im Fenster"),
    }
    table = Table(box=None, pad_edge=False)
    for heading in (say("file", "Datei"), say("mode", "Art"), say("tokens", "Token"), say("now", "jetzt")):
        table.add_column(heading)
    for one in rows:
        notes = [states[one["state"]], *([say("changed", "geändert")] if one["changed"] else [])]
        notes += [say(*one["trouble"])] if one["trouble"] else []
        table.add_row(
            Text(one["name"]), _modes().get(one["mode"], ""), f"{one['tokens']:,}", Text(", ".join(notes))
        )
    console.print(table if rows else say("No files yet.", "Noch keine Dateien."))


def _has_changed(row: JsonObject) -> bool:
    """Whether the file on the disk is another one than was shown."""
    from holdfast.files.bringing import bring

    if not row["hash"]:
        return False
    return any(one.hash != row["hash"] for one in bring(f"@{row['reference']}", roots_here()))


def _text_of(row: "Brought", roots: "Roots") -> str:
    """The whole text that a row stands for; empty for what is no file."""
    from holdfast.files.bringing import source_of

    if not row.hash:
        return ""
    source = source_of(roots, roots.find(row.path, full=True))
    if source.data.whole:
        return source.text
    # Of what was never read whole, about as much text as there is of it.
    return source.text * max(1, source.data.size // max(1, len(source.text.encode())))


async def _counted(settings: Settings, rows: "Sequence[Brought]", texts: Sequence[str]) -> list[_Counted]:
    """Tokens as the model counts them; without a model server by an estimate."""
    from holdfast.cli.talk import model_for
    from holdfast.tokens.estimate import estimate, family_of
    from holdfast.wiring import running_engine

    pairs = [(text or row.text, row.text) for row, text in zip(rows, texts, strict=True)]
    try:
        async with running_engine(settings) as engine:
            name = await model_for(engine, settings.model)
            provider = await engine.upstreams.route(name)
            family = (await provider.describe(name)).family
            count = engine.models.counters.count_text
            found = []
            for before, after in pairs:
                first = await count(provider, name, before, family)
                second = await count(provider, name, after, family)
                found.append(_Counted(first.tokens, second.tokens, name, second.method))
            return found
    except HoldfastError as error:
        complain(say(f"Estimated: {error}", f"Geschätzt: {error}"))
    guess = family_of(settings.model)
    return [
        _Counted(estimate(before, guess).tokens, estimate(after, guess).tokens, settings.model, "estimate")
        for before, after in pairs
    ]


def _elements(row: "Brought", text: str) -> list[str]:
    from holdfast.files.digests import elements

    return elements(Path(row.path).name, text) if text else []


def _as_json(row: "Brought", counted: _Counted, names: list[str]) -> dict[str, Any]:
    return {
        "path": row.path,
        "mode": row.mode,
        "size": row.size,
        "hash": row.hash,
        "model": counted.model,
        "method": counted.method,
        "tokens_before": counted.before,
        "tokens_after": counted.after,
        "saved_percent": counted.saved,
        "text": row.text,
        "digest": row.digest,
        "trouble": say(row.trouble, row.trouble_de) or None,
        "elements": names,
        "more": _more(row),
    }


def _print(row: "Brought", counted: _Counted, names: list[str]) -> None:
    from holdfast.files.references import suffix_for

    if row.trouble:
        complain(say(row.trouble, row.trouble_de))
        if not row.hash:
            return
    about = f"{row.path}: {_modes()[row.mode]}, "
    if row.hash and counted.saved:
        about += say(
            f"{counted.before:,} tokens become {counted.after:,}, {counted.saved} % saved",
            f"aus {counted.before:,} Token werden {counted.after:,}, {counted.saved} % gespart",
        )
    else:
        about += say(f"{counted.after:,} tokens", f"{counted.after:,} Token")
    about += say(", estimated", ", geschätzt") if counted.method == "estimate" else ""
    console.print(Text(about, style="bold"))
    write(f"{row.text}\n")
    if more := _more(row):
        console.print(Text(say("More: ", "Mehr: ") + "  ".join(more), style="dim"))
    if public := [name for name in names if not name.rpartition(".")[2].startswith("_")][:_NAMES]:
        asked = suffix_for(public[0])
        parts = say(f"Parts, as {asked}: ", f"Teile, etwa {asked}: ")
        console.print(Text(parts + ", ".join(public), style="dim"))


def _modes() -> dict[str, str]:
    return {
        "full": say("whole", "ganz"),
        "summary": say("digest", "Auszug"),
        "element": say("one element", "ein Element"),
        "lines": say("lines", "Zeilen"),
        "tree": say("tree", "Baum"),
        "list": say("list", "Liste"),
        "search": say("search", "Suche"),
    }


def _more(row: "Brought") -> list[str]:
    """How one asks for more, as one would write it in a message."""
    from holdfast.files.references import Reference, written

    here, path = Path.cwd(), Path(row.path)
    name = f"./{path.relative_to(here)}" if path.is_relative_to(here) else row.path
    name = "./" if path == here else name

    def asked(mode: "Mode", what: str = "") -> str:
        return "@" + written(name, Reference(0, 0, name, mode, what))

    if row.mode in ("tree", "list", "search"):
        other: Mode = "tree" if row.mode == "list" else "list"
        return [asked(other), asked("search", say("WORD", "WORT"))]
    return [asked("full")] if row.hash and row.mode != "full" else []
