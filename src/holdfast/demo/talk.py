"""The talk of the demonstration: who says what, read from a text file in each language.

In the file a blank line is between two turns. `> ` is what the person says, other lines are the answer to it.
`? ` is a question that has no answer in the script, and `= ` what its answer must say. Knows no model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.demo.pastes import PASTES
from holdfast.i18n import Language

_FOLDER = Path(__file__).parent
_INSTRUCTIONS = {
    "en": "You help with the work of a small office. Answer briefly, from what you were told.",
    "de": "Du hilfst bei der Arbeit eines kleinen Büros. Antworte kurz, aus dem, was dir gesagt wurde.",
}
# Asked when all is said, in a conversation of its own.
_AFTERWARDS = {
    "en": ("Did we decide to rent or to buy the scanner?", "rent the scanner for three months"),
    "de": ("Haben wir entschieden, den Scanner zu mieten oder zu kaufen?", "für drei Monate zu mieten"),
}


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One turn. A question is `sought` in what the model is sent; anything else has its answer here."""

    said: str
    answer: str = ""
    sought: str = ""


@dataclass(frozen=True, slots=True)
class DemoScript:
    language: Language
    instructions: str
    lines: tuple[ScriptLine, ...]
    afterwards: ScriptLine


def load_script(language: Language) -> DemoScript:
    said, sought = _AFTERWARDS[language]
    text = (_FOLDER / f"talk.{language}.txt").read_text(encoding="utf-8")
    return DemoScript(
        language, _INSTRUCTIONS[language], tuple(parse_lines(text)), ScriptLine(said, sought=sought)
    )


def parse_lines(text: str) -> Iterator[ScriptLine]:
    for block in text.strip().split("\n\n"):
        by_mark: dict[str, list[str]] = {">": [], "?": [], "=": [], "": []}
        for line in block.splitlines():
            mark = line[0] if line[:2] in ("> ", "? ", "= ") else ""
            by_mark[mark].append(line[2:] if mark else line)
        said = "\n".join(PASTES.get(line, line) for line in (*by_mark[">"], *by_mark["?"]))
        yield ScriptLine(said, "\n".join(by_mark[""]), "\n".join(by_mark["="]))
