"""English: patterns of several words, each name alternatives of one regular expression. Data only."""

# --- Questions ----------------------------------------------------------------------------------------------

# What asks for a number, for a time; how a thing is done at all.
ASKS_NUMBER = (
    r"\bhow (?:many|much|long|old|far|often|big|large|high)\b"
    r"|\b(?:number|amount|price|cost|costs|total|percentage|budget|port)\b"
)
ASKS_TIME = r"\bwhen\b|\b(?:what|which) (?:date|day|time|year|month|weekday)\b|\bdeadline\b|\bsince when\b"
HOW_TO = (
    r"\b(?:how|where|when|what) (?:do|can|could|should|would|might) (?:i|we|you|one)\b|\bhow to\b"
    r"|\b(?:should|can|could) i\b"
)
# How it is done here; which one of mine; what the assistant said.
OURS = r"\b(?:how|where|when|what) (?:do|should) we\b|\b(?:our|ours)\b"
WHICH_OF_MINE = (
    r"\b(?:who|whom|which|when|where) (?:[\w-]{1,20} ){0,2}(?:should|can|could|do) i\b"
    r"[^?.!\n]{0,80}\b(?:my|mine)\b"
)
SAID_BY_YOU = (
    r"\b(?:did|had|have|that|what|which|when|where|as|were) you\b|\byou (?:said|told|mentioned|suggested"
    r"|recommended|gave|wrote|listed|explained|provided|proposed|advised)\b|\byour (?:suggestion|answer"
    r"|advice|recommendation|list|proposal)s?\b"
)
# Whom something is told.
TELLS_ME = (
    r"(?:tell|give|show|write|explain(?: to)?|help|teach|recommend|suggest|send|make|find|bring) (?:me|us)"
)
WHAT_ABOUT = r"what about|how about"
# What stands for something said before. "It takes to" stands for nothing.
LEANS_BACK = (
    r"it(?! takes? to\b)|that|this|these|those|they|them|he|she|him|her|there|then"
    r"|the (?:first|second|third|last|other|former|latter)"
    r"(?= one\b|\W{0,3}$|[?.,;!]| (?:is|was|are|were|does|did|of|about|in|with|from|to)\b)"
)
NAMED_TWICE = ""
# What asks as one word; a kind is a thing otherwise, and long a quality.
ASKS_AS_ONE = (
    r"\b(?:what|which) (?:kind|sort|type)s? of\b"
    r"|\bhow (?:long|far|high|tall|big|large|old|fast|quickly|heavy|deep|wide|late|early|soon|good)\b"
)
# Before the name of the assistant, and of the user, in a system prompt.
CALLS_ASSISTANT = r"You are|Your name is"
CALLS_USER = (
    r"[Yy]ou (?:chat|talk|speak) with|[Tt]he user(?:'s name)? is(?: called| named)?|[Tt]alking to|User name:"
)

# --- Statements and their values ----------------------------------------------------------------------------

# A verb, as far as its ending and what follows it tell.
FINITE_VERB = (
    r"^(?:\S+ ){1,4}?(?!(?:always|sometimes|perhaps|nowadays)\b)[a-z]{3,}(?<!s)s (?=(?:an?|the|our|my|her"
    r"|his|their|in|on|at|to|for|with"
    r"|by|from|until|only|out|up|through"
    r"|every|all|no|north|south|east|west)\b|\d)"
)
# Names in a sentence.
NAME_IN_SENTENCE = r"(?<=[a-z,;:'] )(?!I\b|I'|\w+day)[A-ZÄÖÜ][a-zäöüß]\w*"
# Names that a statement is about.
STATED_NAME = (
    r"(?<=[\w,;:'] )(?!I\b|I'|(?:Mrs?|Ms|Dr)\b)([A-Z]\w*[a-zäöüß]\w*)"
    r"|^(?!There|It|That|Here|What)([A-Z]\w+)(?='s | (?:is|has|moved|left|lives|works)\b)"
)
# What a sentence begins with behind an article.
SENTENCE_HEAD = (
    r"(?i)(?:the|our|my|an?) ((?:(?!(?:is|are|was|were|has|have|had|will|should|must|can|goes|runs|takes"
    r"|needs|of|to|from|in|on|at|for|with|by)\b)[\w'-]+ ){1,4})"
)
SUBJECT_VERBS = r"is|has|lives?|works?|moved|speaks|listens|runs"
# Before a name that is given as a value, titles before it, and what makes it new.
CALLED_BEFORE = (
    r"called|named|name (?:\S+ ){0,4}?is|goes by|report to|reports to|says|call me|manager is|boss is"
    r"|mr\.?|mrs\.?|ms\.?"
    r"|dr\.?|doctor"
)
TITLES = r"doctor\b|mrs?\b\.?|ms\b\.?|dr\b\.?|prof\b\.?"
NOW_BEFORE = r"now|since \w+|as of \w+"
OF_MINE = r"is (?:my|our)"
CALLED_ANYTHING = r"called|named"
NOT_BUT = r"but"
RENAMED, RENAMED_TO = r"renamed", r"to|it's|it is"
VALUE_VERBS = r"is"
BACK_AGAIN = "back"
DIRECTIONS = "from to before after"
# What means that something is not to be without saying so.
DENIES = r"allerg\w+|forbidden|prohibited|off limits"
NEW_ONE = r"new"
FREQUENCIES = (
    r"quarterly|biweekly|daily(?! (?:to|is|at))|weekly|monthly|yearly|hourly"
    r"|every (?:other |second |third )?(?:day|week|month|year|night|weekend)|(?:once|twice) an? \w+"
)
EVERY_SECOND = r"every (?:other|second|third)"
END_OF_MONTH = r"\bend of (?:the |each |every )?month\b|\bmonth[- ]end\b"
SHORT_ANSWERS = r"short\w*|brief\w*|concise\w*"
LONG_ANSWERS = r"long|detailed|in detail"
VALUE_WORDS = r"short\w*|brief\w*|long|detailed|german|english|every|other"
CLOCK_WORDS = r"am|pm|o'clock|euros"
# A change is told by when it holds, by its verb, or by what it ends. `<day>` and `<month>` are their names.
CHANGES = (
    r"now|these days|nowadays|no longer|any ?more|instead|from (?:now|next|\w+day|<month>)\b(?! \d+ to\b)"
    r"|since (?:the|last|this|yesterday|today|\w+day|<month>)|moved|pushed"
    r"|put (?:back|off|forward)|brought forward|rescheduled|slipped|postponed|delayed"
    r"|not until|switched"
    r"|changed|replaced|renamed|renewed|rebooked|upgraded|increased|raised|lowered|extended|dropped|drop"
    r"|(?:is|are|was) gone|again|started|stop(?:ped)?|became|went up|after all|rescheduled"
    r"|i meant|my mistake|misread|mistyped|typo|correction|scratch that|make (?:that|it)|takes? over"
    r"|cancell?ed|(?:have|had|need) to move|will move|move (?:it|this|that) to|step(?:s|ping)? in for"
    r"|fill\w* in for|down to"
    r"|not (?:\S+ ){1,6}?but|as of|by now|lately|recently|is up to|went from"
    r"|(?:was|were) too \w+|off the table|going (?:up|down) to"
)
# How people say who they are.
WHO_I_AM = (
    r"I(?:'m| am) (?!not|so|very|sure|just|glad|sorry)\w+"
    r"|I (?:work|live|run|lead|study|teach)|[Mm]y name is|[Cc]all me"
)
# Somebody has a sum of money.
OWN_MONEY = r"(?:we|i)(?:'ve| (?:\w+ ){0,2}have)|left for us|at our disposal"
# Who takes somebody's place.
STEPS_IN = r"steps in|is stepping in|will step in|fills in|takes over|will take over|replaces"
# A change that names what it leaves and then what it takes; one that names only what it takes. `<name>` is a
# name.
REPLACEMENTS = (
    r"\b(?:switch|mov|migrat|chang|went|gone|upgrad|downgrad)\w* .{0,60}?from <name> (?:over )?to <name>",
    r"\breplac\w+ <name> (?:with|by) <name>",
)
ADOPTIONS = r"\b(?:switch|mov|migrat)(?:ed|ing|e|es)?(?: over)? to <name>"
# Behind what somebody prefers.
PREFERRED_TO = r"for|over"
# What a secret is called in front of its value.
KEYED_PREFIXES = r"api|access|auth|secret|client|account|private|encryption|session|refresh|bearer|id"
KEYED_NAMES, KEYED_ALONE = r"key|token|secret", r"token|secret"

# --- Requests to remember something -------------------------------------------------------------------------

# Any word by which a message may ask for it, and what it may be said with, before and behind.
REMEMBER_HINTS = (
    r"remember|memor|in mind|forget|\bnote|\bsave|\bstore|write (?:this |that |it )?down|jot|record\b"
    r"|for later|for future"
)
REMEMBER_OPENINGS = (
    r"please|pls|and|also|ok|okay|oh|hey|btw|by the way|can you|could you|will you|would you"
    r"|I want you to|I need you to|you should|important"
)
REMEMBER_FOR = (
    r"permanently|forever|for good|for later|for the future|for next time|from now on|always|down|please"
)
REMEMBER_PLACES = r" (?:to|in|into) (?:your |the |my )?(?:long-term )?memory"
REMEMBER_ENDS = r"for me|for later|for the future|for next time|please|ok|okay|down|somewhere"
# References without content: "remember what we said". A whole sentence about "this" has content.
EMPTY_REFERENCES = r"(?i:what|how|who|where|when|to|the time|that time)\b|(?i:this|that|it)\b(?!(?: \S+){3})"
# The requests themselves, each with what follows it: a sentence, a clause with its verb at the end, a
# statement, or only a thing. `<later>` is REMEMBER_FOR, `<where>` REMEMBER_PLACES. Then requests that only
# point at something.
_REMEMBER = r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|memori[sz]e)"
_WRITE = (
    r"(?:save|store|note(?: down)?|write down|jot down|record|put on record|make a note of|take a note of)"
)
_DOWN = r"(?:write|note|jot) down|record"
_THIS = r"(?: (?:this|that|it|the following|these))"
REMEMBER_REQUESTS = (
    (
        "sentence",
        rf"(?:{_REMEMBER}|{_DOWN})<later><where> that (?!time|day|night|one|when|thing)",
    ),
    ("sentence", rf"(?:{_REMEMBER}|{_WRITE}|keep|add) the fact that "),
    ("sentence", r"(?:save|store)<later><where> that (?=(?:i|we|my|our|the)\b)"),
    ("sentence", rf"keep{_THIS} (?:for (?:later|(?:the )?future(?: \w+)?|next time)|in (?:your )?memory): ?"),
    ("sentence", rf"(?:{_REMEMBER}|{_WRITE}|write{_THIS} down)<later>{_THIS}?<later><where>: ?"),
    ("sentence", r"remember to (?=(?:always|never|only)\b)"),
    ("sentence", r"(?:make|take) (?:a )?note(?: of)?(?: this| the following)?(?::| that) ?"),
    ("sentence", r"note(?: down)?(?: this)? for (?:later|the future|next time)(?::|,? that) ?"),
    ("sentence", r"for (?:the record|later|future reference): ?"),
    (
        "sentence",
        r"(?:save|store|add|put|write)(?: this| the following)? (?:to|in|into) \w* ?memory(?::| that) ?",
    ),
    # Behind a comma it is advice, unless it is about the speaker: "Remember, you can do it."
    (
        "statement",
        rf"{_REMEMBER}<later><where>(?:,(?= (?:i|we|my|our|the|i'm|we're)\b))? (?!to\b|when\b|the time\b)",
    ),
    # "remember the number 4711"
    ("thing", r"(?:remember|memori[sz]e)<later> (?=(?:the|my|our) .*\d)"),
)
REMEMBER_REFERENCES = (
    rf"(?:{_REMEMBER}|{_WRITE})<later>{_THIS}<where>|keep{_THIS} in mind|write{_THIS} down"
    rf"|note{_THIS}(?: down)?|make a note(?: of{_THIS})?"
)
# Who asks this way speaks of old times.
REMINISCENCES = r"(?:do you |you )?(?:still |even )?remember\b"
# A clause with its verb at the end: its subject, the forms of that verb, verbs that come apart, what follows
# a complete clause, and what goes on with the subject. English has no such clauses.
CLAUSE_PRONOUNS = CLAUSE_SUBJECTS = CLAUSE_VERBS = CLAUSE_SEPARABLE = CLAUSE_ADDITIONS = CLAUSE_GOES_ON = ""

# --- Summaries ----------------------------------------------------------------------------------------------

# What stands for an empty section; what a model says around a summary, behind it and before it.
NOTHING = (
    r"none(?: (?:yet|so far|stated|mentioned|given))?|nothing(?: (?:yet|so far|open))?|n/?a"
    r"|not (?:applicable|specified|mentioned)|empty|no (?:open|further|remaining) \w+"
)
REMARKS = (
    r"let me know|i hope|feel free|if you (?:need|want|have|would)|would you like|this (?:summary|covers)"
    r"|please (?:note|let)|is there anything|end of summary|that(?:'s| is) (?:the|it)"
)
PREAMBLES = (
    r"sure|certainly|of course|okay|ok|here\b[^\n:]{0,80}|below is|the following|this is|i(?:'ve| have)"
    r"|summary"
)
SPEAKER_LABELS = r"user|assistant|human|ai|tool|system"
# Small words that never end a sentence.
UNFINISHED = (
    r"a|an|and|are|as|at|because|but|by|for|from|has|have|if|in|into|is|it|its|of|on|or|so|than|that|the"
    r"|their|then|this|to|was|were|when|where|which|while|will|with|would"
)
NO_MEMORIES = r"NO[\s_-]?MEMOR(?:IES|Y|IEN)"
NO_MEMORY = r"NO[\s_-]?MEMOR\w+|none|nothing|n/?a|unknown|null"

# --- Side requests of clients -------------------------------------------------------------------------------

TALKS = r"conversations?|chats?|sessions?|threads?|discussions?|dialog(?:ue)?s?|interactions?"
OUR_TALK_POINTERS = r"this|our|above"
OUR_TALKS = r"the (?:conversation|chat)"
TALK_OF_OTHERS = r"between|with|among"
MAKE_VERBS = (
    r"generate|create|write|provide|produce|suggest|give|return|reply with|summari[sz]e|come up with"
    r"|craft\w{0,20}"
)
TITLE_NAMES = r"title"
DESCRIPTION_NAMES = r"name|description"
FEW_NUMBERS, FEW_UNITS = r"two|three|four|five|six|seven|eight|ten", r"words?|char\w*"
NOTHING_ELSE = r"only|nothing else|without|omit\w*|no (?:quot|punct|expla|pream|additional)|straight to|json"
SUMMARISE = r"summary|(?:summari[sz]|compact|condens)\w{0,20}"
SUCCESSORS = r"another|next|new"
CONTINUE = r"(?:continu|resum|replac)\w{1,20}|pick\w{0,20} up|carry on"
TASK_LABELS = r"task"
COMPLETE_TASKS = r"auto-?compl\w+"
IMAGE_TASKS = r"prompt for .{0,20}image"
QUERY_TASKS = r"\bsearch (?:query|queries)\b"
FOLLOW_UP_TASKS = r"follow[- _]?ups?\b|might .{0,20}(?:send|ask) next"
TAG_TASKS = r"tags?"
SUMMARY_OPENINGS = (
    r"This session is being continued from a previous conversation|\[CONVERSATION SUMMARY\]"
    r"|Another language model started to solve this problem"
    r"|I spoke to you previously about a number of things"
    r"|(?:(?:This|Here|The following) is )?an? (?:brief )?summary of (?:the|our|this) "
    r"(?:previous |earlier )?(?:conversation|chat|discussion|history)"
)

# --- Research -----------------------------------------------------------------------------------------------

# How somebody begins to ask; "just now"; what asks for a price.
RESEARCH_OPENINGS = (
    r"please|hello|hi|hey|i (?:want|need|would like) to know|i'd like to know"
    r"|(?:can|could) you (?:please )?(?:tell me|find out)|tell me|find out|search for|look up|show me|give me"
    r"|explain(?: to me)?|information (?:about|on)"
)
JUST_NOW = r"right now|at the moment"
HOW_EXPENSIVE = r"how expensive"
# What is wanted, by the first of such words.
WANTED = {
    "many": r"how (?:much|many)", "long": r"how long", "often": r"how often", "far": r"how far",
    "who": r"who|whom|whose", "where": r"where", "when": r"when", "why": r"why", "how": r"how",
    "what": r"what|which",
}  # fmt: skip
# What is the most of something may be the least by its meaning; what begins or ends so may be its opposite.
SUPERLATIVES = (
    r"\b(?:most|least|best|worst|(?!rest|test|west|east|nest|guest|forest|harvest|interest)\w{3,}est)\b"
)
OPPOSITE_FORMS = r"\b(?:un|non|dis)\w{3,}|\b\w{3,}(?:less|free)\b"
# A name in a question: a capital letter inside the sentence.
ASKED_NAME = r"(?<=[^\s.!?:] )[A-Z][\w'-]+"
# How soon an answer is out of date, by what is asked for.
WEATHER = r"weather|rain\w*|snow\w*|sunny|wind\w{0,4}"
NOW = r"live|now|currently|at the moment"
HOURLY = (
    r"\bprices?\b|\b(?:stocks?|share price|exchange rate|dax|nasdaq|bitcoin|ethereum|crypto\w*)\b"
    r"|\b(?:live ?ticker|live scores?|scores?|traffic|delays?|departures?)\b"
)
DAILY = r"forecast|news|headlines|today|tonight|tomorrow|yesterday|weekend|pollen|polls?|standings|fixtures"
WEEKLY = (
    r"opening hours|opening times|timetable|this week|latest|newest|current\w*|recent\w*|release dates?"
    r"|events?|concerts?"
)
PERMANENT = (
    r"history|historical\w*|when (?:was|did|were)|who (?:invented|wrote|was|painted|composed|discovered)"
    r"|invented|born|died|define|meaning of|means|proof|theorem|formula|equation|capital of|square root"
    r"|how (?:high|tall|far|deep) is|what is (?:an?|the difference)|what are|rfc ?\d+|specification"
)
MONTHLY = (
    r"best|comparison|compare|versus|vs|review\w*|recommend\w*|who is|population|laws?|tax\w*|how to|tutorial"
    r"|wikipedia"
)
DOCUMENTED = r"docs?|documentation|changelog|release notes|api|functions?|changes"
# Sentences of a source that address a model, and lines that belong to the page and not to its text.
ORDERS_TO_MODELS = (
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,30}"
    r"\b(?:previous|prior|above|earlier|preceding|all|any|your|these)\b[^.!?\n]{0,30}"
    r"\b(?:instructions?|prompts?|rules|guidelines|directions|messages)\b"
    r"|\b(?:you are now|from now on,? you|you must now)\b"
    r"|\b(?:as an? (?:ai|language model)|you are an? (?:ai|assistant|language model|chatbot))\b"
    r"|\b(?:system[ -]?prompts?|(?:new|updated) instructions:)"
    r"|\b(?:do not|don't|never) (?:tell|inform) the user\b"
)
MODEL_ROLES = r"system|assistant|developer|user"
BOILERPLATE = (
    r"cookies?|subscribe|sign up|log ?in|privacy policy|terms of (?:use|service)|all rights reserved"
    r"|javascript|advertis\w*|share this|follow us|read more|click here|copyright"
)
# What a model writes around a summary of sources: the line of its volatility, a label, the sources.
VOLATILITY_LABELS = r"volatility"
FINDING_LABELS = r"summary|paragraph|here is[^\n:]{0,80}"
SOURCES_LABELS = r"sources?"

# --- The ledger ---------------------------------------------------------------------------------------------

UNIT_FORMS = r"""
    [Pp]ercent secs? [Ss]econds? mins? [Mm]inutes? hrs? [Hh]ours? [Dd]ays? [Ww]eeks? [Mm]onths? [Yy]ears?
    inch(?:es)? ft feet miles? lbs? oz pcs cores degrees grams? pounds?
"""
MONTH_FORMS = r"""
    Jan(?:uary|\.)? Feb(?:ruary|\.)? Mar(?:ch|\.)? Apr(?:il|\.)? May Jun(?:e|\.)? Jul(?:y|\.)?
    Aug(?:ust|\.)? Sept?(?:ember|\.)? Oct(?:ober|\.)? Nov(?:ember|\.)? Dec(?:ember|\.)?
"""
STREETS = ""
NUMBER_LABELS = r"[Nn]umber|[Cc]ode"
# Small words between a count and what is counted.
SMALL_WORDS = """
    the this these was has does is plus minus times always perhaps versus as its his hers ours yours unless
    and for not but than then that who which when what from with into per
"""

# How a model speaks of the person it talks with.
PERSON_REFERENCES = (
    r"(?:the )?user(?:'s (?:name|preference|birthday|family)"
    r"| (?:prefers|likes|dislikes|wants|lives|works|speaks|owns|is an?\b))"
)
