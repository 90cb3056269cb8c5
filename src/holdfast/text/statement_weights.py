"""What the cues of a clause come to: which others they make together, and what each is worth for a kind."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prohibition", "rule", "failure", "decision", "preference", "fact"]

# What each cue is worth for each kind. From `ENOUGH` on a clause is of that kind.
ENOUGH = 1.2
# What friends tell each other in passing has to show more clearly that it will matter later.
ENOUGH_IN_SMALL_TALK = 2.2
WEIGHTS: Mapping[Kind, Mapping[str, float]] = {
    "rule": {
        "order": 0.4, "standing_order": 0.7, "always": 0.7, "never": 0.8, "only": 0.4, "only_last": 0.5,
        "no_more": 0.4, "from_now": 0.5, "here": 0.6, "please": 0.4, "must": 0.7, "may_not": 0.8,
        "you_must": 1.0, "duty": 0.9, "passive": 0.5, "passive_last": 0.5, "passive_first": 0.6,
        "none": 1.0, "none_here": 0.6, "infinitive": 0.3, "negation": 0.2, "value": 0.2, "language": 0.2,
        "definite": 0.1, "name": 0.3, "verbless": 0.3, "plain_wish": 0.4, "forbids": 0.6, "beside_you": 0.5,
        "we": 0.2, "for_you_before": 0.6, "shuns": 1.2, "asks_first": 0.4, "ordered_outputs": 0.8,
        "as_is": 0.8, "call_me": 0.9, "i": -1.2, "pronoun": -2.0, "points": -0.7, "passing": -0.8,
        "trouble": -0.5, "perfect": -0.6, "mental": -2.0, "says": -0.8, "task": -2.5, "needs": -1.0,
        "this_thing": -1.0, "asks_you": -1.0, "bygone": -0.8, "that_one": -0.6, "confirms": 0.2,
        "every": 0.5, "we_dont": 0.8, "plain_without": 0.4, "sticks": 0.8, "behind_whoever": 1.2,
        "passive_none": 0.6, "passive_when": 0.7, "we_always": 0.6, "others_must": 0.3,
        "deed": -0.8, "feels": -0.8, "stays": 0.3, "law": 0.3, "math": -1.0, "whoever": 0.7,
        "framed_rule": 0.8, "gerund": -0.4, "wants_none": 1.2, "subjectless": -1.0,
        "out_of": 0.9, "bans_you": 0.8, "under_alone": -2.0, "matters": 1.0,
        "defines": -1.2, "others_like": -0.8, "natural": -2.0, "observes": -1.5,
        "every_done": 0.3,
    },
    "decision": {
        "decided": 1.0, "decided_before": 0.6, "aims_after": 0.6, "chooses": 1.2, "becomes": 1.2,
        "does": 0.4, "change": 0.4, "concludes": 0.5, "me": 0.2, "number": 0.1, "value": 0.2, "i_do": -0.4,
        "named": 0.2, "from_now": 0.3, "verbless": 0.2, "passing": -0.6, "negation": -0.4, "order": -0.6,
        "always": -0.4, "task": -1.5, "says": -0.6, "needs": -1.2, "must": -0.4, "asks_you": -1.0,
        "trouble": -0.6, "pronoun": -0.5, "after_all": 0.8, "settles": 0.8, "we_will": 0.6, "feels": -0.6,
        "definite": 0.2, "name": 0.2, "this_thing": -0.6, "fragment": -1.5, "math": -1.0, "i_promise": -0.8,
        "announces": -2.0, "gerund": -1.0, "object_first": -1.0, "object_it": -0.8, "you_did": -2.0,
        "sealed": 1.0, "felt": -0.6, "rejects": -1.0, "that_one": -1.0,
    },
    "preference": {
        "likes": 1.2, "rather": 1.2, "habit": 1.2, "for_you": 1.0, "asks_standing": 1.6, "possible": 0.9,
        "verbless": 0.3, "me": 0.2, "always": 0.2, "value": 0.1, "this_thing": -1.0, "theirs": -1.0,
        "passing": -0.8, "task": -1.5, "needs": -0.8, "says": -0.6, "asks_once": -1.5, "points": -0.2,
        "order": -0.2, "standing_wish": 1.6, "deed": -0.8, "fragment": -1.5, "object_first": -1.5,
        "that_one": -1.0, "feels": -0.8, "gerund": -0.6,
    },
    "fact": {
        "mine": 1.0, "me": 0.6, "here": 0.5, "definite": 0.4, "name": 0.4, "states": 0.4, "value": 0.6,
        "number": 0.4, "named": 0.4, "language": 0.2, "trait": 0.8, "role": 0.4, "title": 0.8,
        "confirms": 0.3, "dated_deed": 0.8, "follows": 0.3, "changed": 0.4, "anchored": 0.2, "our_way": 0.3,
        "placed": 0.4, "trouble": -1.0, "passing": -1.0, "order": -3.0, "perfect": -0.5, "points": -0.6,
        "needs": -2.0, "this_thing": -1.2, "theirs": -1.2, "task": -1.5, "says": -0.6, "asks_you": -1.5,
        "bygone": -0.7, "pronoun": -0.3, "promises": -2.0, "announces": -2.0, "no_verb": -0.2,
        "feels": -1.4, "can": -1.4, "busy": -0.6, "for_years": 0.6, "generic_of": -0.8, "deed": -0.5,
        "vague": -0.6, "fragment": -2.0, "from_now": 0.4, "object_it": -0.7, "math": -1.0, "that_one": -0.8,
        "own_thing": 0.4, "lacks": 0.4, "life": 0.6, "routine": 0.4, "gerund": -1.2, "bare": -0.8,
        "ago": -1.2, "you": -0.4, "labelled": 1.2, "moved": 0.8, "under_alone": -2.0, "general": -1.4,
        "felt": -0.6, "called": 0.4, "others_like": -1.6, "framed_value": 0.3, "quoted": -0.6,
        "holds": -1.0, "natural": -2.0, "observes": -1.5,
    },
}  # fmt: skip
# What a cue takes the meaning from, where both are there.
OVERRIDES: Mapping[str, frozenset[str]] = {
    "likes": frozenset({"asks_you", "asks_once", "needs"}),
    "others_like": frozenset({"likes", "trait"}),
    "asks_standing": frozenset({"passing"}),
    "becomes": frozenset({"negation"}),
    "decided": frozenset({"negation", "passing", "can"}),
    "rather": frozenset({"needs"}),
    "standing_wish": frozenset({"needs", "i"}),
    "never": frozenset({"negation"}),
    "wants_none": frozenset({"i", "needs", "mental", "negation"}),
    "labelled": frozenset({"bare", "no_verb", "vague"}),
    "matters": frozenset({"points", "feels"}),
    "order": frozenset({"i", "we", "me", "mine", "points", "says", "please", "confirms"}),
    "standing_order": frozenset({"this_thing"}),
    "from_before": frozenset({"task"}),
    "follows": frozenset({"points"}),
    "anchored": frozenset({"points", "pronoun"}),
    "changed": frozenset({"perfect", "deed"}),
    "habit": frozenset({"deed"}),
    "moved": frozenset({"deed", "perfect", "bygone"}),
    "cause": frozenset({"points"}),
    "you_must": frozenset({"i", "needs"}),
    "for_you": frozenset({"i", "needs", "feels"}),
    "trait": frozenset({"negation", "bygone", "can", "vague", "deed"}),
    "mine": frozenset({"bygone", "theirs", "me"}),
    "me": frozenset({"bygone"}),
}
# Where several kinds are possible, one that shows by its words goes before one by what it is about.
SHOWS: Mapping[Kind, frozenset[str]] = {
    "decision": frozenset({"decided", "chooses", "becomes", "decided_before", "concludes"}),
    "preference": frozenset(
        {"likes", "rather", "habit", "asks_standing", "for_you", "possible", "standing_wish"}
    ),
    "rule": frozenset({"duty", "must", "none_here", "standing_order", "forbids", "you_must", "our_rule"}),
}
# What makes a rule one that says what is not to be.
FORBIDDING = frozenset({"forbids", "passive_none", "as_is", "out_of"})
# With one of these a clause states nothing.
STATES_NOTHING = frozenset({"supposes", "open", "past", "once", "joke", "asks"})

DOUBTS = ("supposes", "open", "past", "once", "joke", "passing", "rejects", "takes_back", "irony", "says")
# What makes a fact one that can be looked up: a value, a name, a relation, a lasting property.
CONCRETE = frozenset(
    {"value", "number", "named", "name", "trait", "role", "title", "relation", "language", "placed",
     "for_years", "here", "frequency", "my_own", "own_thing", "lacks", "life", "called"}
)  # fmt: skip
# A general statement has none of these.
OF_US = frozenset({"me", "mine", "here", "title", "relation"})
TIMED = frozenset({"date", "time", "money", "weekday", "frequency", "language", "passive"})
# What has one of these has a verb.
_VERBAL = frozenset(
    ("states", "does", "order", "must", "passive", "perfect", "trait", "likes", "my_own", "life")
)


def derive_cues(cues: Collection[str]) -> set[str]:
    """Cues that others make together."""
    has = set(cues)
    found = set()
    lasting = {"always", "never", "from_now", "future", "no_more"} | (set() if "to_me" in has else {"only"})
    if {"order", "one_text"} <= has and not has & {"negation", "never", "none"}:
        # "Turn the text into a list of six points at most" limits this one.
        lasting -= {"only"}
        found.add("this_thing")
    if has & {"order", "you_verb"} and has & lasting:
        found.add("standing_order")
    if {"order", "outputs"} <= has:
        found.add("ordered_outputs")
    if not has & {"states", "does", "order", "must", "passive", "i", "we", "definite"}:
        found.add("verbless")
        wide = has & {"generic", "every", "always", "only", "language", "negation"}
        if (
            ({"name", "only"} <= has and "just_one" not in has)
            or {"name", "manner", "please"} <= has
            or ({"please", "frame"} <= has and wide)
        ):
            found.add("plain_wish")
        if "never" in has:
            found.add("forbids")
        if {"name", "negation", "manner"} <= has:
            found.add("plain_without")
    if not has & _VERBAL:
        found.add("no_verb")
    no = has & {"negation", "never", "none", "no_more"}
    if {"never", "you_are_to"} <= has:
        found |= {"bans_you", "forbids"}
    if has & {"shuns", "wants_none"} or (
        no and has & {"order", "may_not", "please", "infinitive", "you_must", "none", "duty"}
    ):
        found.add("forbids")
    if "asks_you" in has:
        standing = has & {"future", "from_now"} and "asks_info" not in has
        found.add("asks_standing" if standing else "asks_once")
    if "i" in has and not has & {"chooses", "decided", "becomes", "after_all"}:
        found.add("i_do")
    if {"i", "promises"} <= has and "chooses" not in has:
        found.add("i_promise")
    limits = {"always", "never", "only", "no_more"}
    if ("passive" in has and has & {"here", "every", *limits}) or ("here" in has and has & limits):
        found.add("our_rule")
    found |= _combined(has) | _of_the_world(has)
    if {"every", "passive"} <= has:
        found.add("every_done")
    if ("perfect" in has and has & {"date", "money"}) or {"deed", "money"} <= has:
        found.add("dated_deed")
    if {"changed", "money", "points"} <= has:
        # "There are 7,900 euros for it now": the sum is new, whoever gave it.
        found.add("anchored")
    return found


def _combined(has: Collection[str]) -> set[str]:
    """What a verb comes to with whom it is about, how often it is done, and what the clause lacks."""
    has = set(has)
    found = set()
    if "passive" in has and has & {"negation", "none"} and not has & {"trouble", "perfect", "decided"}:
        found.add("passive_none")
    if {"under", "passive"} <= has:
        found.add("passive_when")
    bound = has & {"never", "only"} or ("always" in has and has & {"money", "number"})
    if "we" in has and bound and "needs" not in has:
        found.add("we_always")
    if "wants" in has and has & {"always", "never"}:
        found.add("standing_wish")
    if {"me", "frequency"} <= has:
        found.add("routine")
    if {"wants", "outputs"} <= has:
        found.add("standing_wish")
    binds = "must" in has or {"never", "manner"} <= has
    if binds and has & {"name", "definite", "every", "bare_plural"} and not has & {"me", "needs", "points"}:
        found.add("others_must")
    if {"concludes", "passive"} <= has:
        found.add("settles")
    if {"we", "does"} <= has and has & {"date", "from_now"}:
        found.add("we_will")
    verbs = has & {"states", "does", "order", "must", "passive", "perfect", "likes", "my_own"}
    lost = (
        has & {"subjectless", "phrase_only"}
        or ("opens" in has and not verbs)
        or ("bound" in has and "finite" not in has)
    )
    object_only = {"subjectless", "me"} <= has and not has & {"i", "we"}
    if object_only or (lost and not has & {"me", "deed", "decided", "order", "fails"}):
        found.add("fragment")
    if "no_verb" in has and not has & {"i", "we", "here", "title"}:
        found.add("bare")
    if {"frame", "states", "money"} <= has:
        found.add("framed_value")
    if {"likes_the", "frame"} <= has:
        found.add("likes")
    if "ongoing" in has and not has & {"value", "number", "named", "for_years"}:
        found.add("busy")
    return found


def _of_the_world(has: set[str]) -> set[str]:
    """What shows that a clause is about the world, or about others, and not about who says it."""
    found = set()
    counts = "bare_plural" in has and has & {"number", "value", "trait"} and not has & TIMED
    measured = "world" in has and has & {"name", "definite"} and not has & {"own_thing", "passive"}
    if (measured or counts or has & {"only_one", "any_one", "defines"}) and not has & OF_US:
        found.add("general")
    if "nature" in has and not has & {*OF_US, "we", "must", "duty", "passive", "please", "order"}:
        found.add("natural")
    if "tastes" in has and not has & {"me", "trait", "order"}:
        found.add("others_like")
    return found


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
    if "fails" in cues and ("we_dont" in cues or not {"rule", "decision"} & {*able}):
        return Verdict("failure", ENOUGH, bool(cues & {"never", "no_more", "from_now", "future", "we_dont"}))
    if not able:
        if "forbids" in cues and not cues & {"mental", "i", "pronoun", "says", "task", "bygone"}:
            return Verdict("prohibition", scores["rule"], lasting=False)
        return None
    shown = [kind for kind in SHOWS if kind in able and cues & SHOWS[kind]]
    kind = (shown or able)[0]
    standing = cues & {"standing_order", "forbids"} and "rule" in able
    at_hand = "text_part" in cues and not cues & {"always", "never", "from_now", "future"}
    asked_of_you = "you_must" in cues and cues & {"always", "never", "only", "negation", "from_now"}
    if kind == "preference" and (standing or asked_of_you):
        kind = "rule"
    if kind == "rule" and (cues & FORBIDDING or {"never", "duty"} <= cues):
        # "No small talk today" holds for now.
        return Verdict("prohibition", scores[kind], lasting="passing" not in cues and not at_hand)
    return Verdict(kind, scores[kind], "this_thing" not in cues and not at_hand, "rule" in able)
