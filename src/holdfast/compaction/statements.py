"""What a sentence says about the person's own world: who they are, what they have and like, what is when.

By the shape of one sentence alone. A memory is read again years later, so a doubtful sentence is left alone.
It does not know who said the sentence, nor what was said around it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.compaction import english, german
from holdfast.compaction.lines import Kind
from holdfast.compaction.phrases import Patterns, pattern
from holdfast.patterns import late


@dataclass(frozen=True, slots=True)
class Statement:
    """A kind of memory, how much it weighs, and where in the sentence it stands."""

    kind: Kind
    importance: float
    start: int
    end: int


def statement_in(masked: str) -> Statement | None:
    """The first statement in a sentence whose quotes and code are hidden."""
    masked = masked.replace("’", "'")
    for start in _starts(masked):
        # Few clauses have the shape of a statement, so the costly looks come after it.
        if not _shape_of(masked[start:]):
            continue
        end = _end(masked)
        shape = _shape_of(masked[start:end])
        if shape and not _SUPPOSED.search(masked, 0, end) and not _POINTS_BACK.match(masked[start:end]):
            return Statement(*shape, start, end)
    return None


def _shape_of(clause: str) -> tuple[Kind, float] | None:
    for begins, shapes in _LANGUAGES:
        if begins.match(clause):
            found = ((kind, weight) for kind, weight, shape in shapes if shape.match(clause))
            return next(found, None)
    return None


def _end(masked: str) -> int:
    """Where the statement ends and a question or a wish begins; 0 if there is nothing but that."""
    asks = masked.rstrip("\"'”“) ").endswith("?")
    found = (_WISH.search(masked), _QUESTION.search(masked) if asks else None)
    ends = [match.start() for match in found if match]
    if ends:
        return min(ends)
    return 0 if asks else len(masked)


def _starts(masked: str) -> Iterator[int]:
    opening = OPENING.match(masked)
    first = opening.end() if opening else 0
    yield first
    yield from (match.end() for match in _CLAUSE.finditer(masked, first))


# What may stand before the sentence proper.
OPENING = pattern(
    r"(?:(?:by the way|btw|fyi|also|and|but|so|oh|well|actually|speaking of which|as you know|in fact|anyway"
    r"|übrigens|und|aber|also|ach|außerdem|eigentlich|nur zur info|zur info|bitte)\b[,:;!.–-]* *"
    # Without a sign behind it, "no" belongs to the sentence.
    r"|(?:okay|ok|yes|yeah|no|sure|hi|hello|hey|thanks|thank you|great|nice|right|first|finally|now|note"
    r"|important|for context|just so you know|ja|nein|hallo|danke|gut|wichtig|hinweis|noch was"
    r"|zum hintergrund)(?: there| all)?[,:;!.–-]+ *){1,4}"
)
_CLAUSE = pattern(
    r"[,;:–—] +(?:(?:and|but|since|because|as|so|by the way|btw|plus|und|aber|denn|übrigens)\b,? *){0,2}"
    r"|\b(?:and|but|since|because|und|aber|denn) +(?=(?:I|we|my|our|ich|wir|meine?|unsere?)\b)"
)
_JOIN = r"(?:[,;–—-] *(?:(?:and|so|but|or|then|also|und|aber|dann) )?|\b(?:and|so|but|und|aber) )"
_WISH = pattern(
    rf"{_JOIN}(?:(?:can|could|would|will|do) you\b|please\b|help me\b|tell me\b|give me\b|suggest\b"
    r"|let me know\b|I (?:want|need|was wondering|wonder|was hoping|wanted|would like|am wondering"
    r"|am not sure|don't know|was thinking|think|guess|hope|feel)\b|I'd (?:like|love|appreciate)\b|I'll\b"
    r"|I've (?:already |also )?(?:tried|added|heard)\b|here's|here is|here are"
    r"|I'm (?:also |still |just |now |really |kinda |sorta |a bit )*(?:trying|looking|wondering|hoping|not"
    r"|unsure|thinking|struggling|curious|worried|excited|interested|considering|concerned|planning|having"
    r"|getting|open|ready|happy|feeling|nervous)\b"
    r"|kannst du|könntest du|würdest du|können sie|könnten sie|bitte\b|hilf mir|sag mir|zeig mir"
    r"|schreibe? (?:mir|uns|bitte)|erstelle?\b|mach (?:mir|bitte)|gib mir"
    r"|ich (?:brauche|möchte|will|suche|frage|weiß nicht|bin mir nicht|hätte gern|würde)\b)"
)
_QUESTION = pattern(
    rf"{_JOIN}(?:what|how|which|where|when|why|who|whose|any|do|does|did|is|are|was|were|has|have|should"
    r"|shall|can|could|would|will|might|wie|welche[rsnm]?|wo|wann|warum|wer|wieso|gibt|ist|sind|kann|soll"
    r"|sollte|hast|weißt|kennst|habt)\b"
)
_SUPPOSED = pattern(
    r"\b(?:if|suppose|supposing|imagine|assume|assuming|let's say|would(?! rather)|could|might|maybe|perhaps"
    r"|hypothetic\w*|pretend|as though|whether|should|wish|probably|right now|at the moment|for now"
    r"|wenn|falls|angenommen|nehmen wir an|stell dir vor|würden?|hätten?|könnten?|wären?|vielleicht"
    r"|eventuell|ob|wahrscheinlich|vermutlich|sollten?|im moment|gerade eben)\b"
)
# What it means stands somewhere else, and will not stand beside the memory.
_POINTS_BACK = pattern(
    r"(?:\S+ ){1,5}(?:it|them|their|(?<!and )(?:her|his)|him|this|that|these|those|you|your|yours|all of"
    r"|to\W*$|(?:my|our|the) \w+ one"
    r"|the (?:idea|sound|first|second|third|last|other|same|one|suggestion|above|following)\w*"
    r"|es|ihn|ihm|diese[rsnm]?|jene[rsnm]?|dein\w*|das(?! (?-i:[A-ZÄÖÜ]))"
    r"|davon|damit|dafür|dazu|daran|darauf|euch|dich|dir"
    r"|die (?:idee|erste|zweite|dritte|letzte|andere|gleiche|obige)\w*)\b"
    r"(?! (?:week|month|year|morning|summer|spring|autumn|fall|winter|jahr|my|our|mein|unser|ich|wir|we|I)\b)"
)

_Shapes = tuple[tuple[Kind, float, re.Pattern[str]], ...]


def _shapes(likes: Patterns, who: Patterns, world: Patterns, when: Patterns) -> _Shapes:
    return (
        *(("preference", 0.7, shape) for shape in likes),
        *(("fact", 0.6, shape) for shape in who),
        *(("fact", 0.5, shape) for shape in (*world, *when)),
    )


# A clause is read in the language of its first word; where that is a name, in both.
_LANGUAGES: tuple[tuple[re.Pattern[str], _Shapes], ...] = (
    (
        pattern(r"(?:I|I'm|I'd|I've|we|we're|we've|my|our|the|you can|call)\b"),
        _shapes(english.LIKES, english.WHO, english.WORLD, english.WHEN),
    ),
    (
        pattern(r"(?:ich|wir|meine?|unsere?|mir|am|ab|im|seit|bis|der|die|das)\b"),
        _shapes(german.LIKES, german.WHO, german.WORLD, german.WHEN),
    ),
    (
        late(r"[A-ZÄÖÜ]|(?i:mr|mrs|ms|dr|prof|frau|herr)\b"),
        _shapes((), (), (*english.PEOPLE, *german.PEOPLE), ()),
    ),
)
