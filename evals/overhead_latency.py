"""What a proxy adds to a request: time to the first word, time for each word, and processor.

Single first messages, and chats of twenty turns that are resent whole each time, as clients do.
"""

from collections.abc import Iterator, Mapping, Sequence

from evals.overhead_client import Contestant, Json, Measured, all_running, chat_of, direct, holdfast, measure
from evals.window_rows import Row, progress

PART = "latency"
WORDS = 20
TURNS = 20
_MOST_ADDED, _MOST_PROCESSOR = 3.0, 3.0
_OURS = "Holdfast"


def single(number: int) -> Iterator[Sequence[Json]]:
    for turn in range(TURNS):
        yield [{"role": "user", "content": f"Hello, this is letter {turn} of day {number}. How are you?"}]


def growing(number: int) -> Iterator[Sequence[Json]]:
    yield from chat_of(number, TURNS, WORDS)


_KINDS = {"first messages": single, "chats of 20 turns": growing}


def rows(peers: Sequence[Contestant], settings: Mapping[str, str], *, requests: int) -> Iterator[Row]:
    contestants = [*direct(), *holdfast(settings=settings), *peers]
    for kind, asked in _KINDS.items():
        progress(f"{PART}: {kind}, {requests} each of {len(contestants)}")
        with all_running(contestants, words=WORDS) as started:
            row = measure(started, asked, rounds=max(1, requests // TURNS), words=WORDS)
        for contestant in contestants:
            yield from judge(kind, contestant, row)
        yield from beside(kind, peers, row)


def judge(kind: str, contestant: Contestant, results: Mapping[str, Measured]) -> Iterator[Row]:
    """One contestant beside the upstream, asked in the same words by the same client."""
    case = f"{kind}: {contestant.case}"
    item, without = results[contestant.case], results[Contestant("direct", contestant.path).case]
    if contestant.command is None:
        yield Row(PART, "first word", case, item.first, "ms")
        yield Row(PART, "first word, 95 % within", case, item.late, "ms")
        yield Row(PART, "processor of the upstream a request", case, item.own, "ms")
        return
    added = item.first - without.first
    ours = contestant.name == _OURS
    yield Row(
        PART,
        "added to the first word",
        case,
        added,
        "ms",
        f"at most {_MOST_ADDED:.0f} ms" if ours else "",
        added <= _MOST_ADDED if ours else None,
    )
    yield Row(PART, "added to the first word, 95 % within", case, item.late - without.late, "ms")
    yield Row(PART, "added to each word", case, item.each - without.each, "ms")
    yield Row(PART, "added to the whole answer", case, item.whole - without.whole, "ms")
    yield Row(
        PART,
        "processor a request",
        case,
        item.own + item.children,
        "ms",
        f"at most {_MOST_PROCESSOR:.0f} ms" if ours else "",
        item.own + item.children <= _MOST_PROCESSOR if ours else None,
    )
    if item.children:
        yield Row(PART, "of which in child processes", case, item.children, "ms")


def beside(kind: str, peers: Sequence[Contestant], results: Mapping[str, Measured]) -> Iterator[Row]:
    """What Holdfast adds as a share of what each peer adds, from the same run. Less than 1 is less."""
    for peer in peers:
        ours, theirs = results[Contestant(_OURS, peer.path).case], results[peer.case]
        without = results[Contestant("direct", peer.path).case].first
        case = f"{kind}: {_OURS} to {peer.name}, {peer.path}"
        yield Row(PART, "added, ratio", case, (ours.first - without) / (theirs.first - without))
        # Where nobody used as much as the clock can tell there is nothing to compare.
        if theirs.own + theirs.children:
            processor = (ours.own + ours.children) / (theirs.own + theirs.children)
            yield Row(PART, "processor, ratio", case, processor)
