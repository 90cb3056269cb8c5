"""What is left of long chats after one, two, five, ten and twenty compactions, and what it cost.

Generated chats and real ones, with scripts or models for summarisers, each beside the plain way of doing it.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.compaction_baseline import by_model, plain, scripted
from evals.compaction_chats import SETS, Chat, generated, shared
from evals.compaction_checks import Course, Kept, share
from evals.compaction_replay import MARKS, Counting, Setting, replay
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
    plain: list[Kept] = field(default_factory=list)

    def add(self, course: Course, beside: Sequence[Kept]) -> None:
        self.courses.append(course)
        self.plain += beside
        for kept in course.kept[-1:]:
            for one in (*kept.lost, *kept.rules_lost):
                progress(f"    lost, {one.kind} by {one.by}: {one.said}")

    def at(self, mark: int) -> list[Kept]:
        return [kept for course in self.courses for kept in course.kept if kept.compactions == mark]

    def rows(self, part: str, case: str, marks: Sequence[int]) -> Iterator[Row]:
        for mark in marks:
            if found := self.at(mark):
                yield from _kept(part, f"{case}, {mark}", found)
            if beside := [kept for kept in self.plain if kept.compactions == mark]:
                held, values = sum(len(one.window) for one in beside), sum(one.values for one in beside)
                of = f"% of {values}"
                yield Row(part, "values, plain summary", f"{case}, {mark}", share(held, values), of)
        yield from self._overall(part, case)

    def _overall(self, part: str, case: str) -> Iterator[Row]:
        turns = sum(course.turns for course in self.courses)
        number = sum(len(course.sizes) for course in self.courses)
        faults = sum(course.covered.faults for course in self.courses)
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
        standing = [kept.standing for course in self.courses for kept in course.kept]
        if standing and number:
            whole = 100 * sum(standing) / len(standing) / (before / number)
            met = whole <= _RATIO
            what = "the same with rules and decisions"
            yield Row(part, what, case, whole, "%", f"at most {_RATIO:.0f} %", met)


def _kept(part: str, case: str, found: Sequence[Kept]) -> Iterator[Row]:
    values = sum(one.values for one in found)
    window = sum(len(one.window) for one in found)
    recalled = sum(len(one.recalled) for one in found)
    reached = share(window + recalled, values)
    of = f"% of {values} ({window} in the window, {recalled} recalled)"
    yield Row(part, "values kept", case, reached, of, f"at least {_VALUES:.0f} %", reached >= _VALUES)
    rules = sum(len(one.rules) for one in found)
    if planted := rules + sum(len(one.rules_lost) for one in found):
        word = share(rules, planted)
        yield Row(part, "rules word for word", case, word, f"% of {planted}", "100 %", word >= _RULES)
    decisions = sum(len(one.decisions) for one in found)
    if planted := decisions + sum(len(one.decisions_lost) for one in found):
        yield Row(part, "decisions word for word", case, share(decisions, planted), f"% of {planted}")


def scripted_rows(
    weights: Path, *, marks: Sequence[int] = MARKS, seeds: int = 2, only: str = ""
) -> Iterator[Row]:
    """Generated chats, German and English, with every script."""
    counting = Counting(weights)
    for language in ("en", "de"):
        for name, summariser in SCRIPTS.items():
            tally, case = Tally(), f"generated {language}, {name}"
            if only and only not in case:
                continue
            setting = Setting(counting, summariser, marks=marks)
            for seed in range(1, seeds + 1):
                chat = generated(language, seed, _TURNS)
                tally.add(*_both(chat, setting, f"{case}, seed {seed}"))
            yield from tally.rows("generated", case, marks)


def _both(chat: Chat, setting: Setting, label: str) -> tuple[Course, list[Kept]]:
    course = asyncio.run(replay(chat, setting, label))
    beside = asyncio.run(plain(chat, setting, scripted(setting), f"{label}, plain"))
    progress(f"  {label}: {course.turns} turns, {course.seconds:.0f} s, {dict(course.paths)}")
    return course, beside


def shared_rows(
    weights: Path, *, marks: Sequence[int] = MARKS, only: str = "", sets: Sequence[str] = SETS
) -> Iterator[Row]:
    """Real chats, with values planted in what people say."""
    counting = Counting(weights)
    for chat in shared(sets, 1):
        for name in _SHARED_SCRIPTS:
            tally, case = Tally(), f"{chat.name}, {name}"
            if only and only not in case:
                continue
            tally.add(*_both(chat, Setting(counting, SCRIPTS[name], marks=marks), case))
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
    counting = Counting(weights)
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
    counting: Counting, model: Path, language: str, seed: int, marks: Sequence[int], label: str
) -> tuple[Course, list[Kept]]:
    chat = generated(language, seed, _TURNS)
    with tempfile.TemporaryDirectory() as folder:
        provider = EmbeddedProvider(model, log=Path(folder) / "model.log")
        try:
            setting = Setting(counting, none, provider, marks)
            course = await replay(chat, setting, label)
        finally:
            await provider.aclose()
        provider = EmbeddedProvider(model, log=Path(folder) / "plain.log")
        try:
            beside = await plain(chat, setting, by_model(provider, MODEL), f"{label}, plain")
        finally:
            await provider.aclose()
    return course, beside
