"""All contestants in turn, round after round, so that whatever else the machine does hits all of them alike.

Gathers times and what the processors did for them. Knows neither what is asked nor what was promised.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from evals.overhead_client import Json, Took
from evals.overhead_serving import RunningProxy

# The requests of one contestant in one round, given its number.
Requests = Callable[[int], Iterator[Sequence[Json]]]
# Seconds in which everything is done that goes on after the last answer.
SETTLES = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of all answers, and milliseconds of processor a request, of the process and of its children."""

    took: Sequence[Took]
    own: float
    children: float

    @property
    def first(self) -> float:
        return median(took.first for took in self.took)

    @property
    def late(self) -> float:
        """The first word, one time in twenty later than this."""
        times = [took.first for took in self.took]
        return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]

    @property
    def whole(self) -> float:
        return median(took.whole for took in self.took)

    @property
    def each(self) -> float:
        return median(took.each for took in self.took)


def measure(
    contestants: Sequence[RunningProxy], requests: Requests, *, rounds: int, words: int, warm: int = 1
) -> Mapping[str, Measured]:
    """By their cases. The first rounds are to warm up.

    What is done after an answer counts as much as what is done before it: the processor is read before the
    first round and after the last one, when all is quiet.
    """
    for number in range(warm):
        list(_round(contestants, requests, number, words))
    time.sleep(SETTLES)
    before = {item.contestant.case: item.usage() for item in contestants}
    took: dict[str, list[Took]] = {case: [] for case in before}
    for number in range(warm, warm + rounds):
        for case, times in _round(contestants, requests, number, words):
            took[case] += times
    time.sleep(SETTLES)
    results = {}
    for contestant in contestants:
        case, after = contestant.contestant.case, contestant.usage()
        per_request = 1000 / len(took[case])
        results[case] = Measured(
            took[case],
            per_request * (after.own - before[case].own),
            per_request * (after.children - before[case].children),
        )
    return results


def _round(
    contestants: Sequence[RunningProxy], requests: Requests, number: int, words: int
) -> Iterator[tuple[str, list[Took]]]:
    # Who comes first changes, as whoever follows somebody busy may wait for what that one does afterwards.
    start = number % len(contestants)
    for item in [*contestants[start:], *contestants[:start]]:
        with item.line() as line:
            took = [line.chat(item.contestant.path, messages, words) for messages in requests(number)]
        yield item.contestant.case, took
