"""English: words for values, by their kind: days, dates, times, sums, languages, numbers. Data only."""

from holdfast.text.lang.en.words import MONTHS
from holdfast.text.lang.shape import any_of, cue

DAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
ALL_MONTHS = "|".join(MONTHS).lower()
# "May" is a verb, too.
MONTH = f"(?:{ALL_MONTHS})".replace("|may|", r"|may(?= \d)|")
_NUMBER = any_of(
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred"
    " thousand"
    " dozen half_past quarter_past quarter_to half"
)

VALUES = {
    "weekday": cue(rf"{DAY}s?", r"weekdays?|(?<!this )weekends?|bank holidays"),
    "date": cue(
        rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}(?:,? \d{{4}})?",
        rf"{MONTH}(?: \d{{1,2}}(?:st"
        rf"|nd|rd|th)?(?! ?(?:am|pm))(?: to \d{{1,2}})?)?(?:,? \d{{4}})?",
        r"(?:in|by|until|from"
        r"|since) may",
        r"\d{1,2}/\d{1,2}(?:/\d{2,4})?",
        r"\d{4}-\d\d-\d\d",
        r"(?:this|next|in|until|from"
        r"|the) (?:summer|autumn|fall|winter|spring|q[1-4])",
        r"(?:since|until|by|in) (?:19"
        r"|20)\d\d",
        r"(?:end|start|beginning) of (?:the )?month|month[- ]end|the \d{1,2}(?:st|nd|rd"
        r"|th)",
    ),
    "time": cue(
        r"\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)",
        r"\d{1,2}:\d\d",
        rf"(?:at|by|after|before|until|from"
        rf"|to) (?:half (?:past )?|quarter (?:past |to )?)?(?:\d{{1,2}}|{_NUMBER}|one|noon"
        r"|midnight)(?! (?:people|percent|minutes|days|weeks))",
        r"half past \w+|half (?:six|seven|eight|nine|ten)|noon|midnight|mornings?|evenings?"
        r"|afternoons?|nights?",
    ),
    "money": cue(
        r"(?:€|\$|£)\s?\d[\d.,]*k?|\d[\d.,]*k?\s?(?:€|euros?|eur|cents?|dollars?|pounds?|usd|quid"
        r"|bucks)"
    ),
    "frequency": cue(
        r"daily|weekly|monthly|yearly|hourly|annually|quarterly|biweekly|fortnightly"
        rf"|every (?:\w+ )?(?:{DAY}|day|week|month|year|night|hour|morning|evening|weekend|minute)s?"
        rf"|(?:once"
        r"|twice|three times) an? \w+"
    ),
    "language": cue(r"english|german|french|spanish|italian|polish|turkish|dutch|portuguese|russian"),
    "number": cue(rf"{_NUMBER}(?! or)"),
}
