"""What binds the future in what a person wrote: rules ("never push to main") and decisions ("let's use X").

German and English, by the shape of a sentence alone. What is found stays in the window for ever, so a
doubtful sentence is left alone: stories, statements and questions are no rules.
"""

import re
from collections.abc import Sequence

from holdfast.window.own_words import own_sentences


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
        if any(pattern.match(masked) for pattern in patterns):
            found[sentence] = None
    return tuple(found)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(_OPENING + text, re.IGNORECASE)


def _any(words: str) -> str:
    """A pattern for any of these words; an underscore is a space."""
    return rf"(?:{'|'.join(words.split()).replace('_', ' ')})\b"


# What may stand before the sentence proper.
_OPENING = (
    r"(?:(?:please|pls|and|also|but|so|ok|okay|oh|hey|note|important|remember|reminder|rule|constraint|ps"
    r"|btw|first|second|third|finally|one more thing|again|yes|no"
    r"|bitte|und|auch|aber|wichtig|achtung|hinweis|regel|merke|merk dir|denk daran|noch was|ja|nein|gut|dann"
    r")(?: (?:\d+|note|rule))?[,:;!.–-]* +){0,3}[*_]*"
)

# --- English ------------------------------------------------------------------------------------------------

# A plain verb, as far as its ending tells, and none that stories are made of.
_NO_VERB = _any(
    """
    been had was were thought heard saw seen knew known did done got gone went felt met made found lost
    left kept told said came took taken gave given let's too so as more less again mind fear ever even
    really quite just in on at up for with from about by to of if when a an the my your our his her
    their its this that there here good great nice fun happy glad sad sure ready open available keen
    eager worth one love enjoy feel hope wish like seem appreciate get nothing something someone and or
    not true easy hard better best room time have know look_forward
    """
)
_VERB = (
    rf"(?!{_NO_VERB})(?!\w+(?<!ne|fe|be)ed\b)(?!\w{{2,}}(?<!br|pr)ing\b)(?!\w+[^su\W]s\b)(?!\w+ly\b)"
    r"[a-z]+(?:-[a-z]+)?\b"
)
_IMPERATIVE = _any(
    """
    use write answer reply respond speak talk call address name commit push merge deploy release edit
    change touch modify run execute install import add include return show give suggest recommend ask
    check test verify validate delete remove keep put store save log print format indent document
    comment cite quote mention assume treat refer_to stick_to follow respect prefer avoid skip ignore
    stop start begin end explain summari[sz]e translate convert round list order sort limit wait confirm
    tell_me send read open close create generate make set leave let_me handle escape round spell remind
    prefix tag sign work build review think consider don't do_not be
    """
)
# Where "only" tells how to work, not what to look at this once.
_MANNER = _any(
    """
    use write answer reply respond speak talk commit push merge deploy edit change touch modify suggest
    recommend ask refer_to cite
    """
)
_ALWAYS = (
    r"\b(?:always|never|exclusively|every time|each time|whenever|at all times|under no circumstances"
    r"|without exception|no matter what|ever again|from now on|from here on|going forward|in (?:the )?future"
    r"|for the rest of (?:this|our) (?:chat|conversation|session|project))\b"
)
_I_WANT_YOU = r"I(?: want| need| expect| would like|'d like) you"
# A rule says what to do; these say what happens, or what somebody feels.
_NOT_YOU = r"(?:I|we|he|she|it|they|my|our|his|her|their|people|everyone|you guys)\b"

_ENGLISH = (
    _pattern(rf"(?:never(?: ever)?|always) (?:be |{_VERB})"),
    _pattern(r"(?:do not|don['’]?t) ever "),
    _pattern(
        r"(?:do not|don['’]?t) (?!(?:know|think|worry|remember|care|mind|have)\b).*"
        r"\b(?:ever(?! since)|again|any ?more|under any circumstances|in (?:the )?future|at any time)\b"
    ),
    _pattern(r"(?-i:[Dd]o NOT|DO NOT|DON'?T) (?!(?:know|think|worry|want|have|like|care|remember)\b)\w+"),
    _pattern(
        r"(?:under no circumstances|in no case|at no (?:point|time))[ ,]+(?!(?:did|was|were|ha[dv]e?|is)\b)"
    ),
    _pattern(
        r"(?:from (?:now|here|this point) on(?:wards?)?|going forward|henceforth|in (?:the )?future"
        r"|for the rest of (?:this|our) (?:chat|conversation|session|project))[ ,:]+"
        r"(?:(?:please|you|only|always|never|do not|don't|no|we (?:only|always|never|use|write|call))\b"
        rf"|{_IMPERATIVE}|{_I_WANT_YOU}\b)"
    ),
    _pattern(rf"{_IMPERATIVE}(?! I\b)(?!.*\b(?:I|we|it|she|he|they) (?:always|never|only)\b).*{_ALWAYS}"),
    _pattern(rf"only {_MANNER}"),
    _pattern(rf"{_MANNER} (?:\w+ ){{0,2}}only\b"),
    _pattern(
        r"(?:make sure|be sure|ensure|take care)(?: that)?"
        r"(?: (?:you|to|not|we|all|every|each|any|no|it|the \w+))* (?:always|never|only)\b"
    ),
    _pattern(r"(?:make sure|be sure|take care)(?: (?:that )?you)? (?:not to|never|don't|do not)\b"),
    _pattern(
        r"you (?:must not|mustn't|must never|must always|must only|may never|may only|shall not|shall never"
        r"|are (?:not|never) allowed to|aren't allowed to|are never to)\b"
        r"(?! (?:have|be (?:so|too|kidding|tired))\b)"
    ),
    _pattern(
        r"you (?:may not|should never|should always|should only) "
        r"(?!(?:have|be|know|like|want|think|feel|need|believe|agree|remember|realize|notice|trust|try)\b)"
    ),
    _pattern(rf"{_I_WANT_YOU} (?:not )?to (?:only\b|.*{_ALWAYS})"),
    _pattern(r"I (?:never want you to|don't ever want you to|don't want you to ever)\b"),
    # Also of things: passwords must never be logged.
    _pattern(
        rf"(?!{_NOT_YOU})(?:(?-i:[A-Z\x00])[\w\x00'-]*|(?:the|all|any|every|no|each) [\w\x00'-]+)"
        r"(?: [\w\x00'/-]+){0,4} (?:must not|must never|must always|may never|shall never|should never) "
        r"(?!have\b|be (?:so|too|the)\b)"
    ),
    _pattern(
        r"(?:if|when|whenever|every time|each time|before|after|unless) (?!.*\b(?:I was|we were)\b)[^,]+, "
        rf"(?:then )?(?:please )?(?:always|never) {_VERB}"
    ),
    _pattern(
        r"(?:whenever|every time|each time) (?:you|I (?:ask|say|write|send|paste|tell|give|mention))\b[^,]*, "
        rf"(?:please )?{_IMPERATIVE}"
    ),
    _pattern(r"no \w[^,]*,? ever[.!]*$"),
)

# --- German -------------------------------------------------------------------------------------------------

_IMMER = (
    r"\b(?:nie|niemals|immer(?! noch| wieder| mehr)|stets|ausschließlich|ausschliesslich|auf keinen fall"
    r"|unter keinen umständen|keinesfalls|ab jetzt|ab sofort|von nun an|künftig|zukünftig|in zukunft"
    r"|grundsätzlich|nur noch|nie wieder|nie mehr|jedes mal|jedesmal|ohne ausnahme|für den rest (?:des|der"
    r"|dieses) \w+)\b"
)
_BEFEHL = _any(
    """
    nutze? benutze? verwende? schreibe? antworte sprich sprech rede? nenne? sage? zeige? gib nimm lies
    lass lasse mache? halte? achte? beachte prüfe? überprüfe? teste? führe? starte? committe? pushe?
    merge deploye? lösche? ändere? ändre bearbeite speichere? speicher lege? setze? stelle? füge? rufe?
    frage? frag hole? formatiere kommentiere dokumentiere erkläre? übersetze? rechne runde liste
    sortiere beginne? beende bleibe? vermeide ignoriere behandle berücksichtige vergiss denke? denk
    merke? sei gehe? geh komme? arbeite baue? erstelle? erzeuge? generiere liefere? gebe installiere
    importiere ergänze entferne? lade öffne schließe? wähle zitiere verweise fasse? fass formuliere duze
    sieze warte bestätige melde logge rücke rück kürze passe? pass verändere veröffentliche
    unterschreibe begründe verlasse?
    """
)
# Infinitives end a German rule; nouns do not, they are capital.
_INFINITIV = (
    r" (?!ge\w+en\b(?<!geben)(?<!gehen))(?-i:[a-zäöüß]*(?:en|eln|ern|tun|sein))"
    r"(?: (?:lassen|müssen|dürfen))?[.!]*$"
)
_FINITE = _any(
    """
    hab habe hast hat hatte hatten haben bin bist ist sind war waren wäre wird wurde würde kann konnte
    will wollte muss musste ich er sie es wir ihr man mein meine noch wieder mehr weniger wenn dieser
    diese dieses das_gleiche die_gleichen dasselbe zu so schon besser schlimmer öfter gut gerne schön
    """
)

# "Nie werde ich …" tells of somebody.
_NO_SUBJECT = r"(?!\S+ (?:ich|wir|er|sie|es|man|mir|mich)\b)"

_GERMAN = (
    _pattern(
        rf"{_BEFEHL}(?: (?:dir|dich|mir|uns|bitte)\b)*(?!.*\b(?:ich|wir|er|es|sie) (?:immer|nie|stets)\b)"
        rf".*{_IMMER}"
    ),
    _pattern(rf"\w+en (?-i:Sie)\b.*{_IMMER}"),
    _pattern(
        r"(?:nie|niemals|nie wieder|nie mehr|immer|stets|grundsätzlich|ausschließlich|nur noch"
        rf"|auf keinen fall|unter keinen umständen|keinesfalls) "
        rf"(?!{_FINITE}){_NO_SUBJECT}(?:.* )?\S+{_INFINITIV}"
    ),
    _pattern(
        r"(?:auf keinen fall|unter keinen umständen|keinesfalls|niemals|nie) "
        r"(?:darfst du|dürfen|darf|sollst du|sollen|soll|sollten?)\b(?! (?:ich|er|wir)\b)"
    ),
    _pattern(rf"du (?:darfst|sollst|musst|solltest) .*(?:{_IMMER}|\b(?:nicht|keine?n?|nur)\b)"),
    _pattern(r"du darfst (?:nicht|nie|niemals|keine?n?)\b"),
    _pattern(
        r"(?:ich (?:möchte|will|wünsche mir|erwarte)|mir ist wichtig|es ist wichtig)[^,]{0,20}, "
        rf"dass du .*{_IMMER}"
    ),
    _pattern(r"ich (?:möchte|will) (?:nie|niemals|nicht)\b[^,]{0,20}, dass du\b"),
    _pattern(
        r"(?:ab jetzt|ab sofort|ab heute|von nun an|von jetzt an|künftig|zukünftig|in zukunft|fortan)[ ,:]+"
        rf"(?:bitte\b|{_BEFEHL}(?! (?:ich|wir|er|es)\b)|[a-zäöüß]+st du\b"
        r"|(?:nutzen|verwenden|schreiben|nehmen) wir\b|(?:möchte|will) ich, dass du\b"
        rf"|(?!{_FINITE}){_NO_SUBJECT}(?:.* )?\S+{_INFINITIV})"
    ),
    # Also of things: Passwörter dürfen nie im Log stehen.
    _pattern(
        r"(?!(?:ich|er|wir|man|es|sie|meine?|das|sein|ihr)\b)(?-i:[A-ZÄÖÜ\x00])[\w\x00-]*"
        r"(?: [\w\x00/-]+){0,4} (?:darf|dürfen)(?: [\w\x00-]+){0,3} "
        r"(?:nie|niemals|auf keinen fall|keinesfalls|unter keinen umständen)\b"
    ),
    _pattern(rf"(?:achte|stelle?) (?:bitte )?(?:darauf|sicher), dass .*{_IMMER}"),
    _pattern(
        r"(?:wenn|immer wenn|jedes mal,? wenn|sobald|bevor|nachdem|falls) (?:du|ich dich|ich dir|sie)\b"
        rf"[^,]+, (?:dann )?(?:bitte )?(?:{_BEFEHL}.*{_IMMER}|(?:immer|nie|niemals) .*{_INFINITIV})"
    ),
    _pattern(
        r"(?:immer wenn|jedes mal,? wenn) (?:du|ich dich|ich dir)\b[^,]+, "
        rf"(?:dann )?(?:bitte )?{_BEFEHL}"
    ),
)
_RULES = (*_ENGLISH, *_GERMAN)

# Without one of these no pattern matches.
_RULE_WORDS = re.compile(
    r"(?i)\b(?:never|always|ever|again|any ?more|no circumstances|any circumstances|at any time|do not"
    r"|don'?t|in no case|at no|now on|here on|point on|forward|henceforth|future|for the rest|only"
    r"|exclusively|(?:every|each) time|whenever|all times|exception|matter what|not to|must|mustn't|may"
    r"|shall|should|allowed|nie|niemals|immer|stets|ausschlie(?:ß|ss)lich|keinen|keinesfalls|ab (?:jetzt"
    r"|sofort|heute)|an|künftig|zukünftig|zukunft|fortan|grundsätzlich|nur|jedes ?mal|ausnahme|für den rest"
    r"|darfst|sollst|musst|solltest|dass du)\b"
)

# A wish for one answer, a story, or a saying.
_NO_RULE = re.compile(
    r"(?i)\b(?:better late than never|never mind|now or never|wie immer|as always|never too late"
    r"|man soll nie|never (?:say never|give up|stop|quit|lose)|don't (?:ever )?(?:quit|give up)|ever (?:quit"
    r"|give up)|you never know|(?:I|we|he|she|they) (?:have |had |'ve )?(?:always|never)"
    r"|ich (?:\w+ )?(?:immer|nie)\b(?!.*dass du))"
)

# --- Decisions ----------------------------------------------------------------------------------------------

_DECISION_WORDS = re.compile(
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
    _pattern(r"(?:(?:final )?decision|decided|agreed|settled|resolved|it's (?:decided|settled)) ?: \S"),
    _pattern(r"(?:the|our|my) (?:final )?decision is (?:to|that|:)"),
    _pattern(
        rf"(?:we|we've|we have|I've|I have|the team(?: has)?) (?:{_ALREADY} )?"
        r"(?:decided|agreed|settled|opted) (?:to|on|that|against|for|not to|upon)\b"
    ),
    _pattern(rf"(?:we|we've) (?:{_ALREADY} )?(?:chose|picked|have chosen|chosen) \w"),
    _pattern(rf"I(?:'ve| have)? decided to {_CHOOSE}"),
    _pattern(rf"{_WELL}(?:let's|let us|lets) (?:{_ALREADY} )?{_CHOOSE}"),
    _pattern(rf"{_WELL}(?:we'll|we will|we're going to|we are going to) (?:{_ALREADY} )?{_CHOOSE}"),
    _pattern(r"(?:I'll|I will) (?:(?:just|then) )?(?:go with|stick with|settle on|settle for|opt for)\b"),
    _pattern(r"(?:we're|we are|I'm|I am) (?:going with|sticking with|settling on|switching to)\b"),
    _pattern(
        r"(?:entscheidung|entschieden|beschlossen|beschluss|vereinbart|vereinbarung|abgemacht|festgelegt)"
        r" ?: \S"
    ),
    _pattern(
        r"(?:wir haben uns|ich habe mich) .*\b(?:für|gegen|dafür|dagegen|dazu)\b"
        r".*\b(?:entschieden|entschlossen)\b"
    ),
    _pattern(r"wir haben uns .*\b(?:auf|darauf)\b.*\b(?:geeinigt|verständigt)\b"),
    _pattern(
        r"(?:wir haben|es wurde|es ist|damit ist) (?:[^,.]* )?"
        r"(?:beschlossen|entschieden|vereinbart|festgelegt)\b"
    ),
    _pattern(rf"(?:(?:okay|gut|also|dann)[, ]+)*wir {_WAEHLEN} "),
    _pattern(
        r"(?:(?:okay|gut|also|dann|somit|deshalb|daher|damit|jetzt)[, ]+)+"
        r"(?:nehmen|nutzen|verwenden|bleiben|setzen|wechseln) wir\b"
    ),
    _pattern(r"(?:nehmen|nutzen|verwenden) wir (?!(?:mal )?an\b)(?:also )?\w+[^,]*[.!]*$"),
    _pattern(r"lass(?:t)? uns .*\b(?:nehmen|nutzen|verwenden|benutzen|bleiben|wechseln|setzen)[.!]*$"),
    _pattern(r"es bleibt (?:also )?(?:bei|dabei)\b"),
)
_NO_DECISION = re.compile(
    r"(?i)\b(?:if|would|could|might|maybe|perhaps|suppose|whether|not yet|haven't|hasn't|probably|until we"
    r"|usually|years ago|last (?:year|summer|week|weekend|month)|when we were|let's say|every (?:day|week"
    r"|year)|often|wenn|falls|würden?|könnten?|vielleicht|eventuell|ob|noch nicht|wahrscheinlich|vermutlich"
    r"|seit|jeden|jedes|täglich|normalerweise|meistens|oft|gerade|aktuell|derzeit|bisher|momentan|bereits"
    r"|nehmen wir (?:mal )?an|wir nehmen (?:mal )?an|letzte[sn]? (?:jahr|woche|sommer|monat)|damals"
    r"|früher)\b"
)
