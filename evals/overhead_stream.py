"""How fast long answers come through: two thousand chunks, each sent by itself, as fast as they are taken."""

from collections.abc import Iterator, Mapping, Sequence

from evals.overhead_client import Contestant, Json, Measured, all_running, direct, holdfast, measure
from evals.window_rows import Row, progress

PART = "stream"
CHUNKS = 2_000
_LEAST = 2_000.0
_OURS = "Holdfast"


def questions(number: int) -> Iterator[Sequence[Json]]:
    yield [{"role": "user", "content": f"Tell me a very long story, number {number}."}]


def rows(peers: Sequence[Contestant], settings: Mapping[str, str], *, answers: int) -> Iterator[Row]:
    contestants = [*direct(), *holdfast(settings=settings), *peers]
    progress(f"{PART}: {answers} answers of {CHUNKS:,} chunks, each of {len(contestants)}")
    with all_running(contestants, words=CHUNKS, apart=True) as started:
        row = measure(started, questions, rounds=answers, words=CHUNKS)
    for contestant in contestants:
        yield from judge(contestant, row)


def judge(contestant: Contestant, results: Mapping[str, Measured]) -> Iterator[Row]:
    case = contestant.case
    item, without = results[case], results[Contestant("direct", contestant.path).case]
    rate = 1000 * CHUNKS / item.whole
    ours = contestant.name == _OURS
    target, met = (f"at least {_LEAST:,.0f}", rate >= _LEAST) if ours else ("", None)
    yield Row(PART, "chunks a second", case, rate, "", target, met)
    if contestant.command is not None:
        yield Row(PART, "added to each chunk", case, 1000 * (item.each - without.each), "µs")
        yield Row(PART, "processor a chunk", case, 1000 * (item.own + item.children) / CHUNKS, "µs")
