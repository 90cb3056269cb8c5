"""What `--help` says: examples under every command, and all of it in the language that is spoken.

Texts are English where the commands are; `cli/german.py` has each in German. Knows no command.
"""

from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.cli.examples import EXAMPLES
from holdfast.i18n import say

AnyCommand = TypeVar("C", TyperCommand, TyperGroup, TyperCommand | TyperGroup)


def translate_help(text: str) -> str:
    """A text of the help in the language that is spoken; a paragraph without German is said as it is."""
    from holdfast.cli.german import GERMAN

    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(say(one, GERMAN.get(one, one)) for one in paragraphs)


class HelpFormatter(typer.Context.formatter_class):  # type: ignore[valid-type,misc]
    """Writes the words that the library puts between ours."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or f"{translate_help('Usage')}: ")

    def section(self, name: str) -> Any:
        return super().section(translate_help(name))

    def write_dl(self, rows: Any, *sizes: int, **named: int) -> None:
        super().write_dl([(first, translate_help(second)) for first, second in rows], *sizes, **named)


class HelpContext(typer.Context):
    formatter_class = HelpFormatter


def prepare_help(command: AnyCommand, path: str = "") -> AnyCommand:
    """The command and all below it, with everything that their help is to say."""
    command.context_class = HelpContext
    if command.help:
        command.help = translate_help(command.help)
        # Whole sentences in lists: else they are cut where a line ends.
        command.short_help = command.help.partition("\n\n")[0]
    if command.epilog:
        command.epilog = translate_help(command.epilog)
    for option in command.params:
        if text := getattr(option, "help", None):
            option.help = translate_help(text)  # type: ignore[attr-defined]
    if path in EXAMPLES:
        lines = "\n".join(f"  {line}" for line in EXAMPLES[path])
        # The mark of a paragraph whose lines stay as they are.
        command.epilog = f"\b\n{say('Examples', 'Beispiele')}:\n{lines}"
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            if isinstance(below, TyperCommand | TyperGroup) and path:
                prepare_help(below, f"{path} {name}")
    return command
