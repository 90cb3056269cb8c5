"""Which commands there are, where each is, and the sentence that `--help` has for it.

A command is imported when it is used, so that help and completion are quick whatever commands need. Knows
nothing of what they do.
"""

import sys
from importlib import import_module
from io import StringIO
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.cli.help import prepare_help, translate_help

# By name: the module and what in it, a command or a group of them; and what it does, as it says itself.
COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat:chat", "Talk with a model; the conversation is kept and can be gone on with later."),
    "ask": ("ask:ask", "Ask one question and print the answer."),
    "serve": ("serve:serve", "Serve clients of Ollama and OpenAI, and keep what they say."),
    "mcp": (
        "mcp:mcp",
        "Offer memory, conversations and research to an MCP host, such as Claude Desktop, Cursor or Zed.",
    ),
    "conversations": ("conversations:app", "The conversations that were kept."),
    "window": (
        "window:window",
        "Show what a model was last shown of a conversation: section by section, and what is out and why.",
    ),
    "memory": ("memory:app", "What is remembered beyond a conversation."),
    "profile": ("profile:app", "What a model is told about you."),
    "research": ("research:app", "What was found for a question, kept while it holds."),
    "files": ("files:app", "Files that messages point at with @."),
    "models": ("models:app", "The models that can be asked."),
    "count": ("count:count", "Count the tokens of texts, by the model's own vocabulary where there is one."),
    "jobs": ("jobs:jobs", "List the last requests to model servers, newest first."),
    "import": (
        "imports:import_",
        "Bring in what another tool has kept; exit code 1 if nothing of it could be read.",
    ),
    "backup": ("backup:app", "Everything in one file, and back again."),
    "migrate": (
        "migrate:migrate",
        "Move everything into another database or to another place; what there was stays as it was.",
    ),
    "users": ("users:app", "Who there is, and all that each of them has."),
    "keys": ("keys:app", "Keys that let programs in."),
    "password": (
        "password:password",
        "Set the password of the page. Every browser that is signed in has to do it again.",
    ),
    "config": ("config:config", "Show every setting, its value and where it came from."),
    "demo": (
        "demo:demo",
        "Watch a talk of 120 turns in a window of 8,192 tokens; exit code 1 if something was forgotten.",
    ),
    "doctor": ("doctor:doctor", "Look at everything Holdfast needs; exit code 1 if something is wrong."),
}


class CommandGroup(TyperGroup):
    """All commands by name. Those that are only listed are names with a sentence."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (_, about) in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=translate_help(about)))
        prepare_help(self)

    def main(self, *args: Any, **named: Any) -> Any:
        """As the library does it, but what is misspelt is told in the person's language."""
        try:
            code = super().main(*args, **{**named, "standalone_mode": False})
        except typer.Abort:
            code = print_usage_error(1, "Aborted!")
        except typer.TyperException as error:
            shown = StringIO()
            error.show(shown)  # type: ignore[attr-defined]
            code = print_usage_error(error.exit_code, shown.getvalue().rstrip())
        sys.exit(code)

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if found is None else load_command(found.name or ""), rest


def print_usage_error(code: int, text: str) -> int:
    from holdfast.cli.output import print_error

    print_error(text)
    return code


def load_command(name: str) -> TyperCommand | TyperGroup:
    """The command itself, with all below it."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"holdfast.cli.{module}"), attribute)
    around = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    # A lone command is no group by itself.
    around.callback()(lambda: None)
    command = typer.main.get_group(around).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return prepare_help(command, name)
