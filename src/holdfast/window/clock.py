"""Tells a ticking clock from a real change: two texts that differ in nothing but dates and times.

Clients put the time into their system prompt; sent anew, it would cost the server its prefix cache. It knows
the shapes of clock and calendar in German and English, not what the texts are for.
"""

from itertools import zip_longest

from holdfast.patterns import late

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember|"
    "Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sept|Sep|Okt|Oct|Nov|Dez|Dec"
)
_WEEKDAYS = (
    "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|"
    "Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonnabend|Sonntag|"
    "Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun"
)
_ZONES = (
    r"(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|CES?T|MES?Z|WES?T|EES?T|[ECMP][SD]T|BST|IST|JST|AES?T|AEDT|"
    r"(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z]\w+(?:/[A-Z]\w+)?|"
    r"(?:Central European|Eastern|Central|Mountain|Pacific|British|Coordinated Universal)"
    r"(?: (?:Standard|Daylight|Summer))? Time|"
    r"Mitteleuropäische (?:Normal|Sommer|Winter)?[Zz]eit"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_MONTH = r"(?:1[0-2]|0?[1-9])"
_YEAR = r"(?:19|20)\d\d"
_TIME = r"(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?"
_OFFSET = r"(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)"

# No number or dot may touch a date or time: 10.11.20.26 is an address and 1.2.2026.3 a version.
_ALONE, _ENDS = r"(?<![\w.,:/-])", r"(?![\w/]|[.,:-]\d)"

# How long something takes is no time of day, though it may look like one.
_DURATION = (
    r"(?i:\b(?:uptime|elapsed|duration|took|runtime|laufzeit|dauert?|remaining|verbleibend)\b)"
    r"[^\n\d]{0,16}\d[\d:.,]*"
)
_TIMES = late(
    rf"(?P<lasts>{_DURATION})"
    # 2026-11-15T10:42:07.123+01:00, 2026/11/15
    rf"|{_ALONE}{_YEAR}([-/]){_MONTH}\2{_DAY}(?:T{_TIME}{_OFFSET}?)?{_ENDS}"
    # 15.11.2026, 15.11.26 with a word that makes it a date, 11/15/2026
    rf"|{_ALONE}{_DAY}\.[ ]?{_MONTH}\.[ ]?{_YEAR}{_ENDS}"
    rf"|(?:(?<=\bam )|(?<=\bden )|(?<=\bvom )|(?<=, )){_DAY}\.{_MONTH}\.(?:\d\d)?{_ENDS}"
    rf"|{_ALONE}(?:{_MONTH}/{_DAY}|{_DAY}/{_MONTH})/(?:{_YEAR}|\d\d){_ENDS}"
    # November 15th, 2026; 15. November 2026; November 2026; November
    rf"|\b(?:{_MONTHS})\b\.?(?:[ ]{_DAY}(?:st|nd|rd|th)?\b(?!:))?(?:,?[ ]{_YEAR}\b)?"
    rf"|{_ALONE}{_DAY}(?:st|nd|rd|th|\.)?[ ](?:of[ ])?(?:{_MONTHS})\b\.?(?:,?[ ]{_YEAR}\b)?"
    rf"|\b(?:{_WEEKDAYS})\b|\b(?:Mo|Di|Mi|Do|Fr|Sa|So)\.?,(?=[ ]\d)"
    rf"|\b(?:year|Year|Jahr):?[ ]{_YEAR}\b|\b(?:KW|week|Week|Woche)[ ]?[0-5]?\d\b"
    # 10:42 AM, 14:05 Uhr, 7 pm, 14 Uhr
    rf"|{_ALONE}{_TIME}(?:[ ]?[AaPp]\.?[Mm]\b\.?)?(?:[ ]?Uhr\b)?(?:[ ]?{_OFFSET})?{_ENDS}"
    rf"|{_ALONE}(?:1[0-2]|[1-9])[ ]?[AaPp]\.?[Mm]\b\.?|{_ALONE}(?:2[0-4]|1?\d)[ ]Uhr\b(?:[ ][0-5]\d\b)?"
    rf"|\b(?:{_ZONES})\b(?:[ ]{_YEAR}\b)?|{_ALONE}[+-](?:0\d|1[0-4]):[0-5]\d\b"
    # Seconds or milliseconds since 1970, where something says so.
    r"|(?P<label>(?i:time|unix|epoch|now|zeit|stempel)\w{0,8}\W{1,12})1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?(?!\d)"
)

# A line up to this long is told whole; of a longer one only the sentences that changed.
_WHOLE_LINE = 200
_SENTENCE_END = late(r"(?<=[.!?])[ \t]+(?=[A-ZÄÖÜ<\[(])")


def same_but_for_time(before: str, now: str) -> bool:
    """Whether the texts say the same at, perhaps, another time."""
    if before == now:
        return True
    # No time goes over the end of a line, so only lines that changed need a closer look.
    old, new = before.split("\n"), now.split("\n")
    return len(old) == len(new) and all(
        was == line or _split_at_times(was) == _split_at_times(line)
        for was, line in zip(old, new, strict=True)
    )


def time_changes(before: str, now: str) -> str:
    """What of `now` is no longer as it was `before`: the changed lines, each once, in order."""
    changed: dict[str, None] = {}
    for old, new in zip_longest(before.split("\n"), now.split("\n")):
        if new is not None and new != old:
            for part in _split_changes(old or "", new):
                changed[part.strip()] = None
    return "\n".join(part for part in changed if part)


def _split_at_times(line: str) -> list[str]:
    """The line around its dates and times."""
    pieces, start = [], 0
    for match in _TIMES.finditer(line):
        if match["lasts"] is None:
            pieces.append(line[start : max(match.start(), match.end("label"))])
            start = match.end()
    pieces.append(line[start:])
    return pieces


def _split_changes(old: str, new: str) -> list[str]:
    if len(new) <= _WHOLE_LINE:
        return [new]
    before, after = _SENTENCE_END.split(old), _SENTENCE_END.split(new)
    if len(before) != len(after):
        return [new]
    return [sentence for was, sentence in zip(before, after, strict=True) if was != sentence]
