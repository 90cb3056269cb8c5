"""From text to the terms that searching is done with: German and English words, and names of all kinds whole.

The same functions read what is kept and what is asked, so that both meet. They know no index and no ranking.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Literal

import Stemmer

from holdfast.text.lang import LOWER, UPPER, by_language, merged_table, word_set

# A change of what `terms` or `parts` give for any text needs a new number: indexes are then built anew.
VERSION = 3

# Longer names (base64, minified code) are no names; they are cut, alike in what is kept and what is asked.
_LONGEST = 100
# What stands without a break for longer than this is data: its beginning is enough.
_ENDLESS = 2_000
# Each half of a compound is at least this long, and the whole at least that.
_HALF = 4
_COMPOUND = 10
# As much of a text as is looked at to tell its language.
_GLANCE = 4_000

_UNIT = (
    r"(?:%|€|\$|£|°[CF]?|(?:[kKMGTP]i?[Bb]|[kMG]bit|[KMG]|[Tt]okens?|[nµm]?s|min|h|[Ss]ek|sec|[kMG]?Hz|[mcdk]?m"
    r"|[mk]?g|[mc]?l|[kM]?W|kWh|V|px|EUR|USD|Euro)\b)"
)
_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*\s?{_UNIT}"  # a number with its unit
    r"|\w+(?:(?:[./\\:@#+~$'’-]+|(?<=\d),(?=\d))\w+)*"  # a word, or a name with signs inside it
)
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(rf"(?<=[{LOWER}])(?=[{UPPER}])|(?<=[{UPPER}])(?=[{UPPER}][{LOWER}])")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+){1,2}")
_MIXED = re.compile(r"(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]{6,}")
_CONTRACTION = re.compile(r"['’](?:s|t|d|m|ll|re|ve)?$", re.IGNORECASE)
_VERSION_SIGN = re.compile(r"^v(?=\d)")
_NOT_IN_NAMES = re.compile(r"[\s'’]")
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"\w+")
# Chinese and Japanese have no spaces: pairs of signs stand for words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPELLINGS = str.maketrans(merged_table("SPELLINGS"))

_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|„([^“”\n]{2,80})[“”]|“([^”\n]{2,80})”|`([^`\n]{2,80})`|[»«]([^»«\n]{2,80})[«»]"
)
_ACRONYM = re.compile(rf"[{UPPER}]{{3,}}s?")


# A block of code is one piece, closed or not.
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"([.!?…])[\"'“”«»)\]*_]*\s+")
_ABBREVIATIONS = word_set("ABBREVIATIONS")
_STOP = word_set("STOP_WORDS")


def _telling_words() -> Iterator[tuple[str, frozenset[str]]]:
    """The languages, each with the small words that no other one has."""
    for code, stop in by_language("STOP_WORDS").items():
        others = " ".join(words for other, words in by_language("STOP_WORDS").items() if other != code)
        own = frozenset(stop.split()) - frozenset(others.split())
        telling, untelling = (by_language(name)[code] for name in ("TELLING_WORDS", "UNTELLING_WORDS"))
        yield code, (own | frozenset(telling.split())) - frozenset(untelling.split())


_TELLS = dict(_telling_words())
# How a German word may begin and end: a compound can come apart only where both are possible.
_ONSET = re.compile(
    r"(?:sch[lrmnw]?|s[pt]r?|pf[lr]?|ch|ph|qu|zw?|[bgfkp][lr]|[dt]r|kn|gn|[bcdfghjklmnprstvw])?[aeiouy]"
)
_CODA = re.compile(
    r".*[aeiouy](?:h?[lrmn]?(?:[dfgkpt]s?|s|z|tz|st|sch|ch|cht|ck|ft|pf|ss|x)?|b|[lr][bmn]|mm|nn|ll|ng|nks?)"
)
_ENGLISH_ENDING = re.compile(
    r".*(?:tions?|ing|ments?|able|ible|ness|ity|ities|ally|ances?|ences?|ously|ively|ful|ed)"
)
# What a German verb may have before it, or in a sentence of its own far behind it: `abfing`, `fing … ab`.
_SEPARABLE = re.compile(
    r"(?:ab|an|auf|aus|bei|durch|ein|fest|fort|frei|her|hin|los|mit|nach|statt|teil|ueber|um|unter|vor|weg"
    r"|weiter|wieder|zurueck|zusammen|zu)(?:ge|zu)?(?=[a-z]{4})"
)

_local = threading.local()


def terms(text: str) -> list[str]:
    """The terms of a text in their order, repeats included, words without a meaning of their own left out.

    A word gives its stem. A name (path, version, hash, `snake_case`, number with unit) gives itself whole,
    and then its words.
    """
    return list(chain.from_iterable(map(_read, _TOKEN.findall(_clean(text)))))


def spelled(text: str) -> dict[str, str]:
    """The terms of a text, each with the word or name it was first spelled as."""
    found: dict[str, str] = {}
    for token in _TOKEN.findall(_clean(text)):
        for term in _read(token):
            found.setdefault(term, token[:_LONGEST])
    return found


def parts(text: str) -> list[str]:
    """What the long words of a text may be made of, as terms: `Datenbankwahl` has `Datenbank` and `Wahl`.

    And the verbs in separable ones: `stattfand` has `fand`.
    Guessed by sound alone, so some are no words. They are worth less than terms, and mean something only
    where another text has one of them as a term.
    """
    return list(chain.from_iterable(map(_halves, _WORD.findall(_clean(text)))))


def telling(text: str) -> frozenset[str]:
    """The terms that can point at one particular thing: names, numbers, versions, hashes, quoted words."""
    text = _clean(text)
    found = {term for token in _TOKEN.findall(text) if _is_name(token) for term in _read(token)[:1]}
    for groups in _QUOTED.findall(text):
        found.update(term for words in groups for term in terms(words))
    return frozenset(found)


def language_of(text: str) -> Literal["de", "en", ""]:
    """German or English, by its small words; the empty text where it cannot be told."""
    words = [_fold(word) for word in _WORD.findall(_clean(text[:_GLANCE]))]
    german = sum(word in _TELLS["de"] for word in words)
    english = sum(word in _TELLS["en"] for word in words)
    if german == english or max(german, english) < 2 * min(german, english):
        return ""
    return "de" if german > english else "en"


def plain_words(text: str) -> str:
    """Returns the words of a text with a space around each, so that one text can be found in another.

    Empty if there are none: nothing is a part of everything.
    """
    words = _PLAIN_WORD.findall(text.casefold())
    return f" {' '.join(words)} " if words else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text, a list item or line at most, and a block of code as one piece."""
    found: list[str] = []
    done = 0
    for fence in _FENCE.finditer(text):
        found += _in_lines(text[done : fence.start()])
        found.append(fence[0].strip())
        done = fence.end()
    return found + _in_lines(text[done:])


def _in_lines(text: str) -> list[str]:
    return [piece for line in text.splitlines() if line.strip() for piece in _in_line(line.strip())]


def _in_line(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if end[1] not in ".…" or _is_end(
            line[max(start, end.start() - 20) : end.start()], line[end.end() : end.end() + 1]
        ):
            yield line[start : end.end()].rstrip()
            start = end.end()
    if start < len(line):
        yield line[start:]


def _is_end(before: str, following: str) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number in a list."""
    last = before.split()[-1].lstrip("([\"'„“*_-") if before.strip() else ""
    ordinal = last.isdigit() and len(last) <= 2
    short = len(last) == 1 and last.isalpha()
    return not (following.islower() or ordinal or short or not last or last.casefold() in _ABBREVIATIONS)


def _clean(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _SURROGATE.sub(" ", text))


def _is_name(token: str) -> bool:
    if token.isdigit():
        return len(token) > 2
    if any(sign.isdigit() for sign in token):
        return True
    if token.isalpha():
        return bool(_CAMEL.search(token) or _ACRONYM.fullmatch(token))
    return any(sign in "./\\:@#_" for sign in token)


def _read(token: str) -> tuple[str, ...]:
    return _remembered(token) if len(token) <= _LONGEST else _analysed(token[:_ENDLESS])


def _analysed(token: str) -> tuple[str, ...]:
    token = _CONTRACTION.sub("", token)
    if token.isalpha() and not _CAMEL.search(token):
        return _word(token)
    if token.isdigit():
        return (token[:_LONGEST],)
    return tuple(dict.fromkeys(name for name in (*_wholes(token), *_pieces(token)) if name not in _STOP))


def _word(word: str) -> tuple[str, ...]:
    if _UNSPACED.search(word):
        return tuple(word[place : place + 2] for place in range(len(word) - 1)) or (word,)
    folded = _fold(word)
    return () if folded in _STOP or len(folded) < 2 else (_stem(folded[:_LONGEST]),)


def _wholes(token: str) -> Iterator[str]:
    """A name in one piece: as it is, without what is only spelling, and the file at the end of a path."""
    whole = _fold(_NOT_IN_NAMES.sub("", token))
    if _GROUPED.fullmatch(token):
        yield re.sub("[.,]", "", token)
    elif _HYPHENED.fullmatch(token):
        yield _stem(whole.replace("-", "")[:_LONGEST])
    else:
        yield _VERSION_SIGN.sub("", whole)[:_LONGEST]
        file = re.split(r"[/\\]", whole)[-1]
        if "." in file:
            yield file[-_LONGEST:]


def _pieces(token: str) -> Iterator[str]:
    """The words in a name; of its numbers only those that mean something alone."""
    pieces = _PIECE.findall(_CAMEL.sub(" ", token))
    numbers = sum(piece.isdigit() for piece in pieces)
    if _MIXED.fullmatch(token) and numbers > 1:
        return
    for piece in pieces:
        if not piece.isdigit():
            yield from _word(piece)
        elif len(piece) > 2 or numbers == 1:
            yield piece[:_LONGEST]


def _fold(word: str) -> str:
    word = word.casefold()
    if word.isascii():
        return word
    word = unicodedata.normalize("NFC", word).translate(_SPELLINGS)
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))


def _stem(word: str) -> str:
    """English endings first, then German ones: a word alone does not tell which language it is."""
    try:
        english, german = _local.stemmers
    except AttributeError:
        # One pair a thread, as the library asks for; what was read is remembered for all threads below.
        english, german = _local.stemmers = (Stemmer.Stemmer("english", 0), Stemmer.Stemmer("german", 0))
    stem: str = german.stemWord(english.stemWord(word))
    return stem


@lru_cache(maxsize=32_768)
def _halves(word: str) -> tuple[str, ...]:
    # Nouns have a capital letter; what is small may be a verb, and so may "Umschalten wollen wir im Mai".
    is_verb = word.islower() or word.endswith("en")
    word = _fold(word[:_LONGEST])
    found = list(_verb(word)) if is_verb else []
    if len(word) < _COMPOUND or not word.isascii() or _ENGLISH_ENDING.fullmatch(word):
        return tuple(found)
    for place in range(_HALF, len(word) - _HALF + 1):
        first, second = word[:place], word[place:]
        if _ONSET.match(second) and _CODA.fullmatch(first):
            found += (_stem(first), _stem(second))
    return tuple(half for half in dict.fromkeys(found) if len(half) >= _HALF and half not in _STOP)


def _verb(word: str) -> Iterator[str]:
    """The verb in a form of a separable one: `stellt` in `festgestellt`."""
    prefix = _SEPARABLE.match(word)
    if prefix and word not in _STOP and _ONSET.match(word, prefix.end()):
        stem = _stem(word[prefix.end() :])
        if len(stem) >= _HALF and stem not in _STOP:
            yield stem


_remembered = lru_cache(maxsize=65_536)(_analysed)
