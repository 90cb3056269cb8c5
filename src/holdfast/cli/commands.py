"""The table of commands with their help and examples, and the group that loads them.

A command's module is imported only when it is used, so that help and completion are fast. Examples use ids as
a list would show them; a test parses every one.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import StringIO
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, translate

# By name: the module and the function or group in it, and its help sentence (the same as its docstring).
COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat:chat", "Talk with a model; the conversation is kept and can be gone on with later."),
    "ask": ("ask:ask", "Ask one question and print the answer."),
    "serve": ("serve:serve", "Serve clients of Ollama and OpenAI, and keep what they say."),
    "mcp": (
        "serve:mcp",
        "Offer memory, conversations and research to an MCP host, such as Claude Desktop, Cursor or Zed.",
    ),
    "init": (
        "project:init",
        "Propose memories from what this repository says about itself, and keep those you accept.",
    ),
    "brief": (
        "project:brief",
        "Print what is forbidden, failed, open and decided in this project, for the start of a session.",
    ),
    "connect": (
        "connect:connect",
        "Connect a client: write its configuration, and prove it with one request. --undo takes it back.",
    ),
    "launch": ("connect:launch", "Start a client connected, without changing any of its files."),
    "conversations": ("conversations:app", "The conversations that were kept."),
    "window": (
        "window:window",
        "Show what a model was last shown of a conversation: section by section, and what is out and why.",
    ),
    "memory": ("memory:app", "What is remembered beyond a conversation."),
    "profile": ("profile:app", "The profile: what models know about you."),
    "research": ("research:app", "What was found for a question, kept while it holds."),
    "files": ("files:app", "Files that messages point at with @."),
    "models": ("models:app", "The models that can be asked."),
    "count": ("models:count", "Count the tokens of texts, by the model's own vocabulary where there is one."),
    "jobs": ("doctor:jobs", "List the last requests to model servers, newest first."),
    "import": (
        "transfer:import_",
        "Bring in what another tool has kept; exit code 1 if nothing of it could be read.",
    ),
    "backup": ("backup:app", "Everything in one file, and back again."),
    "migrate": (
        "transfer:migrate",
        "Move everything into another database or to another place; what there was stays as it was.",
    ),
    "users": ("users:app", "Users and their data."),
    "keys": ("users:keys_app", "Keys that let programs in."),
    "password": (
        "users:password",
        "Set the password of the page. Every browser that is signed in has to do it again.",
    ),
    "config": ("doctor:config", "Show every setting, its value and where it came from."),
    "demo": (
        "demo:demo",
        "Watch a talk of 120 turns in a window of 8,192 tokens; exit code 1 if something was forgotten.",
    ),
    "doctor": ("doctor:doctor", "Look at everything Holdfast needs; exit code 1 if something is wrong."),
}
EXAMPLES: Mapping[str, Sequence[str]] = {
    "ask": (
        'holdfast ask "What is a mutex?"',
        'git diff | holdfast ask "Review this"',
        'holdfast ask "Explain @./engine.py:Engine.turn" --json',
        'holdfast ask -q "One word: yes or no?" && echo answered',
    ),
    "chat": (
        "holdfast chat",
        "holdfast chat -m qwen3:8b",
        "holdfast chat -c c_01h8xk",
        'printf "Hello\\n/window\\n" | holdfast chat',
    ),
    "serve": (
        "holdfast serve",
        "holdfast serve --port 8080 --upstream http://127.0.0.1:11434",
        "holdfast serve --for-docker",
    ),
    "mcp": ("holdfast mcp", "holdfast mcp --project lease-3f2a1b", "holdfast mcp --http --port 8080"),
    "init": ("holdfast init", "holdfast init --dry-run", "holdfast init --update --yes"),
    "brief": ("holdfast brief", "holdfast brief --window 8192", "holdfast brief --json"),
    "connect": (
        "holdfast connect --list",
        "holdfast connect opencode --dry-run",
        "holdfast connect claude-code --yes",
        "holdfast connect codex --undo",
    ),
    "launch": ("holdfast launch opencode", "holdfast launch claude-code -- --continue"),
    "demo": ("holdfast demo", "holdfast demo --fast"),
    "count": ("holdfast count notes.md", "git diff | holdfast count -m qwen3:8b -"),
    "window": ("holdfast window c_01h8xk", "holdfast window c_01h8xk --summary"),
    "jobs": ("holdfast jobs", "holdfast jobs --status failed --json"),
    "doctor": ("holdfast doctor", "holdfast doctor --json"),
    "config": ("holdfast config", "holdfast config --json"),
    "password": ("holdfast password", "printf '%s' \"$PASSWORD\" | holdfast password --stdin"),
    "conversations": ("holdfast conversations list", "holdfast conversations search lease"),
    "conversations list": ("holdfast conversations list", "holdfast conversations list --limit 100 --json"),
    "conversations show": ("holdfast conversations show c_01h8xk",),
    "conversations search": (
        "holdfast conversations search lease",
        "holdfast conversations search '\"never push to main\"' --limit 5",
    ),
    "conversations rename": ("holdfast conversations rename c_01h8xk The new flat",),
    "conversations move": ("holdfast conversations move c_01h8xk garden",),
    "conversations delete": (
        "holdfast conversations delete c_01h8xk",
        "holdfast conversations delete c_01h8xk --yes --forget",
    ),
    "conversations fork": (
        "holdfast conversations fork c_01h8xk",
        'holdfast conversations fork c_01h8xk 12 --title "Another way"',
    ),
    "conversations prune": (
        "holdfast conversations prune --older-than 90d --dry-run",
        "holdfast conversations prune --older-than 1y --memories forget --yes",
    ),
    "conversations switch": (
        "holdfast conversations switch c_01h8xk --no-memory",
        "holdfast conversations switch c_01h8xk --off",
    ),
    "conversations compact": ("holdfast conversations compact c_01h8xk",),
    "conversations pin": ("holdfast conversations pin c_01h8xk 3",),
    "conversations unpin": ("holdfast conversations unpin c_01h8xk 3",),
    "conversations undo": (
        "holdfast conversations undo c_01h8xk",
        "holdfast conversations undo c_01h8xk d_01h8zz",
    ),
    "conversations expand": (
        "holdfast conversations expand c_01h8xk",
        "holdfast conversations expand c_01h8xk 12",
    ),
    "memory": ("holdfast memory add The lease ends in May", "holdfast memory search lease"),
    "memory add": (
        "holdfast memory add The lease ends in May",
        "holdfast memory add I prefer short answers --kind preference --scope user",
    ),
    "memory list": ("holdfast memory list", "holdfast memory list --kind decision --json"),
    "memory show": ("holdfast memory show y_01h8xk",),
    "memory edit": (
        "holdfast memory edit y_01h8xk",
        "holdfast memory edit y_01h8xk The lease ends in June",
        "holdfast memory edit y_01h8xk --pin",
    ),
    "memory proposals": ("holdfast memory proposals",),
    "memory history": ("holdfast memory history y_01h8xk",),
    "memory undo": ("holdfast memory undo y_01h8xk",),
    "memory replace": ("holdfast memory replace y_01h8xk",),
    "memory keep-both": ("holdfast memory keep-both y_01h8xk",),
    "memory forget": ("holdfast memory forget y_01h8xk", "holdfast memory forget y_01h8xk --yes"),
    "memory clear": ("holdfast memory clear", "holdfast memory clear --scope user"),
    "memory stats": ("holdfast memory stats",),
    "memory export": ("holdfast memory export -o memories.json", "holdfast memory export --format markdown"),
    "memory import": ("holdfast memory import memories.json", "holdfast memory import - < notes.md"),
    "memory search": (
        "holdfast memory search when does the lease end",
        "holdfast memory search lease --within all --json",
    ),
    "memory reindex": ("holdfast memory reindex",),
    "profile": ("holdfast profile show", "holdfast profile set name Ada"),
    "profile show": ("holdfast profile show",),
    "profile set": ("holdfast profile set name Ada", 'holdfast profile set languages "[German, English]"'),
    "profile edit": ("holdfast profile edit",),
    "profile proposals": ("holdfast profile proposals",),
    "profile accept": ("holdfast profile accept p_01h8xk",),
    "profile dismiss": ("holdfast profile dismiss p_01h8xk",),
    "research": ('holdfast research ask "Who won the marathon?"', "holdfast research list"),
    "research ask": (
        'holdfast research ask "Who won the marathon?" --mode deep',
        'holdfast research ask "What is new?" -s https://example.org/news -s ./notes.pdf',
    ),
    "research add": (
        'holdfast research add "What does the lease say?" lease.pdf https://example.org/law',
        'holdfast research add "What did they decide?" - < minutes.txt',
    ),
    "research list": ("holdfast research list", "holdfast research list --text lease --json"),
    "research show": ("holdfast research show r_01h8xk --texts",),
    "research forget": ("holdfast research forget r_01h8xk",),
    "research prune": ("holdfast research prune",),
    "files": ("holdfast files show @./engine.py", "holdfast files list c_01h8xk"),
    "files show": (
        "holdfast files show @./engine.py",
        'holdfast files show "./my notes.md:summary"',
        "holdfast files show @./src/:tree",
    ),
    "files list": ("holdfast files list c_01h8xk",),
    "models": ("holdfast models", "holdfast models show qwen3:8b", "holdfast models get"),
    "models list": ("holdfast models list", "holdfast models list --json"),
    "models show": ("holdfast models show qwen3:8b",),
    "models set": (
        "holdfast models set qwen3:8b --num-ctx 16384",
        "holdfast models set qwen3:8b --num-ctx 0",
    ),
    "models get": ("holdfast models get",),
    "keys": ('holdfast keys create --name "Open WebUI"', "holdfast keys list"),
    "keys create": (
        'holdfast keys create --name "Open WebUI" --forwarder',
        "holdfast keys create --name laptop --user ada --rate 60/min",
    ),
    "keys list": ("holdfast keys list",),
    "keys revoke": ("holdfast keys revoke k_01h8xk",),
    "import": (
        "holdfast import ~/Downloads/chatgpt-export.zip --dry-run",
        "holdfast import ollama-prompt ~/.config/ollama-prompt/sessions.db",
        "holdfast import openclaw ~/.openclaw",
        "holdfast import markdown notes/ --memories",
    ),
    "backup": ("holdfast backup create", "holdfast backup check holdfast-2026-02-24-090000.zip"),
    "backup create": ("holdfast backup create", "holdfast backup create /mnt/backups/holdfast.zip --json"),
    "backup check": ("holdfast backup check holdfast.zip",),
    "backup restore": (
        "holdfast --home /srv/holdfast backup restore holdfast.zip",
        "holdfast backup restore holdfast.zip --overwrite",
    ),
    "backup finish": ("holdfast backup finish",),
    "backup salvage": ("holdfast backup salvage",),
    "migrate": (
        "holdfast migrate --to postgresql://holdfast:…@db/holdfast",
        "holdfast migrate --to sqlite:///holdfast.db --notes notes --switch",
        "holdfast migrate --notes s3://bucket/notes",
    ),
    "users": ("holdfast users list", "holdfast users export ada"),
    "users list": ("holdfast users list", "holdfast users list --json"),
    "users export": ("holdfast users export ada", "holdfast users export ada ada.zip"),
    "users delete": ("holdfast users delete ada", "holdfast users delete ada --yes --backups"),
}

# Commands that people expect, and that are below a noun here.
_MEANT = {
    "search": lazy("There is `holdfast memory search` for memories, and `holdfast conversations search`."),
    "list": lazy("There is `holdfast conversations list`, and `holdfast memory list`."),
    "restore": lazy("There is `holdfast backup restore`."),
    "remember": lazy("There is `holdfast memory add`."),
    "forget": lazy("There is `holdfast memory forget`."),
}

AnyCommand = TypeVar("AnyCommand", TyperCommand, TyperGroup, TyperCommand | TyperGroup)


def translate_help(text: str) -> str:
    """Translate a help text paragraph by paragraph; a paragraph without a translation stays English."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(_(paragraph) for paragraph in paragraphs)


class HelpFormatter(typer.Context.formatter_class):  # type: ignore[valid-type,misc]
    """Translates headings and descriptions that Typer adds."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or f"{translate_help('Usage')}: ")

    def section(self, name: str) -> Any:
        return super().section(translate_help(name))

    def write_dl(self, rows: Any, *sizes: int, **named: int) -> None:
        super().write_dl([(first, translate_help(second)) for first, second in rows], *sizes, **named)


class HelpContext(typer.Context):
    formatter_class = HelpFormatter


def prepare_help(command: AnyCommand, path: str = "") -> AnyCommand:
    """Translate the help of a command and its subcommands, and add their examples."""
    command.context_class = HelpContext
    if command.help:
        command.help = translate_help(command.help)
        # Lists show whole sentences; otherwise they are cut at the end of the line.
        command.short_help = command.help.partition("\n\n")[0]
    if command.epilog:
        command.epilog = translate_help(command.epilog)
    for option in command.params:
        if text := getattr(option, "help", None):
            option.help = translate_help(text)  # type: ignore[attr-defined]
    if path in EXAMPLES:
        lines = "\n".join(f"  {line}" for line in EXAMPLES[path])
        # `\b` keeps the line breaks of the paragraph.
        command.epilog = f"\b\n{_('Examples')}:\n{lines}"
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            if isinstance(below, TyperCommand | TyperGroup) and path:
                prepare_help(below, f"{path} {name}")
    return command


class CommandGroup(TyperGroup):
    """All commands by name. For listings, each is a placeholder with its help sentence."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (_module, about) in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=translate_help(about)))
        prepare_help(self)

    def main(self, *args: Any, **named: Any) -> Any:
        """Run as Typer does, but print usage errors in the user's language."""
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
        if args and args[0] in _MEANT:
            raise typer.Exit(print_usage_error(2, translate(_MEANT[args[0]])))
        name, command, remaining = super().resolve_command(ctx, args)
        return name, command if command is None else load_command(command.name or ""), remaining


def print_usage_error(code: int, text: str) -> int:
    from holdfast.cli.shared import print_error, translate_usage

    print_error(translate_usage(text))
    return code


def load_command(name: str) -> TyperCommand | TyperGroup:
    """Import a command with its subcommands."""
    module, _colon, attribute = COMMANDS[name][0].partition(":")
    target = getattr(import_module(f"holdfast.cli.{module}"), attribute)
    wrapper = typer.Typer(rich_markup_mode=None)
    if isinstance(target, typer.Typer):
        wrapper.add_typer(target, name=name)
    else:
        wrapper.command(name)(target)
    # Without a callback, Typer makes no group of a single command.
    wrapper.callback()(lambda: None)
    command = typer.main.get_group(wrapper).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return prepare_help(command, name)
