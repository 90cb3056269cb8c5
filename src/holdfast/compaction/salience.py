"""Which lines say the most together: weighted terms, and a choice that does not say the same thing twice.

Rare terms, names and numbers weigh more; what a chosen line said already counts for nothing again. It does
not know who said a line or what it is for.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from holdfast import words

# A line is looked at if it is among so many best; a choice never takes nearly as many.
_MOST_CANDIDATES = 240
# A line of which less than this part is new says what was said.
_LEAST_NOVELTY = 0.4
_NAME_SIGNS = frozenset("./\\:@#_-0123456789")
_NAME_WEIGHT = 1.6
# Short lines would win by their one rare word, long ones by their number of words.
_LENGTH_SMOOTHING = 4


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence and where it stood; `factor` is what speaks for it beside its words."""

    text: str
    place: int
    factor: float = 1.0
    terms: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def of(cls, text: str, place: int, factor: float = 1.0) -> "ScoredSentence":
        return cls(text, place, factor, frozenset(words.terms(text)))


class SalienceWeights:
    """How much each term tells, from all lines of a span."""

    def __init__(self, lines: Iterable[Collection[str]]) -> None:
        known: Counter[str] = Counter()
        total = 0
        for terms in lines:
            known.update(terms)
            total += 1
        self._weights = {term: self._weigh(term, number, total) for term, number in known.items()}
        self._unknown = math.log(1 + total) if total else 1.0

    @staticmethod
    def _weigh(term: str, number: int, total: int) -> float:
        # Said more than once and not everywhere: what the talk was about.
        weight = math.log(1 + number) * math.log(1 + total / number)
        return weight * _NAME_WEIGHT if not _NAME_SIGNS.isdisjoint(term) else weight

    def total(self, terms: Iterable[str]) -> float:
        return sum(self._weights.get(term, self._unknown) for term in terms)

    def gain(self, line: ScoredSentence, covered: Collection[str]) -> float:
        """What a line adds to what was said."""
        new = self.total(term for term in line.terms if term not in covered)
        return line.factor * new / math.sqrt(_LENGTH_SMOOTHING + len(line.terms))


def choose_sentences(
    lines: Sequence[ScoredSentence],
    weights: SalienceWeights,
    covered: set[str],
    cost: Callable[[str], int],
    room: int,
) -> list[ScoredSentence]:
    """The lines that add the most within the room, in the order of their places; `said` grows by them."""
    best = heapq.nlargest(_MOST_CANDIDATES, lines, key=lambda line: (weights.gain(line, ()), line.place))
    whole = {line: weights.gain(line, ()) for line in best}
    chosen: list[ScoredSentence] = []
    # Gains only shrink as more is said, so the first whose gain is still what the heap thought is the best.
    heap = [(-whole[line], number) for number, line in enumerate(best)]
    heapq.heapify(heap)
    while heap and room > 0:
        expected, number = heapq.heappop(heap)
        line = best[number]
        gain = weights.gain(line, covered)
        if gain < _LEAST_NOVELTY * whole[line] or gain <= 0:
            continue
        if gain < -expected - 1e-9:
            heapq.heappush(heap, (-gain, number))
            continue
        tokens = cost(line.text)
        if tokens <= room:
            room -= tokens
            chosen.append(line)
            covered |= line.terms
    return sorted(chosen, key=lambda line: line.place)
