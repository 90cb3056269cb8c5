"""Building stones of the patterns that read a person's sentences: word lists, dates, amounts, names.

German and English side by side, since people mix them. It does not know what any of them means for memory.
"""

import re

from holdfast.patterns import late

Patterns = tuple[re.Pattern[str], ...]


def pattern(text: str) -> re.Pattern[str]:
    return late(text, re.IGNORECASE)


def words(text: str) -> str:
    """A pattern for any of these words; an underscore is a space."""
    return rf"(?:{'|'.join(text.split()).replace('_', ' ')})\b"


def endings(text: str) -> str:
    """A pattern for words that end in any of these, as German compounds do."""
    return rf"\w*(?:{'|'.join(text.split())})\b"


NUMBER = (
    r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|zehn|zwölf|zwanzig)"
)
MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz?|apr(?:il)?|may|mai|june?|juni|july?|juli"
    r"|aug(?:ust)?|sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\b\.?"
)
_YEAR = r"(?:19[5-9]|20\d)\d\b"
_EVERY = (
    r"\b(?:(?:every|each) (?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jeden|immer) (?:montag|dienstag"
    r"|mittwoch|donnerstag|freitag|samstag|sonntag)s?|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs)\b"
)
# A day that can be told years later: no "tomorrow", no "last week".
DAY = (
    rf"(?:\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{MONTH}|\b{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)?(?!\w|\.\d)|\b20\d\d-\d\d-\d\d\b"
    rf"|\b(?:on|by|until|since|from) \d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b|{_EVERY})"
)
DATE = (
    rf"(?:{DAY}|\b(?:in|since|seit|im|until|bis|by|ab|ende|anfang|mitte) (?:{MONTH}|{_YEAR})"
    rf"|\bich bin {_YEAR})"
)
AMOUNT = (
    r"(?:[$€£] ?\d[\d.,]*|\b\d[\d.,]* ?(?:€|\$|£|k?m²|(?:euros?|dollars?|pounds?|usd|eur|chf|km"
    r"|kilomet(?:er|re)s|miles|meilen|kg|kilos?|lbs|kwh|gb|tb)\b))"
)
# A name: capital letters, a number, or something hidden because it was quoted.
NAME = r"(?-i:[A-ZÄÖÜ][\w.&'-]*\w|[a-z]+[-_]?\d[\w.-]*|\x00+)"
# In German every noun is capital; the name of a thing shows otherwise.
PRODUCT = r"(?-i:[A-Z]{2,}\b|\w*[a-z][A-Z]\w*|[A-Za-z]+[-_]?\d[\w.-]*|\x00+)"

_CAPITAL = r"(?-i:[A-ZÄÖÜ])[\w'-]+"
_NO_PERSON = words(
    """
    the this that these it he she they there what here when my our your his her in on at for everyone
    der die das ein eine es er sie wir ich dies diese dieser dieses mein meine unser unsere im am für bei
    mit nach als wenn dann auch dort hier
    """
)
PERSON = (
    rf"(?:(?:mr|mrs|ms|miss|dr|prof|frau|herr|professor|doktor)\.? {_CAPITAL}(?: {_CAPITAL})?"
    rf"|(?!{_NO_PERSON}){_CAPITAL}(?: {_CAPITAL}){{0,2}})"
)
