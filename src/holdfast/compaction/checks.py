"""Whether what a model answered may be used as a summary, and if not, why not, as one code.

Linear, however long the answer is. It does not know what should have been in it: that is the ledger's matter.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from holdfast import words
from holdfast.compaction.headings import SECTIONS, lines_by_section, list_sections, parse_heading
from holdfast.patterns import late
from holdfast.thinking import without_thinking

# As much of an answer as is looked at for its shape; a usable one is far shorter.
_GLANCE = 60_000
_FEWEST_SECTIONS = 3
_SHINGLE = 8
_GRAM = 6
# A model that goes in circles says a thing more often; "none so far" may stand in each section.
_REPEATS = len(SECTIONS)
_LOOP_SHARE = 0.3
_ECHO_SHARE = 0.5
# Fewer shingles prove nothing: an identifier and its sentence may well be quoted.
_FEWEST_SHINGLES = 25
# Signs of other scripts that names may bring along.
_FOREIGN_SHARE = 0.2
# In so many words German and English show themselves.
_LONG_PROSE = 60

_CONTROL = late(r"<\|[a-z_]{2,20}\|>|</?(?:s|summary|answer|output)>|<(?:end_of_turn|eos|start_of_turn)>")
_FENCE = late(r"(?:```|~~~)[\w-]*")
_PREAMBLE = late(
    r"\A(?:(?:sure|certainly|of course|okay|ok|here\b[^\n:]{0,80}|below is|the following|this is"
    r"|i(?:'ve| have)|klar|gerne?|natürlich"
    r"|hier (?:ist|kommt|folgt)|folgende|im folgenden|nachfolgend|die zusammenfassung"
    r"|zusammenfassung|summary)\b[^\n]{0,200}(?:\n+|(?<=:)\Z))+",
    re.IGNORECASE,
)

_MARKUP = late(
    r"</?tool_calls?\b|<\|?tool[_▁](?:call|calls|use)|\[/?TOOL_CALLS?\]"
    r"|<\|python_tag\|>|</?function(?:=|_call|s?>)"
    r"|<invoke\b|<\|plugin\|>|✿FUNCTION✿|<tool_use>|^[ \t]*(?:functions|to)[.=]\w+\s*[:({]",
    re.IGNORECASE | re.MULTILINE,
)
_CALL = late(
    r"\A\W{0,20}\"?(?:name|function|tool|tool_calls|tool_name|action)\"?\s*:.*\"?(?:arguments|parameters|args"
    r"|input|action_input|function)\"?\s*:",
    re.DOTALL,
)
_SPEAKER = late(
    r"^[^\w\n]{0,10}(?:user|assistant|human|ai|tool|system|nutzer|benutzer|assistent|mensch|ki)[^\w\n]{0,6}:|^<\|?im_start",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS = late(r"[.!?…:;)\]}\"'“”»`*_|>]\s*\Z")
# Small words that nobody ends a sentence with.
_WANTS_MORE = late(
    r"(?:a|an|and|are|as|at|because|but|by|for|from|has|have|if|in|into|is|it|its|of|on|or|so|than|that|the"
    r"|their|then|this|to|was|were|when|where|which|while|will|with|would"
    r"|aber|als|am|an|auf|aus|bei|bis|da|damit|das|dass|dem|den|der|des|die|durch|eine?[mnr]?|für|hat|ist|im"
    r"|mit|nach|nicht|oder|sich|sie|sind|sondern|um|und|vom|von|war|weil|wenn|werden|wird|wurde|zu|zum|zur"
    r"|über)",
    re.IGNORECASE,
)
_WORD = late(r"\w+")
_OTHER_SCRIPT = late(r"[\u0370-\u1fff\u3040-\ud7ff]")
_CODE = late(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = late(r"„[^“”\n]{2,300}[“”]|“[^”\n]{2,300}”|\"[^\"\n]{2,300}\"|»[^«\n]{2,300}«")


def strip_answer(answer: str) -> str:
    """The answer alone: without thinking, control tokens, a fence around it all, and what leads up to it."""
    text = _PREAMBLE.sub("", _CONTROL.sub("", without_thinking(answer)).strip())
    lines = text.strip().split("\n")
    marks = [number for number, line in enumerate(lines) if _FENCE.fullmatch(line.strip())]
    # One pair, or an opening mark that was never closed; two pairs are code within the answer.
    if marks[:1] == [0] and (len(marks) == 1 or marks[1:] == [len(lines) - 1]):
        lines = lines[1 : len(lines) - len(marks) + 1]
    return _PREAMBLE.sub("", "\n".join(lines).strip()).strip()


def find_problem(
    answer: str, source: str, language: str, *, finish: str | None, room: int, count: Callable[[str], int]
) -> str:
    """The empty text if the summary may be used, else what is wrong with it.

    The cause comes before its effects: what loops also runs into the limit and is too large.
    """
    text = strip_answer(answer)
    glance = text[:_GLANCE]
    words_used = _WORD.findall(glance.lower())
    if not any(word.isalpha() for word in words_used):
        return "empty"
    if _MARKUP.search(_CODE.sub(" ", glance)) or _CALL.search(glance[:2_000]):
        return "tool_markup"
    if _loops(glance, words_used):
        return "loops"
    if _echoes(glance, words_used, source):
        return "echo"
    if finish == "length" or _breaks_off(text):
        return "cut_off"
    if len(list_sections(glance)) < _FEWEST_SECTIONS:
        return "sections"
    if _is_foreign(glance, language):
        return "language"
    return "larger" if len(text) > _GLANCE or count(text) > room else ""


def is_hopeless(answer: str) -> bool:
    """Whether an answer that is still being given goes in circles: more of it would be more of the same."""
    glance = strip_answer(answer)[:_GLANCE]
    return _loops(glance, _WORD.findall(glance.lower()))


def _loops(text: str, words_used: list[str]) -> bool:
    lines = Counter(line.strip().lower() for line in text.splitlines() if len(line.split()) > 2)
    if lines and lines.most_common(1)[0][1] > _REPEATS:
        return True
    grams = Counter(_runs(words_used, _GRAM))
    again = sum(number for number in grams.values() if number > _REPEATS)
    return again > _LOOP_SHARE * max(1, len(words_used) - _GRAM + 1)


def _echoes(text: str, words_used: list[str], source: str) -> bool:
    """Whether the transcript came back: much of it verbatim, and in its shape rather than in sections."""
    known = set(_runs(_WORD.findall(source.lower()), _SHINGLE))
    runs = list(_runs(words_used, _SHINGLE))
    if len(runs) < _FEWEST_SHINGLES:
        return False
    share = sum(run in known for run in runs) / len(runs)
    if share <= _ECHO_SHARE:
        return False
    # A summary that quotes much is a good one: it has its sections, and nobody speaks in it.
    return len(_SPEAKER.findall(text)) > 1 or len(list_sections(text)) < _FEWEST_SECTIONS


def _breaks_off(text: str) -> bool:
    """Whether it ends within a sentence before it came to the last section."""
    sections = list_sections(text[-_GLANCE:])
    if SECTIONS[-1] in sections or _ENDS.search(text):
        return False
    *before, last = (line for line in text.split("\n") if line.strip())
    if last.rstrip().endswith((",", "-", "–")) or _WANTS_MORE.fullmatch(last.split()[-1]):
        return True
    if sections and SECTIONS[-2] not in sections:
        return True
    # Many write lists without full stops; then its lack at the end says nothing.
    items = [line for line in before if parse_heading(line.strip()) is None]
    return 2 * sum(bool(_ENDS.search(line)) for line in items) > len(items)


def _is_foreign(text: str, language: str) -> bool:
    """Whether it is in another language; code, quotes and headings do not count, nor a list of names."""
    content = "\n".join(line for _, line in lines_by_section(text))
    prose = _QUOTED.sub(" ", _CODE.sub(" ", content))
    letters = sum(sign.isalpha() for sign in prose)
    if len(_OTHER_SCRIPT.findall(prose)) > _FOREIGN_SHARE * letters:
        return True
    detected = words.language_of(prose)
    return detected != language and (bool(detected) or len(prose.split()) > _LONG_PROSE)


def _runs(words_used: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words_used, start, None) for start in range(size)), strict=False)
