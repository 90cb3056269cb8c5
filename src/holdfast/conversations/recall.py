"""Bringing back what the window left out, when the newest message points at it.

Found by words alone, so it works without any model. It only quotes: what is in the window, how much room
there is and where the quotes go is decided by those who call it.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast import words
from holdfast.conversations.passages import passage, pieces_of
from holdfast.messages import Message, Role
from holdfast.store import Found, Store, Stored, TextHit, searchable

# Messages compared, and of these the ones that are read.
_COMPARED = 40
_READ = 8
# Of the long ones so many characters are looked at line by line: nobody waits long for a quote.
_SCANNED = 200_000
# A person's own words hold the facts more often than the answers to them.
_BY_ROLE = {"user": 1.2, "assistant": 1.0, "tool": 1.0}
# What a message gains from those right before and after it being about the same.
_BESIDE = 0.1
# A hit that is so much weaker than the best one is left where it is.
_WEAKER = 0.5
# A term points at something when it is at least so rare, as a share of the rarity of a word said once.
_RARE = 0.25
_RARE_ALONE = 0.6
# So much of what is asked about must be in a message: less where several words of it come together there.
_ALONE = 0.4
_TOGETHER = 0.2
# And so much where nothing is asked, or only numbers meet.
_STATED = 0.5
# What a term that was never said takes from all others.
_UNHEARD = 0.5
# How much of an earlier question may be new while it still asks the same.
_REWORDED = 0.25
# A message in the window that is this close to a left-out one makes quoting it needless.
_AS_GOOD = 1.0

# Only a message that asks, or goes back to a subject, points by a single word; what is stated needs more.
_ASKING = re.compile(
    r"\?"
    r"|(?:^|[.!:;,\n][^\S\n]*)(?:(?:and|so|but|now|ok|okay|und|aber|also|nun|please|bitte),?\s+)?"
    r"(?:who|what|when|where|which|why|how|whose|wer|was|wann|wo|welche[rsmn]?|warum|wieso|wie|wem|wen)\b"
    r"|\b(?:back to|about|remember|remind|earlier|regarding|previous(?:ly)?|zurück zu[rm]?|über|erinner\w*"
    r"|vorhin|damals|bezüglich|früher)\b",
    re.IGNORECASE,
)
# How much, how long, which year: no name of anything, and in a statement it is news.
_COUNTED = re.compile(r"\d{1,3}\D*|(?:19|20)\d\d|\d+(?:[.,:]\d+)+\D*|\d+[^\W\d_]+")
# Words of agreement and thanks, and of asking for another answer: they point at nothing left out.
_IDLE = frozenset(
    words.terms(
        """
        thanks thank thx ok okay yes yeah yep no nope sure great good nice cool perfect awesome fine right
        correct exactly hello hi hey bye cheers welcome sorry wow lol haha go continue proceed next again
        more less better shorter longer try retry repeat stop wait done want need like make give get show
        explain help write rewrite say said know think look see use work works thing things something
        anything everything detail details example examples step steps way one two really maybe much many
        lot still already yet well first last time question answer mean understand got agree love sounds
        idea point part bit list danke dankeschön vielen super toll prima klasse gut genau richtig stimmt
        ja nein alles klar passt hallo moin tschüss servus weiter weitermachen mach mache fortfahren
        nochmal erneut versuch probier kürzer länger besser anders mehr weniger zeig zeige erkläre erklär
        hilf schreib schreibe gib brauche möchte will weiß wissen denke meinst verstehe verstanden sache
        sachen beispiel schritt frage antwort bisschen wirklich vielleicht eigentlich einfach mal eben
        halt schon ganz erste letzte gerne gern fertig else today morning evening tomorrow ask asked left
        wrong heute morgen abend falsch sicher hat war man hmm hm ah oh aha simplify format table
        recommend check double verify summarize summary translate improve fix change add remove compare
        elaborate sense feeling tabelle formatieren empfehlen empfiehlst prüfe prüfen überprüfe fasse fass
        zusammenfassen zusammenfassung übersetze übersetz übersetzen verbessere verbessern ändere ändern
        vereinfachen idee three four five six seven eight nine ten eleven twelve both half zwei drei vier
        fünf sechs sieben acht neun zehn elf zwölf beide beiden hälfte mr mrs ms herr herrn frau come comes
        came goes going stay stays may might must says take takes put day days week end us nobody somebody
        since along kommt kommen kam geht gehen bleibt bleiben darf dürfen sagt sagen nimmt nehmen braucht
        brauchen tag tage woche ende niemand jemand etwa ungefähr rund ehe bevor seit binnen überhaupt
        heißt heißen called
        """
    )
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A quote from a message that is not in the window; `why` names the words that pointed at it.

    `share` is how much of what is asked about the quote has: all of it is 1.
    """

    message: str
    role: Role
    at: float
    text: str
    why: str
    share: float


def asks(text: str) -> bool:
    """Whether a message asks for something or goes back to it, and does not only tell news."""
    return _ASKING.search(text) is not None


def bring_back(
    store: Store,
    tree: str,
    question: Message,
    *,
    head: str,
    within: Collection[str],
    room: int,
    count: Callable[[str], int],
    limit: int = 3,
) -> list[Snippet]:
    """Quotes from the way to `head` that the question points at, best first, at most `room` tokens together.

    `within` are the messages that are in the window in full. Nothing is quoted when nothing is pointed at, or
    when the window has it already.
    """
    asked = words.spelled(question.text)
    telling = words.telling(question.text)
    if room <= 0 or not (telling or asked.keys() - _IDLE):
        return []
    # Names first: of a long message only the first terms are looked up.
    terms = sorted(asked, key=lambda term: term not in telling)
    found = store.texts.find(
        tree, terms, words.parts(question.text), head=head, limit=_COMPARED + len(within)
    )
    found = _without_itself(store, found, question, within)
    asking = asks(question.text)
    weights = _pointing(found, telling, asking)
    if not weights:
        return []
    # What is asked about and was never said counts too: the question is then about something else.
    unheard = sum(value == 0 and term not in _IDLE for term, value in found.rarity.items())
    sought = sum(weights.values()) + _UNHEARD * unheard * found.rarest
    wanted = _Wanted(weights, sought, telling, asking)
    if asking:
        # A part of a compound weighs less, and the compound it comes from is rare enough.
        enough = _RARE_ALONE * found.rarest
        alone = {term for term, value in weights.items() if value >= enough or term not in asked}
        wanted = replace(wanted, alone=frozenset(alone))
    hits = _by_passage(store, found.hits, wanted)
    chosen = _chosen(hits, wanted, within)
    return _quotes(store, chosen, question, asked, wanted, limit, room, count)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a message points at: its terms by their weight, and which of them are enough alone."""

    weights: Mapping[str, float]
    sought: float
    telling: frozenset[str]
    asks: bool
    alone: frozenset[str] = frozenset()

    def worth(self, terms: Collection[str]) -> float:
        return sum(self.weights.get(term, 0.0) for term in terms)

    def points_at(self, matched: Collection[str]) -> bool:
        """Whether something that has these terms is meant."""
        there = self.weights.keys() & matched
        share = self.worth(there) / self.sought
        if len(there) > 1 and self.asks:
            # Two numbers come together in any table.
            return share >= (_STATED if all(map(_COUNTED.fullmatch, there)) else _TOGETHER)
        if len(there) > 1 and share >= _STATED:
            return True
        named = any(not _COUNTED.fullmatch(term) for term in there & self.telling)
        return named or (share >= _ALONE and bool(there & self.alone))


def _without_itself(store: Store, found: Found, question: Message, within: Collection[str]) -> Found:
    """What was found, less the question itself where the window has it: it would be its own answer."""
    likely = sorted((hit for hit in found.hits if hit.message in within), key=lambda hit: -len(hit.matched))
    read = store.texts.read([hit.message for hit in likely[:3]])
    own = {hit.message: hit for hit in likely[:3] if hit.message in read}
    own = {name: hit for name, hit in own.items() if _asks_the_same(_says(read[name].message), question)}
    said = {term for hit in own.values() for term in hit.matched}
    rarity = {
        term: 0.0 if term in said and value >= found.rarest else value for term, value in found.rarity.items()
    }
    return replace(found, hits=tuple(hit for hit in found.hits if hit.message not in own), rarity=rarity)


def _says(message: Message) -> str:
    return searchable(message).strip()


def _asks_the_same(said: str, question: Message) -> bool:
    """Whether this is the question itself, asked before: it has no answer in it.

    A statement may answer a question with the very words of it, and a name that is not in it may be what is
    looked for.
    """
    if said.casefold().split() == question.text.casefold().split():
        return True
    # What is much longer than the question is more than the question.
    if len(said) > 2 * len(question.text) + 200:
        return False
    if not _only_asks(said):
        return False
    before = set(words.terms(said)) - _IDLE
    new = before.difference(words.terms(question.text))
    return not new & words.telling(said) and len(new) <= _REWORDED * len(before)


def _pointing(found: Found, telling: frozenset[str], asking: bool) -> dict[str, float]:
    """The terms of the question that can point at something, with their weight."""
    said_once = found.rarest
    return {
        term: value
        for term, value in found.rarity.items()
        if value > 0
        and (term in telling or (term not in _IDLE and value >= _RARE * said_once))
        and (asking or not _COUNTED.fullmatch(term))
    }


def _by_passage(store: Store, hits: Sequence[TextHit], wanted: _Wanted) -> list[TextHit]:
    """The hits, long ones by their best passage: every line of a log is about something else.

    A score is what the terms are worth in a text of usual length, and less in a longer one. So one sentence
    with all of them counts as if it had been said alone.
    """
    likely = sorted(hits, key=lambda hit: -wanted.worth(hit.matched))[:_READ]
    long = {hit.message: hit for hit in likely if hit.score < wanted.worth(hit.matched)}
    scores: dict[str, float] = {}
    left = _SCANNED
    for name, stored in store.texts.read(list(long)).items():
        said = _says(stored.message)[:left]
        scores[name] = max((wanted.worth(_terms(piece)) for piece in pieces_of(said)), default=0.0)
        left -= len(said)
    return [replace(hit, score=max(hit.score, scores.get(hit.message, 0.0))) for hit in hits]


def _terms(text: str) -> set[str]:
    return {*words.terms(text), *words.parts(text)}


def _chosen(hits: Sequence[TextHit], wanted: _Wanted, within: Collection[str]) -> list[TextHit]:
    """The left-out messages worth reading, best first."""
    seen = max((hit.score for hit in hits if hit.message in within), default=0.0)
    strength = {(hit.branch, hit.depth): hit.score for hit in hits}
    ranked = []
    for hit in hits:
        if hit.message in within or hit.role == "system" or hit.score * _AS_GOOD <= seen:
            continue
        if not wanted.points_at(hit.matched):
            continue
        beside = sum(strength.get((hit.branch, hit.depth + step), 0.0) for step in (-1, 1))
        ranked.append((_BY_ROLE.get(hit.role, 1.0) * hit.score + _BESIDE * beside, hit))
    ranked.sort(key=lambda pair: -pair[0])
    return [hit for strength_of, hit in ranked[:_READ] if strength_of >= _WEAKER * ranked[0][0]]


def _answers_first(chosen: Sequence[TextHit], read: Mapping[str, Stored]) -> list[TextHit]:
    """Without those that only ask, where others say something: a question tells nothing."""
    telling = [
        hit for hit in chosen if hit.message in read and not _only_asks(_says(read[hit.message].message))
    ]
    return telling or list(chosen)


def _only_asks(said: str) -> bool:
    return all(piece.rstrip("\"'“”)*_").endswith("?") for piece in words.sentences(said))


def _quotes(
    store: Store,
    chosen: Sequence[TextHit],
    question: Message,
    asked: Mapping[str, str],
    wanted: _Wanted,
    limit: int,
    room: int,
    count: Callable[[str], int],
) -> list[Snippet]:
    quotes: list[Snippet] = []
    weights = wanted.weights
    read = store.texts.read([hit.message for hit in chosen])
    for hit in _answers_first(chosen, read):
        if len(quotes) == limit or room <= 0:
            break
        stored = read.get(hit.message)
        if stored is None:
            continue
        said = _says(stored.message)
        if _asks_the_same(said, question):
            continue
        share = room if len(quotes) == limit - 1 else max(room // 2, room // (limit - len(quotes)))
        text = passage(said, weights, share, count)
        if text and all(text != quote.text for quote in quotes):
            room -= count(text)
            pointed = sorted(hit.matched & weights.keys(), key=lambda term: (-weights[term], term))
            why = ", ".join(dict.fromkeys(asked.get(term, term) for term in pointed))
            has = min(1.0, wanted.worth(_terms(text)) / wanted.sought)
            quotes.append(Snippet(stored.id, stored.message.role, stored.created_at, text, why, has))
    return quotes
