"""How the shape of a sentence is written down, and where in a sentence such a shape may begin.

It knows neither rules nor decisions.
"""

import re

from holdfast.patterns import late

# What may stand before the sentence proper, and how many of them.
_OPENING = late(
    r"(?i)(?:please|pls|and|also|but|so|ok|okay|oh|hey|note|important|remember|reminder|rule|constraint|ps"
    r"|btw|first|second|third|finally|one more thing|again|yes|no"
    r"|bitte|und|auch|aber|wichtig|achtung|hinweis|regel|merke|merk dir|denk daran|noch was|ja|nein|gut|dann"
    r")(?: (?:\d+|note|rule))?[,:;!.–-]* +"
)
_MOST_OPENINGS = 3
_EMPHASIS = late(r"[*_]+")


def shape(text: str) -> re.Pattern[str]:
    """A pattern for a sentence, from where it begins in earnest."""
    return late(text, re.IGNORECASE)


def any_of(words: str) -> str:
    """A pattern for any of these words; an underscore is a space."""
    return rf"(?:{'|'.join(words.split()).replace('_', ' ')})\b"


def starts(sentence: str) -> list[int]:
    """Where it may begin in earnest: at its start, and after each word it opens with."""
    found = [0]
    while len(found) <= _MOST_OPENINGS and (opening := _OPENING.match(sentence, found[-1])):
        found.append(opening.end())
    if emphasis := _EMPHASIS.match(sentence, found[-1]):
        found.append(emphasis.end())
    return found
