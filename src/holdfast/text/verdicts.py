"""What the cues of a clause come to by their weights: a kind of statement, or nothing."""

from dataclasses import dataclass

from holdfast.text.statement_weights import CONCRETE, ENOUGH, FORBIDDING, OVERRIDES, SHOWS, WEIGHTS, Kind


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a clause states, and how clearly; see `Statement` for the rest."""

    kind: Kind
    score: float
    lasting: bool
    binding: bool = False


def judge(cues: frozenset[str]) -> Verdict | None:
    """What a clause with these cues states, if they come to enough."""
    # In English the first word of a sentence is capital, whatever it is.
    concrete = cues & CONCRETE - ({"name"} if "first_word" in cues else set())
    if not concrete or concrete == {"here"}:
        cues |= {"vague"}
    cues -= frozenset().union(*(drops for name, drops in OVERRIDES.items() if name in cues))
    scores = {
        kind: round(sum(weight for name, weight in weights.items() if name in cues), 2)
        for kind, weights in WEIGHTS.items()
    }
    if "passing" in cues and cues & {"date", "weekday", "from_now", "changed"}:
        scores["fact"] += 0.6
    able = sorted((kind for kind in scores if scores[kind] >= ENOUGH), key=lambda kind: -scores[kind])
    if "fails" in cues and not {"rule", "decision"} & {*able}:
        return Verdict("failure", ENOUGH, bool(cues & {"never", "no_more", "from_now", "future", "we_dont"}))
    if not able:
        if "forbids" in cues and not cues & {"mental", "i", "pronoun", "says", "task", "bygone"}:
            return Verdict("prohibition", scores["rule"], lasting=False)
        return None
    shown = [kind for kind in SHOWS if kind in able and cues & SHOWS[kind]]
    kind = (shown or able)[0]
    standing = cues & {"standing_order", "forbids"} and "rule" in able
    asked_of_you = "you_must" in cues and cues & {"always", "never", "only", "negation", "from_now"}
    if kind == "preference" and (standing or asked_of_you):
        kind = "rule"
    if kind == "rule" and (cues & FORBIDDING or {"never", "duty"} <= cues):
        # "No small talk today" holds for now.
        return Verdict("prohibition", scores[kind], lasting="passing" not in cues)
    return Verdict(kind, scores[kind], "this_thing" not in cues, "rule" in able)
