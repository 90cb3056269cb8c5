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

# A change of what `terms` or `parts` give for any text needs a new number: indexes are then built anew.
VERSION = 2

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
_CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-ZÄÖÜ])(?=[A-ZÄÖÜ][a-zäöüß])")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+){1,2}")
_MIXED = re.compile(r"(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]{6,}")
_CONTRACTION = re.compile(r"['’](?:s|t|d|m|ll|re|ve)?$", re.IGNORECASE)
_VERSION_SIGN = re.compile(r"^v(?=\d)")
_NOT_IN_NAMES = re.compile(r"[\s'’]")
_WORD = re.compile(r"[^\W\d_]+")
# Chinese and Japanese have no spaces: pairs of signs stand for words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})

_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|„([^“”\n]{2,80})[“”]|“([^”\n]{2,80})”|`([^`\n]{2,80})`|[»«]([^»«\n]{2,80})[«»]"
)
_ACRONYM = re.compile(r"[A-ZÄÖÜ]{3,}s?")


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A block of code is one piece, closed or not.
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"([.!?…])[\"'“”«»)\]*_]*\s+")
_ABBREVIATIONS = _list(
    """
    z.b d.h u.a u.u o.ä i.d.r z.t bzw ca usw etc evtl ggf inkl exkl max min nr abs art bd dr prof hr fr st
    str tel vgl sog bspw mio mrd jan feb mär apr jun jul aug sep sept okt oct nov dez dec mr mrs ms jr sr
    vs e.g i.e al fig no vol pp approx dept est inc ltd corp
    """
)

_ENGLISH = _list(
    """
    a about above after again against all also am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don down during each
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how
    i if in into is isn it its itself just let ll me more most my myself no nor not now of off on once
    only or other our ours ourselves out over own please re same she should shouldn so some such tell than
    that the their theirs them themselves then there these they this those through to too under until up
    ve very was wasn we were weren what when where which while who whom why will with won would wouldn you
    your yours yourself
    """
)
_GERMAN = _list(
    """
    aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus
    bei beim bin bis bist bitte da damit dann das dass dazu dein deine deinem deinen deiner dem den denn
    der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
    einem einen einer eines einige einigem einigen einiger einiges einmal er es etwas euch euer eure eurem
    euren eurer fuer gegen gewesen habe haben habt hast hatte hatten hier hin hinter ich ihm ihn ihnen ihr
    ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes
    jetzt kann kannst kein keine keinem keinen keiner koennen koennte machen mein meine meinem meinen
    meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sag sage sehr sein seine
    seinem seinen seiner selbst sich sie sind so solche solchem solchen solcher soll sollte sondern sonst
    ueber um und uns unser unsere unserem unseren unserer unter viel vom von vor waehrend wann waren warum
    was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso wir
    wird wirst wo wollen wollte wuerde wuerden zu zum zur zwar zwischen
    """
)
_STOP = _ENGLISH | _GERMAN
# The verbs and the pronoun are words of their own in English, but they tell German.
_TELLS_GERMAN = _GERMAN - _ENGLISH | {"war", "hat", "man"}
_TELLS_ENGLISH = _ENGLISH - _GERMAN - {"i", "re", "ll", "ve"}

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
    german = sum(word in _TELLS_GERMAN for word in words)
    english = sum(word in _TELLS_ENGLISH for word in words)
    if german == english or max(german, english) < 2 * min(german, english):
        return ""
    return "de" if german > english else "en"


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
    word = unicodedata.normalize("NFC", word).translate(_UMLAUTS)
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
    small, word = word.islower(), _fold(word[:_LONGEST])
    # Nouns have a capital letter; what is small may be a verb.
    found = list(_verb(word)) if small else []
    if len(word) < _COMPOUND or not word.isascii() or _ENGLISH_ENDING.fullmatch(word):
        return tuple(found)
    for place in range(_HALF, len(word) - _HALF + 1):
        first, second = word[:place], word[place:]
        if _ONSET.match(second) and _CODA.fullmatch(first):
            found += (_stem(first), _stem(second))
    return tuple(half for half in dict.fromkeys(found) if len(half) >= _HALF and half not in _STOP)


def _verb(word: str) -> Iterator[str]:
    """The verb in a form of a separable one: `führt` in `zurückgeführt`."""
    prefix = _SEPARABLE.match(word)
    if prefix and word not in _STOP and _ONSET.match(word, prefix.end()):
        stem = _stem(word[prefix.end() :])
        if len(stem) >= _HALF and stem not in _STOP:
            yield stem


_remembered = lru_cache(maxsize=65_536)(_analysed)
