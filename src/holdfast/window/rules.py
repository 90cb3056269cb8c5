"""What binds the future in what a person wrote: rules ("never push to main") and decisions ("let's use X").

German and English, by the shape of a sentence alone. What is found stays in the window for ever, so a
doubtful sentence is left alone: stories, statements and questions are no rules.
"""

import re
from collections.abc import Sequence

from holdfast.patterns import late
from holdfast.window.own_words import own_sentences
from holdfast.window.rules_english import ENGLISH
from holdfast.window.rules_german import GERMAN
from holdfast.window.rules_shape import shape, starts


def rules_in(text: str) -> tuple[str, ...]:
    """The sentences that say how things are to be done from now on, word for word."""
    return _matching(text, _RULE_WORDS, _RULES, _NO_RULE)


def decisions_in(text: str) -> tuple[str, ...]:
    """The sentences that say what was decided, word for word."""
    return _matching(text, _DECISION_WORDS, _DECISIONS, _NO_DECISION)


def _matching(
    text: str, words: re.Pattern[str], patterns: Sequence[re.Pattern[str]], unless: re.Pattern[str]
) -> tuple[str, ...]:
    # Most texts have none of the words, and need no closer look.
    if not words.search(text):
        return ()
    found: dict[str, None] = {}
    for sentence, masked in own_sentences(text):
        if not words.search(masked) or masked.rstrip("\"'”“) ").endswith("?") or unless.search(masked):
            continue
        if any(pattern.match(masked, start) for start in starts(masked) for pattern in patterns):
            found[sentence] = None
    return tuple(found)


_RULES = (*ENGLISH, *GERMAN)

# Without one of these no pattern matches.
_RULE_WORDS = late(
    r"(?i)\b(?:never|always|ever|again|any ?more|no circumstances|any circumstances|at any time|do not"
    r"|don['’]?t|in no case|at no|now on|here on|point on|forward|henceforth|future|for the rest|only"
    r"|exclusively|(?:every|each) time|whenever|all times|exception|matter what|not to|must|mustn't|may"
    r"|shall|should|allowed|nie|niemals|immer|stets|ausschlie(?:ß|ss)lich|keinen|keinesfalls|ab (?:jetzt"
    r"|sofort|heute)|an|künftig|zukünftig|zukunft|fortan|grundsätzlich|nur|jedes ?mal|ausnahme|für den rest"
    r"|darfst|sollst|musst|solltest|dass du|everywhere|all|every|each|your|stop|refrain|before|no"
    r"|dates?|times|prices|amounts|numbers|units|currencies|distances|weights|temperatures|names|tone|style"
    r"|language|wording|leave|lass|lasse|lassen|ton|stil|sprache"
    r"|bevor|ehe|verzichten?|auf|nicht|nichts|niemande[nm]|kein(?:e[nmrs]?)?|überall|durchgehend|durchweg|alle[nmr]?|jede[nmrs]?)\b"
)

# A wish for one answer, a story, or a saying.
_NO_RULE = late(
    r"(?i)\b(?:better late than never|never mind|now or never|wie immer|as always|never too late"
    r"|man soll nie|never (?:say never|give up|stop|quit|lose)|don't (?:ever )?(?:quit|give up)|ever (?:quit"
    r"|give up)|you never know|(?:I|we|he|she|they) (?:have |had |'ve )?(?:always|never)"
    r"|ich (?:\w+ )?(?:immer|nie)\b(?!.*dass du))"
)

# --- Decisions ----------------------------------------------------------------------------------------------

_DECISION_WORDS = late(
    r"(?i)\b(?:decision|decided|agreed|settled?|resolved|opt(?:ed)?|chose|chosen|picked|let'?s|let us|we'll"
    r"|we will|going|I'll|I will|sticking|settling|switching|entscheidung|entschieden|entschlossen"
    r"|beschlossen|beschluss|vereinbar(?:t|ung)|abgemacht|festgelegt|geeinigt|verständigt|wir|uns|bleibt)\b"
)
_CHOOSE = (
    r"(?:use|go with|stick with|stick to|switch to|move to|settle on|settle for|adopt|choose|pick|take|keep"
    r"|drop|opt for|stay with|call it|name it)\b"
    # "Keep going" decides nothing, and nor does "go with that" once it stands alone.
    r"(?! (?:\w+in[g'’]|it up|at it|in touch|each other|up\b|an? (?:look|break|moment|step)|(?:this|that"
    r"|these|those|it|them)(?: (?:approach|steps|one|plan|option))?[.!]*$))"
)
_WAEHLEN = r"(?:nehmen|nutzen|verwenden|benutzen|bleiben bei|setzen auf|wechseln (?:zu|auf)|wählen)\b"
_WELL = r"(?:(?:then|alright|right|great|good|perfect|fine|cool|sounds good)[,.! ]+)?"
_ALREADY = r"(?:now|finally|already|also|just|both|all|then|therefore|instead)"

_DECISIONS = (
    shape(r"(?:(?:final )?decision|decided|agreed|settled|resolved|it's (?:decided|settled)) ?: \S"),
    shape(r"(?:the|our|my) (?:final )?decision is (?:to|that|:)"),
    shape(
        rf"(?:we|we've|we have|I've|I have|the team(?: has)?) (?:{_ALREADY} )?"
        r"(?:decided|agreed|settled|opted) (?:to|on|that|against|for|not to|upon)\b"
    ),
    shape(rf"(?:we|we've) (?:{_ALREADY} )?(?:chose|picked|have chosen|chosen) \w"),
    shape(rf"I(?:'ve| have)? decided to {_CHOOSE}"),
    shape(rf"{_WELL}(?:let's|let us|lets) (?:{_ALREADY} )?{_CHOOSE}"),
    shape(rf"{_WELL}(?:we'll|we will|we're going to|we are going to) (?:{_ALREADY} )?{_CHOOSE}"),
    shape(r"(?:I'll|I will) (?:(?:just|then) )?(?:go with|stick with|settle on|settle for|opt for)\b"),
    shape(r"(?:we're|we are|I'm|I am) (?:going with|sticking with|settling on|switching to)\b"),
    shape(
        r"(?:entscheidung|entschieden|beschlossen|beschluss|vereinbart|vereinbarung|abgemacht|festgelegt)"
        r" ?: \S"
    ),
    shape(
        r"(?:wir haben uns|ich habe mich) .*\b(?:für|gegen|dafür|dagegen|dazu)\b"
        r".*\b(?:entschieden|entschlossen)\b"
    ),
    shape(r"wir haben uns .*\b(?:auf|darauf)\b.*\b(?:geeinigt|verständigt)\b"),
    shape(
        r"(?:wir haben|es wurde|es ist|damit ist) (?:[^,.]* )?"
        r"(?:beschlossen|entschieden|vereinbart|festgelegt)\b"
    ),
    shape(rf"(?:(?:okay|gut|also|dann)[, ]+)*wir {_WAEHLEN} "),
    shape(
        r"(?:(?:okay|gut|also|dann|somit|deshalb|daher|damit|jetzt)[, ]+)+"
        r"(?:nehmen|nutzen|verwenden|bleiben|setzen|wechseln) wir\b"
    ),
    shape(r"(?:nehmen|nutzen|verwenden) wir (?!(?:mal )?an\b)(?:also )?\w+[^,]*[.!]*$"),
    shape(r"lass(?:t)? uns .*\b(?:nehmen|nutzen|verwenden|benutzen|bleiben|wechseln|setzen)[.!]*$"),
    shape(r"es bleibt (?:also )?(?:bei|dabei)\b"),
)
_NO_DECISION = late(
    r"(?i)\b(?:if|would|could|might|maybe|perhaps|suppose|whether|not yet|haven't|hasn't|probably|until we"
    r"|usually|years ago|last (?:year|summer|week|weekend|month)|when we were|let's say|every (?:day|week"
    r"|year)|often|wenn|falls|würden?|könnten?|vielleicht|eventuell|ob|noch nicht|wahrscheinlich|vermutlich"
    r"|seit|jeden|jedes|täglich|normalerweise|meistens|oft|gerade|aktuell|derzeit|bisher|momentan|bereits"
    r"|nehmen wir (?:mal )?an|wir nehmen (?:mal )?an|letzte[sn]? (?:jahr|woche|sommer|monat)|damals"
    r"|früher)\b"
)
