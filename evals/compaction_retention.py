"""What is left of long chats after one, two, five, ten and twenty compactions, and what it cost.

Generated chats and real ones, with scripts or models for summarisers, each beside the plain way of doing it.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.compaction_baseline import by_model, plain, script_model
from evals.compaction_chats import SETS, Chat, generate_chat, load_shared
from evals.compaction_replay import MARKS, Course, ReplaySettings, Retention, TokenCounter, replay, share
from evals.compaction_scripts import SCRIPTS, none
from evals.window_rows import Row, none_of, progress
from holdfast.upstreams.embedded import MODEL, EmbeddedProvider

# Turns of a generated chat; it ends when there were enough compactions.
_TURNS = 400
_VALUES, _RULES, _RATIO = 95.0, 100.0, 15.0
_SHARED_SCRIPTS = ("good", "no model")


@dataclass
class Tally:
    """Replays of one kind, one for each seed, and the plain way beside them."""

    courses: list[Course] = field(default_factory=list)
    plain: list[Retention] = field(default_factory=list)

    def add(self, course: Course, beside: Sequence[Retention]) -> None:
        self.courses.append(course)
        self.plain += beside
        for record in course.retentions[-1:]:
            for item in (*record.lost, *record.rules_lost):
                progress(f"    lost, {item.kind} by {item.by}: {item.said}")

    def at(self, mark: int) -> list[Retention]:
        return [
            record for course in self.courses for record in course.retentions if record.compactions == mark
        ]

    def rows(self, part: str, case: str, marks: Sequence[int]) -> Iterator[Row]:
        for mark in marks:
            if at := self.at(mark):
                yield from _retention_rows(part, f"{case}, {mark}", at)
            if beside := [record for record in self.plain if record.compactions == mark]:
                held, values = sum(len(item.window) for item in beside), sum(entry.values for entry in beside)
                of = f"% of {values}"
                yield Row(part, "values, plain summary", f"{case}, {mark}", share(held, values), of)
        yield from self._overall(part, case)

    def _overall(self, part: str, case: str) -> Iterator[Row]:
        turns = sum(course.turns for course in self.courses)
        number = sum(len(course.sizes) for course in self.courses)
        faults = sum(course.coverage.faults for course in self.courses)
        of = f"in {number} compactions"
        yield none_of(part, "messages lost, covered twice or out of order", case, faults, of)
        unlike = sum(course.unlike for course in self.courses)
        yield none_of(part, "messages not in the log as said", case, unlike)
        above = sum(course.above for course in self.courses)
        yield none_of(part, "turns above the level-3 mark", case, above, f"of {turns}")
        waited = sum(course.waited for course in self.courses)
        yield Row(part, "turns that waited for a summary", case, waited, f"of {turns}")
        before = sum(size for course in self.courses for size, _ in course.sizes)
        after = sum(size for course in self.courses for _, size in course.sizes)
        ratio = share(after, before) if before else 0.0
        yield Row(part, "tokens after / before", case, ratio, "%", f"at most {_RATIO:.0f} %", ratio <= _RATIO)
        standing = [record.standing for course in self.courses for record in course.retentions]
        if standing and number:
            whole = 100 * sum(standing) / len(standing) / (before / number)
            met = whole <= _RATIO
            what = "the same with rules and decisions"
            yield Row(part, what, case, whole, "%", f"at most {_RATIO:.0f} %", met)


def _retention_rows(part: str, case: str, retentions: Sequence[Retention]) -> Iterator[Row]:
    values = sum(item.values for item in retentions)
    window = sum(len(entry.window) for entry in retentions)
    recalled = sum(len(value.recalled) for value in retentions)
    reached = share(window + recalled, values)
    of = f"% of {values} ({window} in the window, {recalled} recalled)"
    yield Row(part, "values kept", case, reached, of, f"at least {_VALUES:.0f} %", reached >= _VALUES)
    rules = sum(len(retention.rules) for retention in retentions)
    if planted := rules + sum(len(retention.rules_lost) for retention in retentions):
        word = share(rules, planted)
        yield Row(part, "rules word for word", case, word, f"% of {planted}", "100 %", word >= _RULES)
    decisions = sum(len(retention.decisions) for retention in retentions)
    if planted := decisions + sum(len(retention.decisions_lost) for retention in retentions):
        yield Row(part, "decisions word for word", case, share(decisions, planted), f"% of {planted}")


def rows_of_scripts(
    weights: Path, *, marks: Sequence[int] = MARKS, seeds: int = 2, only: str = ""
) -> Iterator[Row]:
    """Generated chats, German and English, with every script."""
    counting = TokenCounter(weights)
    for language in ("en", "de"):
        for name, summariser in SCRIPTS.items():
            tally, case = Tally(), f"generated {language}, {name}"
            if only and only not in case:
                continue
            setting = ReplaySettings(counting, summariser, marks=marks)
            for seed in range(1, seeds + 1):
                chat = generate_chat(language, seed, _TURNS)
                tally.add(*_both(chat, setting, f"{case}, seed {seed}"))
            yield from tally.rows("generated", case, marks)


def _both(chat: Chat, setting: ReplaySettings, label: str) -> tuple[Course, list[Retention]]:
    course = asyncio.run(replay(chat, setting, label))
    beside = asyncio.run(plain(chat, setting, script_model(setting), f"{label}, plain"))
    progress(f"  {label}: {course.turns} turns, {course.seconds:.0f} s, {dict(course.paths)}")
    return course, beside


def rows_of_chats(
    weights: Path, *, marks: Sequence[int] = MARKS, only: str = "", sets: Sequence[str] = SETS
) -> Iterator[Row]:
    """Real chats, with values planted in what people say."""
    counting = TokenCounter(weights)
    for chat in load_shared(sets, 1):
        for name in _SHARED_SCRIPTS:
            tally, case = Tally(), f"{chat.name}, {name}"
            if only and only not in case:
                continue
            tally.add(*_both(chat, ReplaySettings(counting, SCRIPTS[name], marks=marks), case))
            yield from tally.rows("shared", case, marks)


def model_rows(
    weights: Path,
    model: Path,
    *,
    marks: Sequence[int] = MARKS,
    seeds: int = 1,
    part: str = "embedded",
    only: str = "",
) -> Iterator[Row]:
    """Generated chats whose summaries a real model writes; what is said in them is scripted."""
    counting = TokenCounter(weights)
    for language in ("en", "de"):
        case = f"generated {language}, {model.stem}"
        if only and only not in case:
            continue
        tally = Tally()
        for seed in range(1, seeds + 1):
            label = f"{case}, seed {seed}"
            course, beside = asyncio.run(_with_model(counting, model, language, seed, marks, label))
            progress(f"  {label}: {course.turns} turns, {course.seconds:.0f} s, {dict(course.paths)}")
            tally.add(course, beside)
        yield from tally.rows(part, case, marks)
        for path in sorted({path for course in tally.courses for path in course.paths}):
            number = sum(course.paths[path] for course in tally.courses)
            yield Row(part, f"summaries by way of {path}", case, number)


async def _with_model(
    counting: TokenCounter, model: Path, language: str, seed: int, marks: Sequence[int], label: str
) -> tuple[Course, list[Retention]]:
    chat = generate_chat(language, seed, _TURNS)
    with tempfile.TemporaryDirectory() as folder:
        provider = EmbeddedProvider(model, log=Path(folder) / "model.log")
        try:
            setting = ReplaySettings(counting, none, provider, marks)
            course = await replay(chat, setting, label)
        finally:
            await provider.aclose()
        provider = EmbeddedProvider(model, log=Path(folder) / "plain.log")
        try:
            beside = await plain(chat, setting, by_model(provider, MODEL), f"{label}, plain")
        finally:
            await provider.aclose()
    return course, beside
