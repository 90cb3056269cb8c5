"""The shapes of an English rule: "never push to main", "do not call anybody before nine".

It knows no German, and not where the sentences come from.
"""

from holdfast.window.rules_shape import any_of, shape

# A plain verb, as far as its ending tells, and none that stories are made of.
_NO_VERB = any_of(
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
_IMPERATIVE = any_of(
    """
    use write answer reply respond speak talk call address name commit push merge deploy release edit
    change touch modify run execute install import add include return show give suggest recommend ask
    check test verify validate delete remove keep put store save log print format indent document
    comment cite quote mention assume treat refer_to stick_to follow respect prefer avoid skip ignore
    stop start begin end explain summari[sz]e translate convert round list order sort limit wait confirm
    tell_me send read open close create generate make set leave let_me handle escape round spell remind
    prefix tag sign work build review think consider book schedule forward copy attach archive pay
    don't do_not be
    """
)
# Where "only" tells how to work, not what to look at this once.
_MANNER = any_of(
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
# "Don't have any idea": somebody tells of himself, or says something kind.
_NOT_TOLD = any_of(
    """
    know think worry remember care mind have see want need feel like forget hesitate believe understand expect
    get be let really miss even just own you we they i recall notice wanna mean find hear love enjoy trust
    tell_me lose waste give_up give_a stress panic judge blame overthink seem look make_any_sense
    take_any_chances take_anything
    """
)
_DO_NOT = r"(?:do not|don['’]?t) "
# What holds this once, or of the one thing at hand.
_THIS_ONCE = (
    r"(?!.*\b(?:yet|this time|for now|right now|today|tonight|tomorrow|anything else|anyone else"
    r"|any (?:of|other|further|more)|this|these|those|below|above)\b|.*, (?:so|but) I\b)"
)
# Until somebody allows it, or at an hour that comes again.
_UNLESS = (
    r"\b(?:without (?:asking|telling me|checking with|my (?:approval|permission|consent|ok|okay|go-ahead)"
    r"|permission|approval|consent|(?:a )?confirmation)"
    r"|(?:unless|until) (?:I (?:ask|say|tell|confirm|approve|agree|explicitly)|asked|told)"
    r"|(?:before|after) (?:\d|six|seven|eight|nine|ten|eleven|noon|midnight)"
    r"|(?:on|at) (?:weekends|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|holidays))\b"
)
# What is written here, again and again.
_SAID = r"answers?|repl(?:y|ies)|responses?|letters?|e-?mails?|mails?|messages?|reports?|summar(?:y|ies)"
_MADE = (
    rf"(?:{_SAID}|documents?|translations?|comments?|commit messages?|commits?|invoices?|headings?|posts?"
    r"|memos?|texts?|code)\b"
)
_FIGURES = r"(?:dates?|times|prices|amounts|numbers|units|currencies|distances|weights|temperatures|names)\b"
_EVERY = r"(?:all|every|each|any)(?: (?:of )?(?:your|my|our))?(?: (?!the\b)\w+)?"
_ONE_THING = r"(?:the|this|that|these|those|it|them|my|your|his|her|a|an|one|all|some|only|too|so)\b"
# A rule says what to do; these say what happens, or what somebody feels.
_NOT_YOU = r"(?:I|we|he|she|it|they|my|our|his|her|their|people|everyone|you guys)\b"

ENGLISH = (
    # Do not call anybody before nine.
    shape(
        rf"{_DO_NOT}(?!{_NOT_TOLD}){_THIS_ONCE}[a-z-]+\b[^,;:]* "
        r"(?:anything|anyone|anybody|any(?! (?:idea|time|way)\b))\b"
    ),
    # Don't use contractions: a kind of thing, not the one at hand.
    shape(
        rf"{_DO_NOT}{_THIS_ONCE}(?:use|write|quote|cite|schedule|book|send|open|share|publish|post|abbreviate"
        rf"|delete|commit|push|call|sign|plan|buy|order|install|invent|make up|start|begin|end) "
        rf"(?!{_ONE_THING})(?:[a-z-]+ ){{0,2}}[a-z-]+[^su\W]s\b"
    ),
    shape(rf"{_DO_NOT}use (?:the )?(?:words?|phrases?|terms?|expressions?|names?) \S"),
    shape(
        rf"{_DO_NOT}(?!{_NOT_TOLD}){_THIS_ONCE}[a-z-]+ (?!(?:the|it|them|that)\b)[^,;:]+ in "
        rf"(?:your |my |our |any )?(?:\w+ )?{_MADE}(?<=s)"
    ),
    # Do not push without asking; do not call me before nine.
    shape(rf"{_DO_NOT}(?!{_NOT_TOLD}){_THIS_ONCE}.*{_UNLESS}"),
    shape(
        r"(?:ask|check with|consult|warn) (?:me )?(?:first )?before "
        r"(?:you (?!leave\b|go\b)|\w+ing )\w+"
    ),
    shape(
        r"(?:stop|refrain from) (?:using|calling|adding|apologi[sz]ing|writing|saying|asking|sending"
        r"|repeating|giving|suggesting|starting|ending|changing|mentioning)\b"
        r"(?! (?:the|this|that|it|so|here|now)\b)"
    ),
    shape(rf"please no (?!{_ONE_THING})(?:\w+ )?[a-z-]+[^su\W]s\b"),
    shape(
        rf"no {_THIS_ONCE}(?!worries|problems|thanks)(?:[a-z-]+ ){{0,2}}[a-z-]+[^su\W]s"
        r"(?: in [\w ]+)?,? please[.!]*$"
    ),
    # Answer with bullet points only.
    shape(
        r"(?:answer|reply|respond|speak|talk|write|comment|communicate) (?:to me |me )?(?:in|with|using) "
        rf"(?!{_ONE_THING})(?:[\w'-]+ ){{1,4}}only[.!]*$"
    ),
    # Use British spelling in all letters.
    shape(
        rf"(?:use|write|prefer|add|include|put|cite|mention) {_THIS_ONCE}"
        r"(?!(?:all|every|each|the [^,;:]+ (?:for|to|on))\b)[^,;:]+ "
        rf"(?:in|for|to|at the (?:end|top|start) of|under|on) {_EVERY} {_MADE}(?! to\b)"
    ),
    shape(
        rf"(?:add|include|write|put|use|cite|give|name) {_THIS_ONCE}[^,;:]+ (?:in|for|to|on|with) "
        r"(?:every|each|all) [^,;:]+ (?:that )?you (?:write|make|send|create|draft|add|give|suggest)\b"
    ),
    shape(
        rf"(?:keep|make|begin|start|end|finish|close|sign|limit) {_THIS_ONCE}(?:{_EVERY}|your(?= \w+s\b)) "
        rf"(?:{_SAID}) "
        r"(?:with|under|short|brief|below|to|in|by|at|concise|simple|formal|polite)\b"
    ),
    shape(
        rf"(?:write|format|give|state|spell|use|show|quote|round) {_THIS_ONCE}(?:all|every|each) "
        rf"(?:{_MADE}|{_FIGURES}) (?:as|in|with|like|to|out)\b(?! (?:the|a|an|my|your)\b)"
    ),
    # Keep the tone friendly; leave the signature as it is.
    shape(rf"keep {_THIS_ONCE}(?:the|your) (?:tone|style|language|wording) (?!in mind|of|for|that)[a-z]"),
    shape(
        rf"leave {_THIS_ONCE}(?:the|my|our|all) [^,;:]+ "
        r"(?:as (?:it is|they are|is|before)|unchanged|untouched|alone)\b"
    ),
    # Write dates with the month as a word: figures of a kind, wherever they come up.
    shape(
        rf"(?:write|format|spell|state|round) {_THIS_ONCE}{_FIGURES} "
        r"(?:as|out|like|with|(?:to|in)(?! (?:the|a|an|my|your)\b))\b"
    ),
    shape(rf"(?:use|write|prefer|apply) {_THIS_ONCE}(?!{_ONE_THING})[^,;:]+ everywhere[.!]*$"),
    shape(rf"(?:never(?: ever)?|always) (?:be |{_VERB})"),
    shape(r"(?:do not|don['’]?t) ever "),
    shape(
        r"(?:do not|don['’]?t) (?!(?:know|think|worry|remember|care|mind|have)\b).*"
        r"\b(?:ever(?! since)|again|any ?more(?! \w)"
        r"|under any circumstances|in (?:the )?future|at any time)\b"
    ),
    shape(r"(?-i:[Dd]o NOT|DO NOT|DON'?T) (?!(?:know|think|worry|want|have|like|care|remember)\b)\w+"),
    shape(
        r"(?:under no circumstances|in no case|at no (?:point|time))[ ,]+(?!(?:did|was|were|ha[dv]e?|is)\b)"
    ),
    shape(
        r"(?:from (?:now|here|this point) on(?:wards?)?|going forward|henceforth|in (?:the )?future"
        r"|for the rest of (?:this|our) (?:chat|conversation|session|project))[ ,:]+"
        r"(?:(?:please|you|only|always|never|do not|don't|no|we (?:only|always|never|use|write|call))\b"
        rf"|{_IMPERATIVE}|{_I_WANT_YOU}\b|(?!{_NOT_YOU}|(?:life|things?|every\w*|all|each|nothing|this)\b){_VERB}"
        r"(?! (?:will|is|are|was|were|has|have|gets?|goes|can|should|would|must|might|may|'s)\b))"
    ),
    shape(
        rf"{_IMPERATIVE}(?! I\b)(?!.*\b(?:I|we|it|she|he|they) (?:always|never|only)\b)"
        rf"(?!.*\b(?:who|which|where) (?:always|never)\b).*{_ALWAYS}"
    ),
    shape(rf"only (?:{_MANNER}|(?:book|order|schedule|send|buy|contact|invite)\b)"),
    shape(rf"{_MANNER} (?:\w+ ){{0,2}}only\b"),
    shape(
        r"(?:make sure|be sure|ensure|take care)(?: that)?"
        r"(?: (?:you|to|not|we|all|every|each|any|no|it|the \w+))* (?:always|never|only)\b"
    ),
    shape(r"(?:make sure|be sure|take care)(?: (?:that )?you)? (?:not to|never|don't|do not)\b"),
    shape(
        r"you (?:must not|mustn't|must never|must always|must only|may never|may only|shall not|shall never"
        r"|are (?:not|never) allowed to|aren't allowed to|are never to)\b"
        r"(?! (?:have|be (?:so|too|kidding|tired))\b)"
    ),
    shape(
        r"you (?:may not|should never|should always|should only) "
        r"(?!(?:have|be|know|like|want|think|feel|need|believe|agree|remember|realize|notice|trust|try)\b)"
    ),
    shape(rf"{_I_WANT_YOU} (?:not )?to (?:only\b|.*{_ALWAYS})"),
    shape(r"I (?:never want you to|don't ever want you to|don't want you to ever)\b"),
    # Also of things: passwords must never be logged.
    shape(
        rf"(?!{_NOT_YOU})(?:(?-i:[A-Z\x00])[\w\x00'-]*|(?:the|all|any|every|no|each) [\w\x00'-]+)"
        r"(?: [\w\x00'/-]+){0,4} (?:must not|must never|must always|may never|shall never|should never) "
        r"(?!have\b|be (?:so|too|the)\b)"
    ),
    shape(
        r"(?:if|when|whenever|every time|each time|before|after|unless) (?!.*\b(?:I was|we were)\b)[^,]+, "
        rf"(?:then )?(?:please )?(?:always|never) {_VERB}"
    ),
    shape(
        r"(?:whenever|every time|each time) (?:you|I (?:ask|say|write|send|paste|tell|give|mention))\b[^,]*, "
        rf"(?:please )?{_IMPERATIVE}"
    ),
    shape(r"no \w[^,]*,? ever[.!]*$"),
)
