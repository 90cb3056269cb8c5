"""Summarises a span of messages, with a model where one helps and without one otherwise.

The span is read in portions, each merged into the summary so far. A model's answer is checked, asked for
again once, tried in smaller portions, and finally replaced by an extractive summary.

Prompt templates are German and English; a file in the user's prompts folder replaces the shipped one. A call
waits as long as the model keeps sending, but not for a silent one.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.compaction.extractive import Cues, extract_summary
from holdfast.compaction.summary import SECTIONS, Summary, lines_by_section, list_sections, parse_heading
from holdfast.compaction.transcript import Portion, fence, split_portions
from holdfast.errors import ConfigError, CutOff, ModelMissing, Overflow, ProviderError, Unreachable
from holdfast.i18n import lazy
from holdfast.messages import Answer, ChatRequest, JsonObject, Message
from holdfast.research.summary import shared_facts
from holdfast.text import analyser
from holdfast.text.analyser import telling, terms
from holdfast.text.lang import any_phrase
from holdfast.text.patterns import late
from holdfast.text.statements import denies, statements_in
from holdfast.thinking import without_thinking
from holdfast.tokens.budget import Budget
from holdfast.upstreams.base import Provider
from holdfast.window.items import Item
from holdfast.window.rules import own_sentences

if TYPE_CHECKING:
    from jinja2 import Environment


TEMPERATURE = 0.3
# A model that does not stop is cut off after so many characters for each token of its limit.
_MOST_CHARACTERS_PER_TOKEN = 16
# Characters between two checks whether the answer is still usable.
_CHECK_INTERVAL = 500


def _never(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str
    finish: str | None


@dataclass(frozen=True, slots=True)
class SummaryModel:
    """A model for summaries and memories. `budget` is the window used in every other request to it, too."""

    provider: Provider
    name: str
    budget: Budget
    thinks: bool = False
    # Whether requests set the window; a server that is asked for another size reloads the model.
    sets_window: bool = True
    stall: float = 60.0

    async def ask(
        self, prompt: str, limit: int, grammar: str = "", *, hopeless: Callable[[str], bool] = _never
    ) -> ModelReply:
        """Sends one prompt and returns the reply; raises CutOff when the model is silent for too long.

        The reply ends early once `hopeless` returns True for its beginning."""
        request = ChatRequest(
            self.name,
            (Message.of("user", f"{prompt}\n/no_think" if self._needs_marker else prompt),),
            options=self._options(limit),
            think=False if self.thinks else None,
            extra=self._extra(grammar),
        )
        answer, size, looked_at, loop = Answer(), 0, 0, asyncio.get_running_loop()
        try:
            async with (
                asyncio.timeout(self.stall) as patience,
                aclosing(self.provider.chat(request)) as chunks,
            ):
                async for chunk in chunks:
                    patience.reschedule(loop.time() + self.stall)
                    answer.add(chunk)
                    size += len(chunk.text) + len(chunk.thinking)
                    if size > limit * _MOST_CHARACTERS_PER_TOKEN:
                        return ModelReply(answer.message.text, "length")
                    if size >= looked_at + _CHECK_INTERVAL:
                        looked_at = size
                        if hopeless(answer.message.text):
                            return ModelReply(answer.message.text, "length")
        except ModelMissing as error:
            # It was removed meanwhile; what it should have done is done without it.
            raise Unreachable(error.message, hint=error.hint) from error
        except TimeoutError as error:
            raise CutOff(
                lazy("{name} said nothing for {stall:.0f} seconds", name=self.name, stall=self.stall),
                hint=lazy("What it should have done is done without it."),
            ) from error
        return ModelReply(answer.message.text, answer.finish)

    @property
    def _needs_marker(self) -> bool:
        """Whether the prompt needs `/no_think`: Qwen 3 obeys it even where the server ignores `think`."""
        return self.thinks and "qwen" in self.name.lower()

    def _options(self, limit: int) -> JsonObject:
        options: dict[str, float] = {"temperature": TEMPERATURE, "max_tokens": limit}
        if self.sets_window:
            options["num_ctx"] = self.budget.window
        return options

    def _extra(self, grammar: str) -> dict[str, JsonObject]:
        own: dict[str, object] = {}
        if grammar and "grammar" in self.provider.abilities:
            own["grammar"] = grammar
        if self.thinks and self.provider.dialect == "openai":
            own["chat_template_kwargs"] = {"enable_thinking": False}
        return {"openai": own} if own else {}


_SHIPPED = Path(__file__).parent.parent / "prompts"
NAMES = ("summary", "flush", "finding", "title")


class PromptTemplates:
    """Loads and renders prompts. Files in `own` (`de/summary.jinja`, …) replace the shipped ones."""

    def __init__(self, own: Path | None = None) -> None:
        self._folders = [*([own] if own else []), _SHIPPED]

    @cached_property
    def _templates(self) -> "Environment":
        """The template environment, created with the first prompt to keep the start fast."""
        from jinja2 import FileSystemLoader, StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        # The output is plain text, so nothing is escaped; the sandbox keeps a user's prompt from running
        # code.
        return SandboxedEnvironment(
            loader=FileSystemLoader(self._folders),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )

    def render(self, name: str, language: str, **values: Any) -> str:
        from jinja2 import TemplateError

        try:
            return self._templates.get_template(f"{language}/{name}.jinja").render(**values).strip()
        except (TemplateError, OSError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            # A template may raise any of these when it handles its values.
            raise ConfigError(
                lazy(
                    "the prompt {language}/{name}.jinja cannot be used: {why}",
                    language=language,
                    name=name,
                    why=str(error),
                ),
                hint=lazy("Mend the file in the prompts folder of the data folder, or take it away."),
            ) from error


# Characters of an answer that are checked; a usable one is far shorter.
_GLANCE = 60_000
_FEWEST_SECTIONS = 3
_SHINGLE = 8
_GRAM = 6
# A looping model repeats a line more often than this; "none so far" may stand in each section.
_REPEATS = len(SECTIONS)
_LOOP_SHARE = 0.3
_ECHO_SHARE = 0.5
# Fewer shingles prove nothing: an identifier and its sentence may be quoted.
_FEWEST_SHINGLES = 25
# The share of characters of other scripts that names may cause.
_FOREIGN_SHARE = 0.2
# In so many words German or English can be detected.
_LONG_PROSE = 60

_CONTROL = late(r"<\|[a-z_]{2,20}\|>|</?(?:s|summary|answer|output)>|<(?:end_of_turn|eos|start_of_turn)>")
_FENCE = late(r"(?:```|~~~)[\w-]*")
_PREAMBLE = late(
    rf"\A(?:{any_phrase('PREAMBLES')}\b[^\n]{{0,200}}(?:\n+|(?<=:)\Z))+",
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
    rf"^[^\w\n]{{0,10}}{any_phrase('SPEAKER_LABELS')}[^\w\n]{{0,6}}:|^<\|?im_start",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS = late(r"[.!?…:;)\]}\"'“”»`*_|>]\s*\Z")
# Small words that never end a sentence.
_WANTS_MORE = late(any_phrase("UNFINISHED"), re.IGNORECASE)
_WORD = late(r"\w+")
_OTHER_SCRIPT = late(r"[\u0370-\u1fff\u3040-\ud7ff]")
_CODE = late(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = late(r"„[^“”\n]{2,300}[“”]|“[^”\n]{2,300}”|\"[^\"\n]{2,300}\"|»[^«\n]{2,300}«")


def strip_answer(answer: str) -> str:
    """Returns the answer without thinking, control tokens, a surrounding code fence and a preamble."""
    text = _PREAMBLE.sub("", _CONTROL.sub("", without_thinking(answer)).strip())
    lines = text.strip().split("\n")
    marks = [number for number, line in enumerate(lines) if _FENCE.fullmatch(line.strip())]
    # One pair, or an opening fence that is never closed; two pairs are code within the answer.
    if marks[:1] == [0] and (len(marks) == 1 or marks[1:] == [len(lines) - 1]):
        lines = lines[1 : len(lines) - len(marks) + 1]
    return _PREAMBLE.sub("", "\n".join(lines).strip()).strip()


def find_problem(
    answer: str, source: str, language: str, *, finish: str | None, room: int, count: Callable[[str], int]
) -> str:
    """Returns an empty text if the summary may be used, otherwise a code for what is wrong with it.

    Causes are checked before their effects: an answer that loops also hits the limit and is too large.
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
    """Whether an answer that is still streaming loops, so that waiting for the rest is useless."""
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
    """Whether the answer repeats the transcript: much of it verbatim, and not in sections."""
    known = set(_runs(_WORD.findall(source.lower()), _SHINGLE))
    runs = list(_runs(words_used, _SHINGLE))
    if len(runs) < _FEWEST_SHINGLES:
        return False
    share = sum(run in known for run in runs) / len(runs)
    if share <= _ECHO_SHARE:
        return False
    # A summary may quote much, but it has sections and no speaker labels.
    return len(_SPEAKER.findall(text)) > 1 or len(list_sections(text)) < _FEWEST_SECTIONS


def _breaks_off(text: str) -> bool:
    """Whether the text ends within a sentence before the last section."""
    sections = list_sections(text[-_GLANCE:])
    if SECTIONS[-1] in sections or _ENDS.search(text):
        return False
    *before, last = (line for line in text.split("\n") if line.strip())
    if last.rstrip().endswith((",", "-", "–")) or _WANTS_MORE.fullmatch(last.split()[-1]):
        return True
    if sections and SECTIONS[-2] not in sections:
        return True
    # In lists without full stops a missing one at the end means nothing.
    items = [line for line in before if parse_heading(line.strip()) is None]
    return 2 * sum(bool(_ENDS.search(line)) for line in items) > len(items)


def _is_foreign(text: str, language: str) -> bool:
    """Whether the text is in another language; code, quotes, headings and lists of names do not count."""
    content = "\n".join(line for _, line in lines_by_section(text))
    prose = _QUOTED.sub(" ", _CODE.sub(" ", content))
    letters = sum(sign.isalpha() for sign in prose)
    if len(_OTHER_SCRIPT.findall(prose)) > _FOREIGN_SHARE * letters:
        return True
    detected = analyser.language_of(prose)
    return detected != language and (bool(detected) or len(prose.split()) > _LONG_PROSE)


def _runs(words_used: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words_used, start, None) for start in range(size)), strict=False)


log = logging.getLogger("holdfast.compaction")

ProgressCallback = Callable[[float], None]

# How a summary was made, the best method first.
METHODS = ("model", "repaired", "smaller", "extractive")

# After so many failures within one span the model is not asked again.
_MOST_FAILURES = 2
# With less room for the source than this, no model is asked.
_LEAST_ROOM = 256
# Tokens of the prompt that may not be covered by counting.
_MARGIN = 64
# Words asked for per token of the target: fewer than fit, so that the limit does not end the answer.
_WORDS_PER_TOKEN = 0.6
# At least this share of a summary's terms must occur in its source.
_LEAST_GROUNDED = 0.5


@dataclass(frozen=True, slots=True)
class MessageSpan:
    """What to summarise: cleaned messages, and the summary of everything before them."""

    items: tuple[Item, ...]
    previous: Summary | None
    language: str
    # Tokens that the summary should have.
    target: int
    count: Callable[[str], int]


@dataclass(slots=True)
class _SpanState:
    """The state of one span while it is summarised."""

    span: MessageSpan
    helper: SummaryModel
    method: str = METHODS[0]
    failures: int = 0
    # Messages already read without a model; one that is in several portions is read once.
    read_ids: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def note_method(self, way: str) -> None:
        self.method = max(self.method, way, key=METHODS.index)

    @property
    def has_given_up(self) -> bool:
        return self.failures >= _MOST_FAILURES


@dataclass(frozen=True, slots=True)
class SpanSummary:
    """A summary, the method it was made by, and the problems of the model's answers."""

    summary: Summary
    method: str
    problems: tuple[str, ...] = ()


class Summariser:
    def __init__(self, prompts: PromptTemplates) -> None:
        self._prompts = prompts

    async def summarise(
        self, span: MessageSpan, model: SummaryModel | None, progress: ProgressCallback
    ) -> SpanSummary:
        room = self._room(span, model) if model else 0
        if model is None or room < _LEAST_ROOM:
            return SpanSummary(await _summarise_extractively(span, span.items, span.previous), "extractive")
        state = _SpanState(span, model)
        so_far, parts = span.previous, split_portions(span.items, span.language, span.count, room)
        for number, portion in enumerate(parts):
            so_far = await self._merge_portion(state, portion, so_far)
            progress((number + 1) / len(parts))
        if not so_far:
            so_far = await _summarise_extractively(span, span.items, span.previous)
            state.note_method("extractive")
        return SpanSummary(so_far, state.method, tuple(state.problems))

    async def _merge_portion(self, state: _SpanState, portion: Portion, so_far: Summary | None) -> Summary:
        span = state.span
        if not state.has_given_up and (summary := await self._try_model(state, portion, so_far)):
            return summary
        if state.failures < _MOST_FAILURES:
            smaller = so_far
            halves = portion.halve(span.language, span.count)
            for half in halves:
                summary = None if state.has_given_up else await self._try_model(state, half, smaller)
                if summary is None:
                    break
                smaller = summary
            else:
                if halves and smaller is not None:
                    state.note_method("smaller")
                    return smaller
        state.note_method("extractive")
        new = [item for item in portion.items if item.id not in state.read_ids]
        state.read_ids.update(item.id for item in new)
        return await _summarise_extractively(span, new, so_far) if new or so_far is None else so_far

    async def _try_model(self, state: _SpanState, portion: Portion, so_far: Summary | None) -> Summary | None:
        """Asks the model up to twice; None if no answer is usable."""
        problem = ""
        for attempt in ("model", "repaired"):
            try:
                summary, problem = await self._ask_model(state, portion, so_far, problem)
            except Overflow as error:
                # The same request would be refused again; a smaller one may not be.
                state.problems.append(f"overflow: {error}")
                return None
            except ProviderError as error:
                log.warning("no summary from %s: %s", state.helper.name, error)
                state.problems.append(str(error))
                state.failures = _MOST_FAILURES
                return None
            if summary is not None:
                state.note_method(attempt)
                return summary
            state.problems.append(problem)
        state.failures += 1
        return None

    async def _ask_model(
        self, state: _SpanState, portion: Portion, so_far: Summary | None, last_problem: str
    ) -> tuple[Summary | None, str]:
        span, before = state.span, so_far.render() if so_far else ""
        prompt = self._prompts.render(
            "summary",
            span.language,
            previous=before,
            transcript=fence(portion.text),
            words=int(span.target * _WORDS_PER_TOKEN),
            trouble=last_problem,
        )
        reply = await state.helper.ask(prompt, 2 * span.target, hopeless=is_hopeless)
        source = f"{before}\n{portion.text}"
        room = max(span.count(source), span.target // 2)
        problem = find_problem(
            reply.text, source, span.language, finish=reply.finish, room=room, count=span.count
        )
        summary = None if problem else Summary.parse(strip_answer(reply.text), span.language)
        # Headings without lines would erase the summary so far.
        if not summary:
            return None, problem or "empty"
        grounded = _without_inventions(summary, source, portion.items)
        if not grounded or _grounded_share(summary, source) < _LEAST_GROUNDED:
            return None, "invented"
        summary = grounded
        ours = await _summarise_extractively(span, portion.items, so_far)
        summary = _with_prohibitions(summary, ours)
        if _count_carried_facts(summary, source, ours) < _count_carried_facts(ours, source, ours):
            # The extractive summary preserves more facts.
            return None, "fewer"
        return summary, ""

    def _room(self, span: MessageSpan, model: SummaryModel) -> int:
        """Returns the tokens left for the source: the window less answer, prompt and longest summary."""
        prompt = self._prompts.render(
            "summary", span.language, previous="-", transcript="", words=span.target, trouble="sections"
        )
        return (
            model.budget.window - 4 * span.target - span.count(prompt) - _MARGIN - model.budget.window // 20
        )


async def _summarise_extractively(
    span: MessageSpan, items: Sequence[Item], previous: Summary | None
) -> Summary:
    return await asyncio.to_thread(extract_summary, items, previous, span.language, span.count, span.target)


def _without_inventions(summary: Summary, source: str, items: Sequence[Item]) -> Summary:
    """Drops lines with a name or number that the source has not, and decisions that the user denied."""
    known = telling(source) | set(terms(source))
    denied = [
        set(terms(sentence))
        for item in items
        if item.message.role == "user"
        for sentence, masked in own_sentences(item.message.text)
        if denies(masked)
    ]

    def stands(line: str) -> bool:
        if telling(line) - known:
            return False
        words = set(terms(line))
        against = any(words and 3 * len(words & other) >= 2 * len(words) for other in denied)
        decides = any(statement.kind == "decision" for statement in statements_in((line,)))
        return not (against and decides and not denies(line))

    sections = {name: tuple(filter(stands, summary.section(name))) for name in SECTIONS}
    return Summary.of(sections, summary.language)


def _with_prohibitions(summary: Summary, ours: Summary) -> Summary:
    """Adds the prohibitions that the model left out."""
    known = "\n".join(summary.must_not).casefold()
    missing = tuple(line for line in ours.must_not if line.casefold() not in known)
    return replace(summary, must_not=(*summary.must_not, *missing))


def _count_carried_facts(summary: Summary, source: str, ours: Summary) -> int:
    """Returns how many names and values of the source the summary has, beside those of mere requests."""
    asked = (*ours.requests, *(line for line in ours.goal if Cues.of(line).asks))
    return len(shared_facts(_plain_text(summary), source, summary.language, "\n".join(asked)))


def _plain_text(summary: Summary) -> str:
    return "\n".join(line for name in SECTIONS for line in summary.section(name))


def _grounded_share(summary: Summary, source: str) -> float:
    """Returns the share of the summary's terms that occur in the source."""
    summary_terms = set(terms(_plain_text(summary)))
    return len(summary_terms.intersection(terms(source))) / len(summary_terms) if summary_terms else 1.0
