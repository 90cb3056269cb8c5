"""Whether memory stays flat over ten thousand requests: half are first messages, half in growing chats."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from evals.overhead_client import Contestant, RunningProxy, holdfast, running
from evals.overhead_latency import TURNS, WORDS, growing, single
from evals.window_rows import Row, progress

PART = "memory"
# How often it is looked at, in requests, and how many of them are for caches to fill.
_EVERY, _FILLING = 500, 2_000
# Megabytes between two looks that are the allocator's and nobody's fault.
_NOISE = 4.0
_OURS = "Holdfast"


@dataclass(frozen=True, slots=True)
class Look:
    """Megabytes of a process and its children, after so many requests."""

    requests: int
    rss: float


def rows(peers: Sequence[Contestant], settings: Mapping[str, str], *, requests: int) -> Iterator[Row]:
    """One after the other: nothing here is a matter of time."""
    for contestant in [*holdfast(settings=settings), *peers]:
        progress(f"{PART}: {requests:,} requests to {contestant.case}")
        with running(contestant, words=WORDS) as server:
            yield from judge(contestant, looks(server, requests))


def looks(item: RunningProxy, requests: int) -> list[Look]:
    results, path = [Look(0, _rss(item))], item.contestant.path
    with item.line() as line:
        for number in range(requests // TURNS):
            for messages in (growing if number % 2 else single)(number):
                line.chat(path, messages, WORDS)
            done = TURNS * (number + 1)
            if done % _EVERY == 0 or done == requests:
                results.append(Look(done, _rss(item)))
    return results


def _rss(item: RunningProxy) -> float:
    usage = item.usage()
    return usage.rss + usage.children_rss


def growth(looks: Sequence[Look]) -> float:
    """Megabytes from the first looks after the caches are full to the last ones."""
    filled = [look.rss for look in looks if look.requests >= _FILLING] or [look.rss for look in looks]
    third = max(1, len(filled) // 3)
    return median(filled[-third:]) - median(filled[:third])


def judge(contestant: Contestant, looks: Sequence[Look]) -> Iterator[Row]:
    case, grown = contestant.case, growth(looks)
    ours = contestant.name == _OURS and looks[-1].requests > _FILLING
    target, met = (f"flat, within {_NOISE:.0f} MB", grown <= _NOISE) if ours else ("", None)
    yield Row(PART, f"before, and after {looks[-1].requests:,} requests: before", case, looks[0].rss, "MB")
    yield Row(PART, "after", case, looks[-1].rss, "MB")
    yield Row(PART, "the most", case, max(look.rss for look in looks), "MB")
    yield Row(PART, f"growth after the first {_FILLING:,}", case, grown, "MB", target, met)
