"""What a sentence of a person states: a rule, a prohibition, a failure, a decision, a preference, a fact.

By grammar: a sentence is cut into clauses, each clause has cues, and a few weights say what the cues come to.
What is asked, supposed, joked, over, for this once or of this moment states nothing. It reads one message at
a time and does not know what was said before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from holdfast.text.analyser import language_of, terms
from holdfast.text.analyser import sentences as split_sentences
from holdfast.text.lang import LanguageData, by_language
from holdfast.text.patterns import late
from holdfast.text.statement_weights import (
    DOUBTS,
    ENOUGH_IN_SMALL_TALK,
    STATES_NOTHING,
    Kind,
    Verdict,
    derive_cues,
    judge,
)

LANGUAGES: Mapping[str, LanguageData] = by_language("CUES")


@dataclass(frozen=True, slots=True)
class Statement:
    """`sentence` is the number of the sentence, `start` and `end` the part of it that states something.

    One that is not `lasting` binds for the task at hand only, as far as can be told; one that is `binding`
    may well be a rule, whatever else it is.
    """

    kind: Kind
    sentence: int
    start: int
    end: int
    score: float
    lasting: bool = True
    binding: bool = False
    # It begins with a word for something that was named before it.
    points: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence, without the particles before it; `cues` are the names of those it has."""

    text: str
    start: int
    end: int
    cues: frozenset[str]


# What tells of a change, from when on or to what.
_CHANGES = frozenset({"changed", "becomes"})
# What a prohibition has to have in the words that are kept of it.
_DENYING = ("never", "negation")
# A clause that ends with one of these goes on behind the comma.
_UNFINISHED = late(r"(?i)\b(?:don't|do not|never|not|nicht|nie|niemals|kein)$")
# A clause with one of these, at the end, is no part of what is stated before it.
_NOT_PART = frozenset({"needs", "joke", "question", "asks_you", "open"})
# What the particles before a clause still say of it.
_OPENS = ("from_now", "always", "never", "future", "please", "possible", "concludes", "confirms", "joke")

_SINGULAR = r"(?:ist|heißt|hat|wird|läuft|liegt|kostet|beginnt|gilt|is|has|runs|costs|starts|begins)\s"
_HAS_SINGULAR = late(rf"\s{_SINGULAR}")
_BORDER = late(
    r"[,;:–—](?=\s)|\s-(?=\s)|[;:]-?[)D](?=\s|$)|[\U0001f600-\U0001f64f\U0001f900-\U0001f9ff]+"
    # Another main clause, with a subject of its own.
    r"|(?i:\s(?:und|and))(?=(?i:\s(?:ich|wir|er|sie|es|die|man|meine?|unsere?|i|we|he|she|it"
    r"|they|my|our|there)\b))"
    # Two nouns would have a plural.
    rf"|(?P<and>(?i:\s(?:und|and))(?=\s(?:[\w.-]+\s){{1,4}}{_SINGULAR}))"
)
_LAUGHS = late(
    r"[;:]-?[)D](?=\s|$)|\*g\*|[\U0001f600-\U0001f61d\U0001f638\U0001f639\U0001f643\U0001f923\U0001f92a]"
)
_TAG = late(r"(?i)[,–-] *(?:ok|okay|oder|ne|ja|gell|right|alright|yes|stimmt's|isn't it|would you)\?+\s*$")
_PART = late(r"(?i)^(?:dass|weil|da|denn|that|because|since|as) ")
# A verb, as far as its ending and what follows it tell.
_FINITE = {code: late(pattern) for code, pattern in by_language("FINITE_VERB").items()}
_PLURAL_RELATIVE = late(r"(?:die|welche|denen) [a-zäöüß][^A-ZÄÖÜ]*[a-zäöüß]{2}n[.!]*$")
_MANNER = late(r"(?i)\b(?:auf|in|im|als|mit|ohne|per|unter|statt|with|as|without|instead)\b")
_ENGLISH_CAUSE = late(
    r"(?i)(?:since|because) (?=(?:i|we|i'm|i've|we're|we've|my|our) |(?-i:[A-Z])\w+ \w+(?:s"
    r"|ed) )"
)
# What somebody decided, or asks for, to be done.
_AIM = late(
    r"(?i)\b(?:zu \w+|(?:ab|an|auf|aus|bei|ein|her|hin|los|mit|nach|um|vor|weg|zurück"
    r"|zusammen)zu\w+)n[.!]*$"
    r"|^to \w+"
)
_TO_DO = late(r"(?i)\b(?:zu \w+n|to \w+)\b")
_NUMBER = late(r"\d")
_IDENTIFIER = late(
    r"\b[a-z]+[-_]\w*[-_\d]\w*|\b[\w-]+\.[a-z]{1,4}\b|\b[a-z][\w-]*(?:\.[a-z][\w-]+){2}"
    r"|\b[a-z]+[A-Z]\w+|\b(?!OK\b|TV\b|LOL\b"
    r"|OMG\b|FYI\b|BTW\b|PS\b|NO\b)[A-Z]{2,}\w*\b|\x00+|\b[\w.-]+/[\w./-]+"
    r"|\w\(\)|(?<=\w )[B-HJ-Z]\b(?!\.\w)"
)
# Which port a protocol has is the same for everybody.
_STANDARD_PORT = late(
    r"(?i)^(?:ssh|sftp)\b.*\b22\b|^ftp\b.*\b21\b|^https\b.*\b443\b|^http\b.*\b80\b|^smtps?\b.*\b(?:25"
    r"|465|587)\b"
    r"|^imaps?\b.*\b(?:143|993)\b|^pop3\b.*\b(?:110|995)\b|^dns\b.*\b53\b|^ntp\b.*\b123\b"
    r"|^ldaps?\b.*\b(?:389|636)\b"
    r"|^rdp\b.*\b3389\b|^mysql\b.*\b3306\b|^postgres(?:ql)?\b.*\b5432\b|^redis\b.*\b6379\b"
    r"|^mongodb\b.*\b27017\b"
)
_NAMES = {code: late(pattern) for code, pattern in by_language("NAME_IN_SENTENCE").items()}
# A hidden quote that is long enough for a sentence.
_QUOTE = late(r"\x00{15,}")
# A label before a colon has so many words.
_LABEL = 3
# What only says that something was decided has at most as many.
_BRIEF = 5
# Nobody says more in one sentence; the patterns of languages are not made for more.
_LONGEST = 600


@lru_cache(maxsize=256)
def statements_in(sentences: tuple[str, ...]) -> Sequence[Statement]:
    """What the sentences of one message state; quotes and code in them are hidden. It is asked repeatedly."""
    plain = [_plain(sentence) for sentence in sentences]
    spoken = language_of(" ".join(plain))
    found: list[Statement] = []
    for number, sentence in enumerate(plain):
        follows = bool(found) and found[-1].sentence >= number - 1
        kept = _of_sentence(number, sentence, language_of(sentence) or spoken, follows=follows)
        if not kept and takes_back(sentence):
            found = [at for at in found if not is_meant(sentence, plain[at.sentence], number - at.sentence)]
        found += kept
    if not found:
        return ()
    # Whose words they are, and whether they were meant, may be said in another sentence.
    laughs = any(len(sentence) < 40 and _cue(sentence, "joke") for sentence in plain)
    foreign = any(_begins(sentence, "task") for sentence in plain)
    unreal = {number for number, sentence in enumerate(plain) if _cue(sentence, "unreal")}
    chats = _is_small_talk(plain)
    return tuple(
        one
        for one in found
        if not (laughs and one.kind != "decision")
        and not (foreign and one.kind in ("fact", "preference"))
        and one.sentence not in unreal
        and not (chats and not _matters(one, plain[one.sentence]))
        and not (one.kind != "prohibition" and _cue(plain[one.sentence], "admires"))
    )


def _is_small_talk(sentences: Sequence[str]) -> bool:
    """Whether a message is for a friend: it calls them by name, asks back or admires what they did."""
    signs = [
        name for sentence in sentences for name in ("calls", "asks_back", "admires") if _cue(sentence, name)
    ]
    return len(signs) > 1 or "asks_back" in signs or "calls" in signs


def _matters(statement: Statement, sentence: str) -> bool:
    """Whether something said in small talk is still worth keeping."""
    if statement.kind in ("prohibition", "failure"):
        return not _cue(sentence, "you")
    if statement.kind == "rule":
        return any(_cue(sentence, name) for name in ("please", "from_now", "here"))
    strong = statement.kind == "preference" or statement.score >= ENOUGH_IN_SMALL_TALK
    return strong and not _cue(sentence, "feels")


def binds(text: str) -> bool:
    """Whether a text orders or forbids something, or says that it failed."""
    kinds = {statement.kind for statement in statements_in(tuple(split_sentences(text)))}
    return bool(kinds & {"rule", "prohibition", "failure"})


def takes_back(sentence: str) -> bool:
    """Whether a sentence withdraws something that was said, or rejects it."""
    plain = _plain(sentence)
    rejects = _begins(plain, "rejects") or _begins(without_particles(plain), "rejects")
    # With another value it is a correction: "Nonsense, 9,200 euros".
    corrects = _begins(plain, "corrects") and not _NUMBER.search(plain)
    return _cue(plain, "takes_back") or corrects or (rejects and _cue(plain, "negation"))


def denies(sentence: str) -> bool:
    return _cue(_plain(sentence), "negation")


def is_about_speaker(sentence: str) -> bool:
    """Whether it speaks of the person who says it."""
    plain = _plain(sentence)
    return _cue(plain, "me") or _cue(plain, "mine")


def is_doubtful(sentence: str) -> bool:
    """Whether it asks, supposes, jokes, rejects or speaks of this moment: then nothing can be built on it."""
    return _asks_or_has(sentence, DOUBTS)


def is_unreal(sentence: str) -> bool:
    """Whether it asks, supposes, jokes or says what others say; it may well take something back."""
    return _asks_or_has(sentence, ("supposes", "open", "joke", "says"))


def _asks_or_has(sentence: str, cues: Sequence[str]) -> bool:
    plain = _plain(sentence)
    return plain.rstrip("\"'”“) ").endswith("?") or any(_cue(plain, name) for name in cues)


def without_particles(sentence: str) -> str:
    """A sentence from where it begins in earnest."""
    for language in LANGUAGES.values():
        if opening := language.particles.match(sentence):
            return sentence[opening.end() :]
    return sentence


def is_meant(taking: str, said: str, distance: int) -> bool:
    """Whether what is taken back is this: it is named, or only pointed at and it was the last thing said."""
    meant = _named_terms(taking)
    points = _cue(taking, "takes_that") or _begins(taking, "corrects")
    return bool(meant & set(terms(said))) or (distance <= 1 and (points or len(meant) <= 1))


def named_share(taking: str, said: str) -> float:
    """How much another sentence speaks of what this takes back; its verb ("forget") names nothing."""
    verbs = {
        term
        for language in LANGUAGES.values()
        for match in language.cues["takes_back"].finditer(taking)
        for term in terms(match[0].split(maxsplit=1)[0])
    }
    meant = _named_terms(taking) - verbs
    return len(meant & set(terms(said))) / len(meant) if meant else 0.0


def _named_terms(taking: str) -> set[str]:
    for language in LANGUAGES.values():
        taking = language.cues["rejects"].sub(" ", taking)
    return set(terms(without_particles(taking.strip(" ,"))))


def _plain(sentence: str) -> str:
    """A sentence with one kind of apostrophe; what is longer than any sentence is data, and says nothing."""
    return sentence.replace("’", "'") if len(sentence) <= _LONGEST else ""


def _cue(text: str, name: str) -> bool:
    return any(language.cues[name].search(text) for language in LANGUAGES.values())


def _begins(text: str, name: str) -> bool:
    return any(language.cues[name].match(text) for language in LANGUAGES.values())


def _of_sentence(number: int, sentence: str, spoken: str, *, follows: bool) -> list[Statement]:
    languages = [LANGUAGES[spoken]] if spoken else list(LANGUAGES.values())
    every = [_read(number, sentence, language, follows=follows) for language in languages]
    return max(every, key=lambda found: max((one.score for one in found), default=0.0))


def _read(number: int, sentence: str, language: LanguageData, *, follows: bool) -> list[Statement]:
    if language.cues["irony"].match(sentence):
        return []
    clauses = _clauses(sentence, language.code)
    asked = _asked_from(sentence, clauses)
    # What is laughed at, or taken back, stands before it.
    void = max(
        (
            at
            for at, one in enumerate(clauses)
            if one.cues & {"joke", "takes_back"} or (at and "dismisses" in one.cues)
        ),
        default=-1,
    )
    scored: list[Verdict | None] = []
    for at in range(len(clauses)):
        cues = _with_context(at, clauses, language)
        if follows and not any(scored):
            cues |= {"follows"}
        asks = at >= asked and "asks_standing" not in cues
        nothing = asks or at <= void or _states_nothing(at, clauses, cues, scored)
        scored.append(None if nothing else judge(cues))
    found = _joined(number, clauses, scored, asked, language)
    return [_with_negation(statement, sentence, language) for statement in found]


def _with_negation(statement: Statement, sentence: str, language: LanguageData) -> Statement:
    """Returns a prohibition that has lost what makes it one with the whole sentence."""
    if statement.kind != "prohibition":
        return statement
    if any(language.cues[name].search(sentence, statement.start, statement.end) for name in _DENYING):
        return statement
    denies = any(language.cues[name].search(sentence) for name in _DENYING)
    return replace(statement, start=0, end=len(sentence)) if denies else statement


# What was said is looked at again with every window.
@lru_cache(maxsize=8_192)
def _clauses(sentence: str, code: str) -> tuple[Clause, ...]:
    language = LANGUAGES[code]
    clauses: list[Clause] = []
    start = 0
    pieces: list[tuple[int, int, bool]] = []
    # What stands before each piece.
    before: dict[int, str] = {}
    for border in [*_BORDER.finditer(sentence), None]:
        end = border.start() if border else len(sentence)
        if border is not None and border["and"] and not _HAS_SINGULAR.search(sentence[start:end]):
            continue
        if sentence[start:end].strip():
            laughs = border is not None and bool(_LAUGHS.match(sentence, border.start()))
            pieces.append((start, end, laughs))
        start = border.end() if border else end
        before[start] = border[0].strip() if border else ""
    announces = sentence.rstrip().endswith(":")
    for start, end, laughs in _whole(sentence, pieces, language):
        first = start + len(sentence[start:end]) - len(sentence[start:end].lstrip())
        marks = (
            ("joke", laughs),
            ("announces", announces),
            ("joined", before.get(start, "").isalpha()),
            ("behind_comma", before.get(start) == ","),
            ("behind_colon", before.get(start) == ":"),
        )
        more = {name for name, here in marks if here}
        clauses.append(_clause(sentence[first:end].rstrip(), first, language, more))
    return tuple(clauses)


def _whole(
    sentence: str, pieces: Sequence[tuple[int, int, bool]], language: LanguageData
) -> Iterator[tuple[int, int, bool]]:
    """The pieces, those joined that a relative clause behind the first noun keeps apart."""
    at = 0
    while at < len(pieces):
        start, end, laughs = pieces[at]
        inner = sentence[pieces[at + 1][0] : pieces[at + 1][1]].strip() if at + 2 < len(pieces) else ""
        alone = len(sentence[start:end].split()) <= 2 and sentence[end : end + 1] == ","
        begins = language.begins
        if alone and inner and (begins["relative"].match(inner) or begins["of_which"].match(inner)):
            end, laughs = pieces[at + 2][1], pieces[at + 2][2]
            at += 2
        yield start, end, laughs
        at += 1


def _clause(text: str, start: int, language: LanguageData, more: set[str]) -> Clause:
    opening = language.particles.match(text)
    bare = (text[opening.end() :] if opening else text).lstrip("*_")
    whole = _PART.sub("", bare)
    cues = {name for name, pattern in language.cues.items() if pattern.search(bare)} | more
    if opening:
        cues |= {name for name in _OPENS if language.cues[name].search(text)}
    cues -= {
        name
        for name, of in (("turns", text), ("every", whole), ("task", bare), ("corrects", text))
        if not language.cues[name].match(of)
    }
    cues |= {name for name, of in (("turns", text), ("every", whole)) if language.cues[name].match(of)}
    cues |= {name for name, pattern in language.begins.items() if pattern.match(bare)}
    cues |= {name for name in ("name", "definite") if language.begins[name].match(whole)}
    if not any(_is_name(first) for one in (bare, whole) for first in one.split(maxsplit=1)[:1]):
        cues.discard("name")
    if language.code == "en" and not start and "name" in cues and not _IDENTIFIER.match(bare):
        cues.add("first_word")
    if cues & {"definite", "name", "mine"} and _FINITE[language.code].search(bare):
        cues.add("states")
    values = {name for name, pattern in language.values.items() if pattern.search(text)}
    if values - {"number", "language"} or _NUMBER.search(text) or _IDENTIFIER.search(text):
        cues.add("value")
    cues |= values
    if _NAMES[language.code].search(text):
        cues.add("named")
    if _STANDARD_PORT.match(bare):
        cues.add("defines")
    if _QUOTE.search(text):
        cues.add("quoted")
    if _MANNER.search(bare):
        cues.add("manner")
    first = start + len(text) - len(bare)
    if opening:
        # From when on it holds, or that it never does, is part of what is said.
        said = (language.cues[name].search(opening[0]) for name in ("from_now", "never"))
        first = min([first, *(start + match.start() for match in said if match)])
    return Clause(bare, first, start + len(text), frozenset(cues | derive_cues(cues)))


def _is_name(word: str) -> bool:
    return bool(terms(word.partition("'")[0])) and (
        word[:1].isupper() or any(sign.isdigit() for sign in word)
    )


def _asked_from(sentence: str, clauses: Sequence[Clause]) -> int:
    """The number of the clause from which on the sentence is a question; beyond the last if it is none."""
    if not sentence.rstrip("\"'”“) ").endswith("?") or _TAG.search(sentence):
        return len(clauses)
    if "question" in clauses[0].cues:
        return 0
    for at in range(len(clauses) - 1, 0, -1):
        if clauses[at].cues & {"question", "asks_you", "order"}:
            return at
    return 0


def _with_context(at: int, clauses: Sequence[Clause], language: LanguageData) -> frozenset[str]:
    """The cues of a clause, of what goes on from it, and what the clauses around it make of it."""
    cues = set(clauses[at].cues)
    if len(clauses) == 1 and "under" in cues and not cues & {"confirms", "shuns"}:
        cues.add("under_alone")
    if at or len(clauses) == 1:
        if at and "cause" in cues:
            cues.add("fragment")
        cues.discard("cause")
    if "behind_comma" in cues and not cues & {"please", "infinitive", "duty", "never", "order"}:
        # "77 folders, no surprises" only describes.
        framed = any(one.cues & {"order", "please", "from_now", "duty", "frame"} for one in clauses[:at])
        cues -= set() if framed else {"none", "forbids"}
    if cues & {"none", "shuns"} and any({"order", "to_me"} <= one.cues for one in clauses[:at]):
        # "Give me five ideas, none with fish" is about these five.
        cues.add("once")
    others = [other for place, other in enumerate(clauses) if place != at]
    cues |= _from_sentence(at, clauses, cues)
    for later in clauses[at + 1 :]:
        if not language.begins["goes_on"].match(later.text):
            break
        cues |= later.cues & {"always", "never", "only", "negation", "change", "for_you", "rather"}
        cues |= later.cues & {"as_is", "please", "beside_you"}
        alone = "please" in later.cues and " " not in later.text
        if alone and not language.cues["states"].search(clauses[at].text):
            # "Variable names in lower case, please": what looks like a verb is a plural.
            cues.discard("states")
    after = clauses[at + 1] if at + 1 < len(clauses) else None
    if after is not None and "says" not in cues and "no_verb" in after.cues and len(after.text.split()) <= 4:
        cues |= after.cues & {"value"}
    for earlier in reversed(clauses[:at]):
        short = len(earlier.text.split()) <= 4
        if not short and not earlier.cues & {"under", "for_you"}:
            break
        inherited = set[str]()
        if "says" not in earlier.cues:
            inherited |= earlier.cues & {"from_now", "always", "please", "beside_you", "here", "concludes"}
        if "you_must" in cues:
            inherited |= earlier.cues & {"negation", "never"}
        cues |= inherited | ({"from_before"} if inherited else set())
        if short and "decided" in earlier.cues:
            cues.add("decided")
    cues |= _from_before(at, clauses, cues) if at else set()
    cues -= {"under", "relative", "fragment"} if {"where_kept", "anchored"} <= cues else set()
    sealed = after is not None and "decided" in after.cues and not after.cues & {"name", "definite", "me"}
    if sealed and after is not None and len(after.text.split()) <= _BRIEF:
        # "The roof will be red, that's been decided."
        cues.add("sealed")
    if any("decided" in other.cues for other in others):
        cues.add("decided_before")
        if _TO_DO.search(clauses[at].text) and "decided" not in cues:
            cues.add("aims_after")
    return frozenset(cues | derive_cues(cues))


def _from_sentence(at: int, clauses: Sequence[Clause], cues: set[str]) -> set[str]:
    """Cues that any other clause of the sentence gives to one."""
    found = set[str]()
    others = [other for place, other in enumerate(clauses) if place != at]
    # "I'm a vegetarian, if it is about food" is true anyway.
    if any("condition" in other.cues for other in (clauses[:at] if "trait" in cues else others)):
        found.add("conditional")
    if "under" in cues and cues & {"does", "chooses"} and cues & {"condition", "question"}:
        # "If it rains we'll take the car", without a comma.
        found.add("conditional")
    if "nice_if" in cues:
        asked = any(clause.cues & {"for_you", "you_must", "future"} for clause in clauses)
        found.add("for_you" if asked else "supposes")
    if "called" not in cues and any("feels" in other.cues for other in others):
        found.add("felt")
    return found


def _from_before(at: int, clauses: Sequence[Clause], cues: set[str]) -> set[str]:
    """Cues that the clause right before this one gives it."""
    before, found = clauses[at - 1], set[str]()
    # "Our caterer has moved, she is in Ulm now": who is meant stands before it.
    known = before.cues & {"title", "mine", "me", "named"} and not before.cues & {
        *STATES_NOTHING,
        "fragment",
        "needs",
    }
    if known and cues & {"points", "pronoun"}:
        found.add("anchored")
    if "where_kept" in cues and before.cues & {"value", "named"}:
        found |= {"anchored", "mine", "states", "placed"}
    if "matters" in before.cues and "under" in cues:
        found.add("matters")
    if "whoever" in before.cues and at == 1:
        found.add("behind_whoever")
    plain = "behind_colon" in cues and "\x00" not in clauses[at].text
    if plain and ("names_rule" in before.cues or ("frame" in before.cues and "verbless" in cues)):
        found.add("framed_rule")
    if "joined" in cues and "fragment" in before.cues:
        found.add("fragment")
    if (
        "under" in before.cues
        and "fragment" not in before.cues
        and ("passive" in cues or {"stays", "only"} <= cues)
    ):
        found.add("passive_when")
    if "behind_colon" in cues and _is_label(before) and "no_verb" in cues and cues & {"value", "number"}:
        found.add("labelled")
    if "for_you" in before.cues:
        found.add("for_you_before")
    if "asks_you" in before.cues and cues & {"future", "from_now"} and "asks_info" not in before.cues:
        found.add("asks_standing")
    return found


def _is_label(clause: Clause) -> bool:
    """Whether a clause only names what follows its colon: "Deadline: 30 September"."""
    few = len(clause.text.split()) <= _LABEL
    return few and "name" in clause.cues and not clause.cues & {"states", "order", "trouble", "says", "once"}


def _void_cues(cues: frozenset[str]) -> frozenset[str]:
    """The cues by which a clause states nothing, but for those that others excuse."""
    nothing = cues & STATES_NOTHING
    if cues & {"for_you", "asks_standing", "for_you_before"}:
        nothing -= {"supposes", "asks", "open"}
    if "fails" in cues:
        # "We won't do that again" is about what failed, not about this once.
        nothing -= {"once"}
    if "standing_order" in cues and "passing" not in cues:
        nothing -= {"once"}
    if "bans_you" in cues:
        nothing -= {"asks"}
    if "rather" in cues:
        nothing -= {"supposes"}
    if "recent" in cues and cues & {"becomes", "moved"}:
        nothing -= {"past"}
    return nothing


def _is_cited(at: int, clauses: Sequence[Clause]) -> bool:
    """Whether a clause is what somebody else wrote, or names it: "From the recipe: always let it rest"."""
    behind = "behind_colon" in clauses[at].cues
    announces = at + 1 < len(clauses) and "behind_colon" in clauses[at + 1].cues
    source = clauses[at - 1].cues if behind else clauses[at].cues if announces else frozenset[str]()
    return "source" in source and not source & {"mine", "me", "decided", "names_rule"}


def _is_reported(cues: frozenset[str], before: frozenset[str]) -> bool:
    """Whether a clause is what somebody else says, and not about the one who tells it."""
    if "says" not in before or before & {"i", "we", "decided", "confirms", "order"}:
        return False
    if cues & {"me", "mine", "title"}:
        return False
    return bool("generic" in cues or "holds" in before) or not cues & {"here", "forbids", "date", "money"}


def _states_nothing(
    at: int, clauses: Sequence[Clause], cues: frozenset[str], scored: Sequence[Verdict | None]
) -> bool:
    if _void_cues(cues):
        return True
    standing = cues & {"standing_order", "always", "never", "only", "passive", "must", "likes", "rather"}
    if "condition" in cues:
        standing -= {"passive"}
    if "conditional" in cues and cues & {"chooses", "decided", "becomes", "i", "we"} and not standing:
        return True
    quote = clauses[at + 1] if at + 1 < len(clauses) else None
    if quote and "behind_colon" in quote.cues and not quote.text.strip("\x00 .!?\"'„“”«»"):
        # "In the song she sings:" says whose words follow.
        return not cues & {"mine", "decided", "names_rule", "order"}
    if _is_cited(at, clauses):
        return True
    if at and "relative" in cues and "order" in clauses[at - 1].cues:
        # "Build me a class that skips rows" says what is to be built.
        return True
    if "renders" in cues and any("behind_colon" in later.cues for later in clauses[at + 1 : at + 2]):
        return True
    if "behind_colon" in cues:
        # "You should note this:" announces what follows; "Make this shorter:" shows something to work on.
        before = clauses[at - 1].cues
        if before & {"once", "task", "unreal", "renders"} or ("that_one" in before and "must" not in before):
            return True
    if {"rejects", "negation"} <= cues and not cues & {"decided_before", "standing_order", "fails"}:
        return True
    if "question" in cues and any("open" in later.cues for later in clauses[at + 1 :]):
        return True
    if at and "relative" in cues and (clauses[at].text[:1] in "wW" or _is_verb_last(clauses[at].text)):
        return True
    if "says" in cues and "order" not in cues and "\x00" in clauses[at].text:
        return True
    reported = cues if cues & {"says", "holds"} else clauses[at - 1].cues if at else frozenset[str]()
    if "opines" in cues and "says" in reported and "i" not in reported:
        return True
    if "hearsay" in cues or ("holds" in reported and cues & {"must", "may_not", "never", "always"}):
        return True
    if at and _is_reported(cues, clauses[at - 1].cues):
        return True
    if "under" in cues and "for_you" not in cues and len(clauses) > 1:
        # What is only a part counts where the whole vouches for it.
        return not any("confirms" in other.cues for other in (*clauses[:at], *clauses[at + 1 : at + 2]))
    if not at or cues & {"for_you_before", "asks_standing", "turns"}:
        return False
    if "supposes" in clauses[0].cues and not any(scored[:at]):
        # "Suppose we take it, then we need three."
        return True
    if scored[at - 1] is not None:
        return False
    # "Maybe this helps you:" leaves open whether it helps, not what follows.
    doubts = {"supposes", "rejects", "task"} | (set() if "behind_colon" in cues else {"open"})
    return bool(clauses[at - 1].cues & doubts)


def _is_verb_last(text: str) -> bool:
    """Whether a German clause has its only verb at its end, as one does that explains a noun before it."""
    if _PLURAL_RELATIVE.match(text):
        return True
    verbs = [match.end() for match in _FINITE["de"].finditer(text)]
    return len(verbs) == 1 and not text[verbs[0] :].strip(" .!")


def _is_apposed(clause: Clause) -> bool:
    """Whether a clause only explains the noun before its comma: "my mentor, Robert, who is 75"."""
    return {"behind_comma", "apposed"} <= clause.cues


def _tells(clause: Clause) -> bool:
    """Whether a clause says something, if only what led to the next one."""
    return len(clause.text.split()) > 2 and not clause.cues & {*STATES_NOTHING, *_NOT_PART, "fragment"}


def _only_leads(at: int, clauses: Sequence[Clause], scored: Sequence[Verdict | None]) -> bool:
    """Whether a clause states nothing of its own: a name between commas, or "we've agreed" before a colon."""
    cues, words = clauses[at].cues, len(clauses[at].text.split())
    denies = cues & {"none", "negation", "never"}
    if "no_verb" in cues and words <= 2 and cues & {"behind_comma", "concludes"} and not denies:
        return True
    announced = at + 1 < len(clauses) and "behind_colon" in clauses[at + 1].cues
    return announced and scored[at + 1] is not None and "decided" in cues and words <= _BRIEF


def _is_fact_of_its_own(clause: Clause, verdict: Verdict | None, before: Verdict | None) -> bool:
    """Whether a fact is joined to another by "and": each may change without the other."""
    facts = all(each is not None and each.kind == "fact" for each in (verdict, before))
    return (
        facts
        and bool(clause.cues & {"definite", "name", "mine", "we"})
        and not clause.cues & {"pronoun", "points"}
    )


def _leans(clauses: Sequence[Clause], at: int) -> bool:
    """Whether a clause is understood only with the one before it."""
    cues = clauses[at].cues
    return bool(
        cues & {"points", "pronoun", "where_kept"}
        or _AIM.search(clauses[at].text)
        or _is_apposed(clauses[at])
        or cues >= {"behind_comma", "bare"}
        # "Quotes in this style, footnotes are not allowed": a rule without a verb before one that has it.
        or (
            cues & {"none", "duty"}
            and clauses[at - 1].cues >= {"verbless", "name"}
            and "behind_comma" in cues
        )
        or cues >= {"behind_comma", "topicless"}
        or cues >= {"behind_comma", "open_end"}
        # What failed is what is not to be tried again; a label says what its value is.
        or clauses[at - 1].cues & {"fails"}
        or ({"behind_comma", "fails"} <= cues and not cues & {"definite", "name", "i"})
        or (cues >= {"behind_colon", "no_verb"} and _is_label(clauses[at - 1]))
    )


def _best_of(verdicts: Sequence[Verdict], clause: Clause) -> Verdict:
    """Returns the verdict on a statement that begins with this clause, of those on its clauses."""
    best = max(verdicts, key=lambda verdict: (verdict.lasting, verdict.score))
    if best.kind == "decision" and best.binding and {"please", "from_now"} <= clause.cues:
        # "From now on in English, please, we agreed on that" asks for something that lasts.
        return replace(best, kind="rule")
    if best.kind == "fact":
        # "We had that downgrade, it backfired" is no fact of its own.
        return next((verdict for verdict in verdicts if verdict.kind == "failure"), best)
    return best


def _joined(
    number: int,
    clauses: Sequence[Clause],
    scored: Sequence[Verdict | None],
    asked: int,
    language: LanguageData,
) -> Iterator[Statement]:
    """Each clause that states something, with what belongs to it: frames before it, and the rest after it."""
    firsts: list[int] = []
    for at, clause in enumerate(clauses):
        short = len(clause.text.split()) <= 2
        relative = "relative" in clause.cues and "definite" not in clause.cues
        verdict = scored[at]
        apart = at > 0 and _is_fact_of_its_own(clause, verdict, scored[at - 1])
        goes_on = language.begins["goes_on"].match(clause.text) or (
            clause.cues & {"points", "joined"} and not apart
        )
        kinds = ("fact", "preference") if "behind_comma" in clause.cues else ("fact",)
        listed = verdict is not None and verdict.kind in kinds and "no_verb" in clause.cues
        aims = at > 0 and _AIM.search(clause.text)
        answers = at == 1 and firsts and "whoever" in clauses[0].cues
        again = at > 0 and "fails" in clause.cues & clauses[at - 1].cues
        topicless = clause.cues >= {"behind_comma", "topicless"}
        cut_off = at > 0 and _UNFINISHED.search(clauses[at - 1].text)
        depends = (
            short or relative or goes_on or listed or aims or again or answers or topicless or cut_off
        ) or _is_apposed(clause)
        if verdict is not None and not (firsts and depends) and not _only_leads(at, clauses, scored):
            firsts.append(at)
    if firsts and any(clause.cues & _CHANGES for clause in clauses):
        # What was, and what is now, belong together.
        firsts = firsts[:1]
    for place, at in enumerate(firsts):
        first, last = at, (firsts[place + 1] if place + 1 < len(firsts) else len(clauses)) - 1
        least = firsts[place - 1] + 1 if place else 0
        while first > least and ("frame" in clauses[first - 1].cues or _leans(clauses, first)):
            first -= 1
        if any(clause.cues & _CHANGES for clause in clauses[at:]):
            first = min(first, next((n for n, one in enumerate(clauses[:at]) if _tells(one)), first))
        while last > at and (
            last >= asked or (clauses[last].cues & _NOT_PART and "excepts" not in clauses[last].cues)
        ):
            last -= 1
        verdicts = [one for one in scored[at : last + 1] if one is not None]
        best = _best_of(verdicts, clauses[at])
        start, end = clauses[first].start, clauses[last].end
        rest = clauses[first + 1 : last + 1]
        alone = all(one.cues & {"no_verb", "relative", "apposed"} for one in rest)
        if alone and (cause := _ENGLISH_CAUSE.match(clauses[first].text)):
            # A reason stands alone without its conjunction; in German the verb would be at its end.
            start += cause.end()
        begins = clauses[first].cues
        back = bool(begins & {"points", "pronoun"}) and "cause" not in begins
        if "fragment" in begins and first == at and best.kind not in ("rule", "prohibition"):
            continue
        binding = any(one.binding or one.kind in ("rule", "prohibition") for one in verdicts)
        yield Statement(best.kind, number, start, end, best.score, best.lasting, binding, back)
