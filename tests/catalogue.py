"""The German catalogue beside the code: every message that is translated, and what is wrong with the file.

`make catalogue` brings the file up to date with it: `python -m tests.catalogue`.
"""

import ast
import re
import string
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import typer.main
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

import holdfast
from holdfast import errors
from holdfast.cli import app
from holdfast.cli.commands import COMMANDS, load_command
from holdfast.server.pages.words import find_messages as find_script_messages

SOURCE = Path(holdfast.__file__).parent
PATH = SOURCE / "locales" / "de" / "LC_MESSAGES" / "holdfast.po"

# The functions that take a message: which of their arguments is its context, and which are its texts.
FUNCTIONS: dict[str, tuple[int | None, tuple[int, ...]]] = {
    "_": (None, (0,)),
    "lazy": (None, (0,)),
    "ngettext": (None, (0, 1)),
    "lazy_plural": (None, (0, 1)),
    "pgettext": (0, (1,)),
    "lazy_context": (0, (1,)),
    "_setting": (None, (1,)),
}
# Whose errors are read by programs, which look for English words, and by those who write programs.
ENGLISH_ONLY = re.compile(
    r"(protocols|mcp|testing|demo|backends)/|library\.py|tokens/(vocabulary|tokenizer)\.py|files/problems\.py"
    r"|server/(ollama|openai|embeddings|anthropic|mcp|endpoint)\.py|memory/(embedder\w*|remote_vectors|index)\.py"
)
COMMAND = "holdfast "
# Words of Typer between ours in a help text.
TYPER = {
    "Usage",
    "Arguments",
    "Options",
    "Commands",
    "Show this message and exit.",
    "Install completion for the current shell.",
    "Show completion for the current shell, to copy it or customize the installation.",
}
_HEADER = """\
# German translations of Holdfast. `make catalogue` adds what is new and drops what is gone.
msgid ""
msgstr ""
"Language: de\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

"""

# The context of a message, '' for none, and its English text, singular and plural.
Message = tuple[str, tuple[str, ...]]


@cache
def load_file() -> Catalog:
    with PATH.open("rb") as file:
        return read_po(file, locale="de", abort_invalid=True)


@cache
def find_messages() -> frozenset[Message]:
    """Return the messages of the code, the pages, the settings and the help of all commands."""
    return frozenset(_extract()) | {("", (text,)) for text in find_help_paragraphs() | TYPER}


def _extract() -> Iterator[Message]:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if "holdfast.i18n" in text:
            yield from _messages(ast.parse(text))
    for path in SOURCE.rglob("*.html"):
        for _line, text, _notes, context in extract_from_file("jinja2", path):
            yield context or "", as_tuple(text)
    for path in (SOURCE / "server" / "pages" / "static").glob("*.js"):
        yield from ((context, (text,)) for context, text in find_script_messages(path.read_text("utf-8")))


def _messages(tree: ast.Module) -> Iterator[Message]:
    """Find the messages of a module. Unlike Babel's own search, it looks into f-strings on every Python."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            context, texts = FUNCTIONS[node.func.id]
            values = [
                argument.value if isinstance(argument, ast.Constant) else None for argument in node.args
            ]
            english = tuple(values[at] for at in texts)
            if all(isinstance(text, str) for text in english):
                yield "" if context is None else values[context], english


def find_plain_errors() -> Iterator[str]:
    """Find errors whose message or hint is a sentence that nobody can translate."""
    names = set(_error_names(errors.HoldfastError))
    for path in SOURCE.rglob("*.py"):
        if ENGLISH_ONLY.match(path.relative_to(SOURCE).as_posix()):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                texts = node.args[:1] if node.func.id != "ModelMissing" else []
                texts += [item.value for item in node.keywords if item.arg == "hint"]
                yield from (f"{path.name}:{text.lineno}" for text in texts if _is_sentence(text))


def _error_names(error: type) -> Iterator[str]:
    yield error.__name__
    for kind in error.__subclasses__():
        yield from _error_names(kind)


def _is_sentence(text: ast.expr) -> bool:
    """Whether a literal has words of its own, and not only what it quotes."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    plain = " ".join(
        part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )
    return len(re.findall(r"[a-z]{2,}", plain)) > 1 and not plain.startswith(COMMAND)


def find_help_paragraphs() -> set[str]:
    commands = [typer.main.get_command(app)]
    for name in COMMANDS:
        commands += _walk(load_command(name))
    texts = {text for command in commands for text in (command.help, command.epilog) if text}
    texts |= {option.help for command in commands for option in command.params if getattr(option, "help", "")}
    return {part for text in texts for part in text.split("\n\n") if not part.startswith("\b")}


def _walk(command):
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _walk(below)


def as_tuple(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def load_translations() -> dict[Message, tuple[str, ...]]:
    """Return the German of every message in the file."""
    return {
        (entry.context or "", as_tuple(entry.id)): as_tuple(entry.string) for entry in load_file() if entry.id
    }


def find_placeholders(text: str) -> set[str]:
    """Return the placeholders of a text."""
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name}


def update() -> None:
    """Add the messages that are new, without a translation, and drop those that nobody uses."""
    known = load_translations()
    catalog = Catalog(locale="de", fuzzy=False)
    for context, english in find_messages():
        german = known.get((context, english), ("",) * len(english))
        plural = len(english) > 1
        catalog.add(
            english if plural else english[0], german if plural else german[0], context=context or None
        )
    with PATH.open("wb") as file:
        file.write(_HEADER.encode())
        write_po(file, catalog, width=100, no_location=True, omit_header=True, sort_output=True)
    for context, english in sorted(find_messages() - known.keys()):
        sys.stdout.write(f"new: {' / '.join(english)}{f' ({context})' if context else ''}\n")
    for context, english in sorted(known.keys() - find_messages()):
        sys.stdout.write(f"gone: {' / '.join(english)}{f' ({context})' if context else ''}\n")


if __name__ == "__main__":
    update()
