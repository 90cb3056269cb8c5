"""Models that are asked to summarise, as scripts: one that is good at it, and several that are of no use.

Each gets a prompt and gives an answer. They see what a model sees and nothing else: the text of the prompt.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from holdfast.errors import Unreachable
from holdfast.testing.provider import Script

Summariser = Callable[[str], Script]

# Beside Holdfast's own prompts, this is what people usually send.
PLAIN = "Summarise this conversation so that it can go on without the messages.\n\n=====\n{text}\n====="

_FENCED = re.compile(r"=====\n(.*?)\n=====", re.DOTALL)
_LIMIT = re.compile(r"(\d+) (?:words|Wörter)")
_SPEAKER = re.compile(r"^(?:User|Assistant|Tool result|Nutzer|Assistent|Werkzeug-Ergebnis): ", re.MULTILINE)
_SENTENCE = re.compile(r"[^\n]+?(?:[.?!](?=\s|$)|$)", re.MULTILINE)
_TOLD = re.compile(r"\d{2}")
_FORBIDS = re.compile(r"\b(?:never|don't|do not|nie|niemals|nichts|keine)\b", re.IGNORECASE)
_ASKS = re.compile(r"\?$")
_HEADINGS = {
    False: ("Requests", "Goal", "Done", "Open", "Must not"),
    True: ("Anfragen", "Ziel", "Erledigt", "Offen", "Nicht tun"),
}
_WORDS_BY_DEFAULT, _LINES_BY_DEFAULT = 200, 12
_LINES = re.compile(r"(\d+) (?:lines|Zeilen)")
# What people say of themselves.
_OWN = re.compile(r"\b(?:I|my|we|our|me|ich|mein\w*|wir|unser\w*|mir|uns)\b", re.IGNORECASE)
# Words of a sentence that says something, and not too much for one line.
_FEWEST, _MOST = 4, 45


def asks_on_the_side(prompt: str) -> bool:
    """Whether this is no question of a person's but one about the conversation."""
    return prompt.count("=====\n") >= 1 and bool(_FENCED.search(prompt))


def _is_for_memories(prompt: str) -> bool:
    return "NO_MEMORIES" in prompt or "KEINE_MEMORIES" in prompt


def _is_german(prompt: str) -> bool:
    return "Anfragen\n" in prompt or "KEINE_MEMORIES" in prompt


def good(prompt: str) -> Script:
    """Takes down what was told with numbers, what is forbidden and what was asked, the newest first."""
    pieces = _FENCED.findall(prompt)
    german = _is_german(prompt)
    results = _SENTENCE.findall(_SPEAKER.sub("", pieces[-1]))
    texts = [result.strip() for result in results if _TOLD.search(result)]
    if _is_for_memories(prompt):
        mark = "FAKT: " if german else "FACT: "
        return "\n".join(mark + text for text in texts[-10:]) or "NO_MEMORIES"
    before = [line[2:] for piece in pieces[:-1] for line in piece.splitlines() if line.startswith("- ")]
    matches = _LIMIT.findall(prompt)
    room = int(matches[-1]) if matches else _WORDS_BY_DEFAULT
    newest = [*reversed(texts), *reversed([line for line in before if _TOLD.search(line)])]
    lines = _within(newest, room * 3 // 4)
    forbidden = _within([item.strip() for item in results if _FORBIDS.search(item)], room // 8)
    asked = _within([entry.strip() for entry in reversed(results) if _ASKS.search(entry)], room // 8)
    return _minutes(german, (asked, [], lines, asked[:1], forbidden))


def extractive(prompt: str) -> str:
    """Takes down the statements with the rarest words, names and numbers, those of the user first."""
    german, pieces = _is_german(prompt), _FENCED.findall(prompt)
    lines = [line for piece in pieces for line in piece.splitlines()]
    statements = _statements(lines)
    if _is_for_memories(prompt):
        own = [text for text, by_user in statements if by_user and _OWN.search(text)]
        mark = "FAKT: " if german else "FACT: "
        limit = _LINES.search(prompt)
        most = int(limit[1]) if limit else _LINES_BY_DEFAULT
        return "\n".join(mark + text for text in own[:most]) or "NO_MEMORIES"
    results = _LIMIT.findall(prompt)
    room = int(results[-1]) if results else _WORDS_BY_DEFAULT
    return _minutes(german, ([], [], _within([text for text, _ in statements], room * 3 // 5), [], []))


def _statements(lines: Sequence[str]) -> list[tuple[str, bool]]:
    """Whole sentences that ask nothing, the most telling first, and whether the user said each."""
    content: dict[str, bool] = {}
    by_user = False
    for line in lines:
        if _SPEAKER.match(line):
            by_user = line.startswith(("User", "Nutzer"))
        for text in _SENTENCE.findall(_SPEAKER.sub("", line)):
            sentence = text.strip().removeprefix("- ")
            if _FEWEST <= len(sentence.split()) <= _MOST and not _ASKS.search(sentence):
                content.setdefault(sentence, by_user)
    seen = Counter(word for sentence in content for word in set(sentence.casefold().split()))

    def worth(sentence: str) -> float:
        words = sentence.split()
        rarity = sum(math.log((len(content) + 1) / seen[word]) for word in {*sentence.casefold().split()})
        names = sum(word[0].isupper() or word[0].isdigit() for word in words[1:])
        return (rarity / math.pow(5 + len(words), 0.7) + 0.3 * min(names, 4)) * (
            1.5 if content[sentence] else 1.0
        )

    return [(sentence, content[sentence]) for sentence in sorted(content, key=worth, reverse=True)]


def _minutes(german: bool, sections: Sequence[list[str]]) -> str:
    none = "nichts" if german else "none"
    return "\n".join(
        f"{heading}\n" + "\n".join(f"- {line}" for line in section or [none])
        for heading, section in zip(_HEADINGS[german], sections, strict=True)
    )


def _within(lines: list[str], words: int) -> list[str]:
    record, size = [], 0
    for line in dict.fromkeys(lines):
        size += len(line.split())
        if size > words:
            break
        record.append(line)
    return record


def vague(prompt: str) -> Script:
    """Has all headings, and says next to nothing in words that were really said."""
    first = next(iter(_SENTENCE.findall(_SPEAKER.sub("", _FENCED.findall(prompt)[-1]))), "…")
    if _is_for_memories(prompt):
        return "NO_MEMORIES"
    text = " ".join(word for word in first.split() if not _TOLD.search(word))
    return "\n".join(f"{heading}\n- {text}" for heading in _HEADINGS[_is_german(prompt)])


_RUBBISH = (
    "",
    "Sure! I can help you with that. " * 60,
    '<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>',
    "Requests\n- the user asked for the",
)
_turn = count()


def useless(prompt: str) -> Script:
    """Answers nothing, or rubbish."""
    del prompt
    return _RUBBISH[next(_turn) % len(_RUBBISH)]


def none(prompt: str) -> Script:
    """There is no model to be asked."""
    del prompt
    return Unreachable("nobody is there", hint="It is not meant to be.")


SCRIPTS: Mapping[str, Summariser] = {"good": good, "vague": vague, "useless": useless, "no model": none}
