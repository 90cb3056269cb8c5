"""English: the cues by which a sentence shows what it states, and in which clauses. Data only."""

from holdfast.text.lang.en.beginnings import BEGINNINGS, ORDERS
from holdfast.text.lang.en.moods import MOODS
from holdfast.text.lang.en.values import ALL_MONTHS, DAY, MONTH, VALUES
from holdfast.text.lang.shape import LanguageData, cue, opening

_WHEN = (
    r"(?:in (?:the )?future|from (?:now|here|this point|today) on(?:wards?)?|from today|going forward"
    r"|henceforth"
    r"|from here on out|as of (?:today|now)|for the rest of (?:this|our) \w+|next time)"
)
# What was just said was not meant.
_UNSAID = (
    r"was (?:only |just )?(?:a (?:joke|test|lie)|joking|kidding|lying|testing you)|actually,? not"
    r"|mixing (?:that|it|this) up|(?:no|nah|nope),? (?:wait|hang on|hold on|no idea)|do as you like"
)

CUES = LanguageData(
    code="en",
    particles=opening(
        r"(?:(?:so|oh my|my god|my goodness|ok|okay|well|and|but|then|now|alright|right|also|oh|ah"
        r"|hm+|yes|yeah|yep|hey|hi|hello|anyway|besides|seriously|honestly|actually"
        r"|basically|to be fair|by the way|btw|fyi|for example|for instance"
        r"|in the meantime|briefly|quickly|like i said|note|important"
        r"|super important|reminder|again"
        r"|thanks(?! for| to)|thank you(?! for)|all right|great|perfect|cool|sure|careful|finally|first"
        r"|second|one more thing"
        r"|rule(?: \d+)?|just so you know|before i forget|just to be clear|to be clear|for your"
        r" information"
        r"|(?:just )?one (?:more |last )?thing(?: up ?front| before| first)?|on a side note"
        r"|(?:a )?(?:little |quick "
        r"|small )?side note|if possible|if you can|generally|in general|as i said|please note|heads up"
        r"|ps|plus|no,|nah,"
        r"|from now on|from here on|going forward|in (?:the )?future|henceforth|from this point on"
        r"|(?:under|in) no circumstances|on no account|by no means"
        r"|don\'t forget that|do not forget that|keep in mind that"
        r"|bear in mind that|remember that|note that|just so you know)[,!:.]* +)+"
    ),
    joins=cue(r"and|but|so|because|since"),
    begins=BEGINNINGS,
    cues={
        **MOODS,
        "supposes": cue(
            r"in the (?:worst|best) case|(?:always|ever) wanted to|(?:some|one) ?day(?= (?:i|we)\b|,)"
            r"|suppose|supposing|imagine|assume|assuming|hypothetically|what if"
            r"|let's say|pretend|had we|had i|if i ever|if we ever|were i"
            r"|would(?! you| rather| like you| prefer| mind| it be)|could(?! you)|might|i'd (?!rather"
            r"|prefer|ask|like you|be happier|appreciate|love it if|like)\w+"
            r"|we'd (?!rather|prefer|like)\w+|theoretically|wouldn't|couldn't|if (?:i|we) (?:were|had"
            r"|did|could|ran|used|moved|won)"
        ),
        "open": cue(
            r"^must(?:'ve| have| be)|maybe|perhaps|possibly|hopefully|allegedly|supposedly|probably"
            r"|presumably|not sure|unsure|no idea|(?:none|nothing|not|\w+n't"
            r"|never)(?: \S+){0,4}? (?:decided|settled|agreed|clear|final)"
            r"|undecided|up in the air|whether|rumou?rs?|nothing (?:at all )?(?:has been |is"
            r" )?(?:decided"
            r"|settled)|thinking (?:about|of)|considering|we'll see|just a thought|just asking|tbd"
            r"|i (?:guess|think|suppose|believe|wonder)|wondering|not (?:final|settled)|debating"
            r"|deciding"
            r"|haven't made up|adjourned|pending|(?:nobody|no one) knows|remains to be seen|yet to be"
            r"|under discussion|possible that|likely|chances are|toying with|torn between"
            r"|claims to have|narrowed (?:it )?down|apparently|seemingly|reportedly|rumou?r has it|(?:i"
            r"|we) (?:(?:have|'ve) )?heard|read somewhere"
            r"|they say(?= )"
            r"|(?:we'll|we will|i'll|i will|to be) decided?|will (?:\w+ )?be decided|depends|may have"
            r"|(?<!nothing )(?<!nobody )(?<!no one )may be(?! \w+(?:ed|en|t)\b)|(?:i|we|it|that|this)"
            r" may not"
            r"|may not (?:have|be (?:an?|the|so|too|true|able|enough|possible|worth))"
        ),
        "past": cue(
            r"until (?:\S+ ){1,4}?ago|until (?:(?:19|20)\d\d|recently),? (?:i|we|it|there|the) |(?:long"
            r"|ages) ago|years ago (?:i|we) (?:had|was|were|lived)|(?:old|former"
            r"|previous) (?:rules?|solution|policy|version)|used to"
            r"|^(?!.*\b(?:since|still)\b)(?:\S+ ){0,6}?(?:i|we) (?:lived|owned|rented|worked|kept)(?= )"
            r"|(?:in|during) (?:my|our) (?:\w+ )?(?:days|time|youth|childhood|apprenticeship)|back"
            r" then|back in the day|formerly|previously|long (?:over|gone|past)|last (?:year"
            r"|week|month|summer|winter|weekend)"
            r"|(?:my|our|the) (?:old|former|previous) (?:\w+ ){1,2}?(?:was|were|had|ran)"
            r"|(?:hasn't|haven't|doesn't|don't) appl(?:y|ied) (?:since|any ?more)|off the table|at the"
            r" time|no longer the case|once upon|(?:as a|when i was an?) (?:child"
            r"|kid|boy|girl"
            r"|teen\w*)|for a while|(?:is|'s) history|still (?:had|were|\w+ed)|in the \w+ties|i once"
        ),
        "passing": cue(
            r"these last few \w+|lately|right now|(?<!from )today|tonight|at the moment|currently|just"
            r" now"
            r"|this (?:morning|afternoon|evening|weekend"
            r"|second|minute)|(?<!since )yesterday|tomorrow|for now|in a (?:minute|second|moment|bit)"
            r"|(?:have|got|only) (?:\w+ )?(?:minutes?|min|hours?|seconds?) left|later|on the (?:train"
            r"|bus"
            r"|way|phone|road)|(?:sitting|stuck|still|waiting|i'm) (?:\w+ )?(?:in|at) (?:an?"
            r"|the)(?! same)|quick(?:ly)?"
            r"|(?:i|we)(?:'ve| have)? just (?!moved|use|eat|drink|want|like|need|prefer|work)\w+"
            r"|yet|so far|any ?time soon|still(?= (?:\w+ing|pretty|quite|very|so|too|rather|really)\b)"
            r"|down to|about to(?= \w)|(?:\d+|few|couple) more (?:minutes?|hours?|seconds?|percent)"
            r"|(?:step|point|part|task|item) (?:\d+|one|two|three|four|five) (?:is|was|worked|done)"
        ),
        "once": cue(
            r"this time|in (?:the|this|our) example|this once|just this"
            r"|in this (?:answer|reply|response|text|mail|letter|case|message|paragraph|list|table|poem"
            r"|story)|for this (?!(?:project|repo\w*|chat|conversation|codebase|session|team|house"
            r"|company"
            r"|year)\b)\w+"
            r"|quick (?:try|test|experiment)|a bit (?:shorter|longer|more)|for testing"
            r"|(?:make|give|do|put|show|explain|turn|phrase) (?:me )?(?:that|this|it|these|those)(?:"
            r" \w+)?"
            r"|for a (?:moment|second|change)|just for (?:fun|now|today)"
        ),
        # A part of it, by its number or by pointing at it.
        "text_part": cue(
            r"(?:first|second|third|fourth|fifth|last|middle|top|bottom|previous|following|final)"
            r" (?:\w+ )?(?:sentences?"
            r"|paragraphs?|lines?|columns?|rows?|headings?|points?|bullets?|verses?|examples?)",
            r"the \w+ (?:above|below|from (?:just now|before|above|earlier))",
            r"(?:line|column|row|paragraph) \d+",
        ),
        # A text at hand, as what is to be worked on.
        "one_text": cue(
            r"the (?:\w+ )?(?:text|table|list|paragraph|sentence|poem|letter|e-?mail|recipe|answer|draft"
            r"|story|essay|speech)"
        ),
        "joke": cue(
            r"haha\w*|hehe\w*|lol|lmao|rofl|just kidding|kidding|jk|joking|(?:was|is|just) (?:only "
            r"|just )?a joke|(?:yeah|sure|oh yeah"
            r"|right),? and|as if"
        ),
        "rejects": cue(
            r"(?:i )?(?:didn't|did not) mean (?:that|it)|(?:i )?wasn't (?:being )?serious"
            r"|nonsense|nah|nope|no way|no thanks|no thank you|rubbish|hell no|not thrilled|not"
            r" convinced"
            r"|misunderstood|let's (?:rather )?not|don't like (?:that|this|it|your|the \w+ (?:suggestion"
            r"|idea))"
            r"|not (?:a fan of|keen on) (?:the|that|this|your)"
        ),
        "takes_back": cue(
            r"forget (?:about )?(?!to\b)(?:the|that|it|what|my|i|\S+)(?: \S+){0,4}? ?(?:thing|idea|again"
            r"|bit|said|part|one)|forget (?:it|that|about)|scratch that|never mind|strike that|disregard"
            r"|that(?:'s| was| is) (?:a lie|wrong|not true|nonsense|a mistake)|(?:not|isn't"
            r"|wasn't) (?:true|right|correct)(?=[.,!]|$)|wrong (?:chat|window|tab|person|thread)"
            r"|(?:was|is) (?:only|just) a test|(?:leave|keep) (?:it|that|everything) as it (?:was|is)"
            r"|(?:just|only) (?:kidding|joking)|better not(?= after all|[.!]|$)"
            r"|no longer (?:holds|applies|true)"
            r"|take (?:that|it|this) back|on second thought|ignore (?:that|what i)",
            _UNSAID,
        ),
        # Somebody stops at what they have just said: it was wrong, or is over.
        "corrects": opening(
            r"(?:(?:oh|ah|er|hm+|no|nope|nah|wait|hold on|hang on|stop|sorry|oops|damn|actually)[,.!"
            r" ]+)+"
            r"(?:nonsense|rubbish|wrong|never mind|scratch|i take (?:that|it) back|i (?:mixed|got)"
            r" (?:that|it|this)"
            r"|(?:that|it|this)(?:'s| is| was|'re) (?:not|wrong|outdated|over|last \w+|the old|old"
            r"|from last|from yesterday)"
            r"|that (?:won't|doesn't|isn't|wasn't)|not (?:true|right|any ?more|after all))"
        ),
        # The same without a name for it.
        "takes_that": cue(
            r"(?:just|only) (?:kidding|joking)|better not(?= after all|[.!]|$)|no longer (?:holds"
            r"|applies"
            r"|true)|that(?:'s| was| is) (?:a lie|wrong|not true)|(?:not|isn't|wasn't) (?:true|right"
            r"|correct)(?=[.,!]|$)|wrong (?:chat|window|tab|person|thread)|(?:was|is) (?:only|just) a"
            r" test"
            r"|(?:leave|keep) (?:it|that|everything) as it (?:was|is)|disregard(?=[.!,]|$)|(?:forget"
            r"|scratch"
            r"|strike|ignore|disregard|drop) (?:that|it|this)(?=[.!,]|$| please| again)",
            _UNSAID,
        ),
        # Whose words follow its colon: a text, or a program.
        "source": cue(
            r"^(?:from|in|on|according to) (?:the|an?|my|our|their|his|her) (?:\w+ ){0,3}?\w+$"
            r"|(?:recipe|letter|mail|e-?mail|message|readme|manual|instructions?|ad|advert|article|error"
            r"|linter"
            r"|compiler|log|sign|label|notice|quote|post|tweet|contract|docs|documentation|template"
            r"|draft"
            r"|headline|caption|transcript|prompt|excerpt)(?: \w+){0,3}?"
            r"(?: (?:says?|reads?|writes?|states?|goes|is|was|said|read))?$"
        ),
        # "…, that's where we keep the numbers": of what was named before it.
        "where_kept": cue(r"^(?:that|this)(?:'s| is) where(?= (?:i|we|my|our|the|all|everything)\b)"),
        # What the other one decided.
        "you_did": cue(r"you(?:'ve| have)? (?:\w+ )?(?:decided|chose|picked|settled|opted|agreed)"),
        "just_one": cue(r"(?:only|just) (?:an?|one|this|these)"),
        # A game, a story, an exercise: nothing in it is so.
        "unreal": cue(
            r"role[- ]?play\w*|main character|protagonist|villain|(?:my|the|your) (?:game|player|d&d)"
            r" ?character|my character|(?:play"
            r"|playing) a game"
            r"|scene \d+|act \d+|(?:exercise|problem|task|question|example|sample)(?: \d+)?(?=$)"
            r"|(?:example|sample|practice|dummy) (?:sentence|text|data|company|customer|user|output"
            r"|input)s?"
            r"|test data|case study|fill in the (?:gap|blank)s?|^given(?=$)|^in the (?:example"
            r"|exercise|task)"
            r"|pretend\w*|___+|^(?:you are|you're) (?:now )?(?:an?|my|the) (?!\w+ing\b)\w+"
            r"|in (?:the|my|this|a) (?:novel|story|film|movie|play|game|tale|fairy tale)(?= )"
        ),
        # What follows the colon is to be put into other words.
        "renders": cue(
            r"^(?:(?:please|now) )*(?:in|into|to) (?:the )?(?:simple |plain |good |proper |correct )?"
            r"(?:english|german|french|spanish|italian|polish|turkish|dutch|portuguese|russian"
            r"|latin)(?: please)?$"
            r"|^(?:please )?(?:put|bring|turn) (?:this|that|it) (?:in|into)(?: \S+){1,4}$"
            r"|^(?:please )?(?:make|say|phrase) (?:this|that|it) (?:more |less )?\S+$"
        ),
        # What somebody else likes or thinks of something.
        "tastes": cue(
            r"(?<!i )(?<!we )(?<!you )(?:(?:doesn't|don't|do not|does not) (?:really )?(?:like|enjoy"
            r"|care for)"
            r"|likes(?! to)|loves|loved|hates|hated|(?:people|everyone|everybody|kids|children"
            r"|\w+ers) (?:\w+ )?(?:like|love|hate|prefer)|dislikes|detests|prefers|adores|enjoys"
            r"|swears? by"
            r"|raves? about"
            r"|finds (?:\S+ ){1,3}?\w+(?=[.!,]|$)|(?:is|are|'s) (?:really |totally |so )?into)"
        ),
        # A kind of thing, whatever one of them it is.
        "any_one": cue(
            r"^an? (?!few|lot|couple|colleague|friend|client|customer|member)\w+ (?:\w+ )?(?:is|has"
            r"|leaves"
            r"|takes"
            r"|needs|weighs|costs|contains|consists|can|\w+s)(?= )|^(?:most|many|some|all) (?:people"
            r"|\w+s)(?= )"
            r"|^in (?-i:[A-Z])\w+ (?:people|you|they|everyone|everybody)(?= )"
        ),
        "defines": cue(
            r"(?:means|stands for|refers to|is short for) (?:that |the )?\w+"
            r"|^the \w+ (?:is|are) (?:an? \w+|\w+s)(?=[.!]*$)"
            r"|(?:was|were) (?:\w+ )?(?:invented|discovered|founded|developed|written|composed|painted"
            r"|born"
            r"|built)"
            r"(?= (?:by|in|around)\b)|^the (?:\S+ ){1,3}?(?:fell|began|started|ended|died|sank) (?:on"
            r"|in) "
        ),
        "negation": cue(
            r"not|no|never|nothing|nobody|none|nowhere|neither|without|\w+n't|cannot|dont|isnt|doesnt"
        ),
        "always": cue(
            r"(?<!as )(?<!not )always(?! (?:\w+ing|here|good|up for|there|happy|fun|nice|great|been"
            r"|a pleasure))|every ?time|each time|at all times|without exception|no exceptions"
            rf"|^(?:please )?{ORDERS} (?:\S+ ){{1,8}}?everywhere|in every case|whenever|consistently"
            rf"|throughout"
            r"|on principle"
            r"|as a matter of principle|as a rule"
            r"|by default|in all|all (?:of )?(?:my|our|your)|every single|invariably"
            r"|(?:after|before|^(?:on|with|in|for|at)) (?:every|each)"
            r"|under all circumstances"
        ),
        "never": cue(
            r"never(?! (?:mind|been|heard|seen|had))|(?:under|in) (?:no|any) circumstances|in no case"
            r"|at no (?:time"
            r"|point)|ever again|not ever|on no account|by no means|off[- ]limits|forbidden"
            r"|prohibited|not allowed|no go|no-go|taboo|banned"
            r"|hands off|nobody \w+s|(?<=, )ever(?=[.!]*$)"
        ),
        "only_last": cue(r"only(?=[.!]*$)"),
        "none_here": cue(r"there(?:'s| is| are| must be| should be| may be) no"),
        "beside_you": cue(r"(?:before|when|whenever|unless|if|until|while) you"),
        "this_thing": cue(
            r"(?:second|first|third|last|other|former|latter|original|previous) (?:one|option|version"
            r"|approach|idea|suggestion)"
            r"|your (?:suggestion|approach|plan|version|advice|tips|recommendation|idea|answer)|(?:this"
            r"|that) (?:one|genre|idea|version|approach|way|code|plan|option|suggestion)|(?:go|use|try"
            r"|do"
            r"|take|like|love|with) (?:that|this|it|these|those)(?=[.!]*$)|(?:about|of) (?:that"
            r"|this)(?! \w+s\b)"
            rf"|^(?:please )?{ORDERS} (?:it|them|that|this)(?! (?:when|if))"
        ),
        "changed": cue(
            r"(?<!right )(?<!just )now|(?:is|are) gone|these days|nowadays|no longer|any ?more"
            r"|since (?:the|last|monday"
            r"|yesterday|today)|again|re(?:new|nam|locat|schedul|plac|book|organi[sz]|design)ed"
            r"|upgraded|switched"
            r"|by now|meanwhile"
        ),
        "our_way": cue(r"we (?:\w+ )?[a-z]+ (?:\S+ ){0,3}?(?:in|with|on|via|through|at|using|from)"),
        "call_me": cue(r"(?:call|address) (?:me|us)(?= )"),
        "theirs": cue(r"(?:her|his|their|these(?! days)|those)(?= \w)"),
        "that_one": cue(
            r"^here(?:'s| is| are)|^the (?:photo|pic|picture|image|video|screenshot)(?= )|^(?:it|that"
            r"|this|they)(?:'s|'re| is| are) (?:one of )?my|(?:to|in|with"
            r"|about|of|for) that (?!\w+ed\b)\w+|(?:this|these(?! days)"
            r"|those) (?!summer|autumn|fall|winter|spring|year|month|week|season"
            r"|project|repo\w*|chat|conversation|codebase|session|team"
            r"|house|company)\w+"
            r"|that (?:file|function|one|part|line|section|branch|folder|text|sentence|word|code|page"
            r"|test"
            r"|commit"
            r"|method|class|document|paragraph|image|answer|list|table)"
        ),
        "concludes": cue(r"(?:ok|okay|alright|right|fine|good)(?=,|$)|then"),
        "only": cue(
            r"only|exclusively|solely|no (?:\w+er|more|less) than|at most|at least|max(?:imum)?"
            r"|nothing but|just once"
        ),
        "no_more": cue(r"no longer|not (?:\w+ )?any ?more|no more|don't (?:\S+ ){1,5}any ?more"),
        "from_now": cue(
            _WHEN,
            rf"(?:starting|beginning|effective|from|as of) (?:this |next |in |on |the )*(?:{ALL_MONTHS}"
            "|summer|autumn|fall|winter|spring|week|month|year|(?:new |coming )?(?:school )?(?:year|term"
            "|semester|season)|monday|tuesday|wednesday|thursday|friday"
            r"|saturday|sunday|\d{4}|\d{1,2}(?:st|nd|rd|th))\w*",
        ),
        "future": cue(
            _WHEN,
            r"always|every ?time|each time|throughout|by default|generally|permanently"
            "|whenever",
        ),
        "here": cue(
            r"(?<!me )here(?! (?:is|are|'s|for|to))|with us|around here|at our (?:place|office|company"
            r"|end)"
            r"|in our (?:house|team|company|building|office|family|repo|project)|at (?:work|home)"
            r"|on (?:our|the) team|over here"
        ),
        "we_dont": cue(
            r"we (?:don't|do not|never|won't|will not|aren't going to) (?!have|own|like|speak|live"
            r"|know|need|want|think|understand"
            r"|see|get|mind|care|really)\w+"
        ),
        "every": opening(r"(?:every|each|all|any|anything|everything|whoever|anyone who|everyone)\b"),
        "role": cue(
            r"(?:i'm|i am|we're|we are) (?:(?!\w+ing\b)\w+ )?an? (?!(?:bit|little|lot|tad|huge|big|fan"
            r"|beginner|newbie"
            r"|total|complete|few|long|mess|loss|real)\b)[\w-]+"
        ),
        "placed": cue(
            r"(?:is|are) (?:in|at|on|under|behind|next to) (?:the|our)"
            r"|there(?:'s| is| are) (?:\S+ ){1,8}?(?:in|on|between|behind|under|next to) (?:the|our"
            r"|stock)"
            r"|there (?:is|are) \S*\d\S* ?(?:k|euros?|dollars?|pounds?)"
        ),
        "asks_first": cue(r"(?:ask|check with|consult|warn|tell) (?:me|us)(?: first)?|without (?:asking|my)"),
        "outputs": cue(
            r"(?:all|every|each|any|your)(?: (?:of )?(?:your|my|our))?(?: (?!the\b)\w+)? ?(?:answers"
            r"|answer(?= (?:under|short|brief))|repl(?:y|ies)|responses?|letters?|e-?mails?|mails?"
            r"|messages?|reports?|summar(?:y|ies)|documents?|translations?|comments?"
            r"|commits?|invoices?|headings?|posts?|texts?|functions?|claims?|dates|times|prices|amounts"
            r"|numbers|units)(?! (?:of|to|from|in the|below|above)\b)|(?:the|your) (?:tone|style|wording"
            r"|language)(?! (?:in mind|of|for|that))"
            r"|(?:write|round|format|spell|state)(?: out)? (?:dates|times|prices|amounts|numbers|units"
            r"|names"
            r"|currencies)(?! (?:in|to|on) the)"
        ),
        "as_is": cue(
            r"(?:as|the way|like) (?:it is|they are)|as (?:is|before)|unchanged|untouched|leave (?!me|us"
            r"|him|her|it"
            r"|them)(?:\S+ ){1,8}?alone"
        ),
        "you_verb": cue(
            r"^you (?:(?:always|only|just|please) )?(?!are\b|have\b|can\b|could\b|know\b|were\b)[a-z]+"
        ),
        "bygone": cue(r"was|were|had been"),
        "irony": cue(
            r"(?:yeah|sure|oh yeah|right|of course),? and|says (?:one|the|an?) \w+ to|knock,? knock"
            r"|\w+(?: \w+)? walks? into a"
        ),
        "please": cue(r"please|pls|kindly"),
        "must": cue(
            r"must(?! have been|-|'ve)|has to|have to|needs? to|shall|should(?! (?:help|work|be (?:fun"
            r"|good|great|fine|nice|ok)))|ought to|(?:is|are) (?:to be"
            r"|required"
            r"|supposed to|meant to|due)|(?:is|are) (?:always|never|only) to be|may only|may (?:stay"
            r"|remain|be)|can (?:stay|remain)"
        ),
        "may_not": cue(
            r"(?:must|may|shall|should|can) (?:not|never|under no circumstances)(?! (?:have|be (?:so"
            r"|too)))|mustn't|shouldn't|(?:can't|cannot)(?! (?:wait|beat|believe|help|imagine|seem"
            r"|stop|say|even|really|stand|deny|get|find|remember|see|figure|thank|tell))|aren't"
            r" (?:allowed"
            r"|to)|isn't (?:allowed|to)"
            r"|don't belong|doesn't belong|(?:nothing|nobody|no one|none of \w+) (?:\w+ ){0,3}?(?:may"
            r"|must|shall|should|can"
            r"|is to|are to)|(?:has|have) no (?:place|business)"
        ),
        "you_must": cue(
            r"you (?:must|should|may|shall|are|need|have)(?: not| never| always| only| allowed| to)+",
            r"(?:want|need|expect|like|ask) you (?:not )?to",
        ),
        "names_rule": cue(r"rules?|guideline|policy|principle|condition"),
        "duty": cue(
            r"mandatory|required|obligatory|compulsory|forbidden|prohibited|not allowed"
            r"|allowed(?! (?:me|us|him|her|them))|belongs?"
            r"|requires?|the rule is|needs? (?:two|three|sign|approval|\d)|needs? an?|(?:don't|doesn't"
            r"|do not|does not|never) (?:(?:go|belong) (?:in|into|on|online|out|outside|near|there)"
            r"|leave)|policy|(?:goes"
            r"|comes) (?:in|into|on|onto|behind|under|next to)(?= the)|go(?:es)? (?:through|via)"
            r"|(?:comes?|goes) (?:before|first)|only (?:\S+ ){1,3}?(?:may|can|is allowed to|are"
            r" allowed to)"
            r"|only (?:happens?|works?|go(?:es)?|starts?|counts?|appl(?:y|ies)|runs?|opens?)"
            r" (?:\w{2,4} )?"
            r"(?:with|if|when|after|before|by|from|between|on|in)"
            r"|(?:stays?|remains?) (?:\w+ed|off|closed|shut|locked|private|internal)"
            r"|go(?:es)? into|off[- ]limits|taboo|no[- ]go|banned|out of the question|(?:has"
            r"|have) no (?:place|business)"
        ),
        "you_are_to": cue(r"(?:are|must|may|should|shall) (?:you|we)(?: ever)?(?: to)? \w+"),
        "out_of": cue(r"(?:stays?|remains?|must stay|is to stay) (?:out of|away from|off)"),
        # What somebody does not want to meet with.
        "wants_none": cue(
            r"(?:i|we) (?:really )?(?:don't|do not|never) want (?:to (?:see|read|hear|find|be \w+ed)"
            r"|any)(?! about)"
        ),
        # An idea that was turned down in the same breath.
        "dismisses": cue(
            r"no(?=[.!]*$)|out of the question|not an option|decided against it|ruled (?:it|that) out"
        ),
        # What others hold to be right is not yet done so.
        "opines": cue(r"should|shouldn't|ought to"),
        # A name is given, small or capital.
        "called": cue(r"(?:is|are|was|longer|now) (?:\w+ )?(?:called|named)"),
        # What others think, not what they say is so.
        "holds": cue(r"(?:thinks|feels|believes|reckons|finds|claims|claimed|suspects|preaches)"),
        "hearsay": cue(r"(?:told|tells) (?:me|us) (?:that )?(?:he|she|they)|(?:he|she|they) said"),
        # What is said to matter follows it.
        "matters": cue(
            r"it(?:'s| is) (?:\w+ )?(?:important|essential|crucial|vital)(?= that)"
            r"|it matters(?: \w+ \w+)?(?= that)"
        ),
        "moved": cue(r"(?:i|we)(?:'ve| have)? (?:just |now |recently )?moved to(?= (?-i:[A-Z]))"),
        # How long ago something changed takes nothing from what holds since.
        "recent": cue(r"last (?:year|week|month|summer|winter|spring|autumn|weekend)"),
        "object_first": cue(
            r"^(?:i|we) (?:\S+ ){1,3}?(?:them|it|him|her|those|these)(?=[.!,]|$"
            r"| (?!if|when|that|\w+er\b|helpful|useful|hard|easy|annoying)\w+)"
        ),
        "passive": cue(
            r"(?:get|gets) \w+|(?:is|are|be|been) (?:\S+ ){0,3}?(?:\w{3,}ed|done|taken|written|sent|kept"
            r"|made|put|run|built|held|read|paid|set|shown|worn|thrown|drawn|given|driven|broken|chosen"
            r"|spoken|eaten"
            r"|bought|brought|taught|sold|told|left|cut|shut|hung|fed|led|spent|lent)"
        ),
        "passive_last": cue(r"(?!)"),
        "infinitive": cue(r"(?!)"),
        "decided": cue(
            r"enrolled|resigned|(?<!who )accepted|decided|agreed(?!,? (?:those|that|this|it|i|with"
            r" you)\b)"
            r"|settled|voted (?:for|to|on|against)|(?:kids|team|board|members|we|club) voted|chosen"
            r"|chose|opted|resolved|picked(?= (?:the|an?|our|option|(?-i:[A-Z]))\b)|(?:i|we|i've|we've"
            r"|have"
            r"|has) signed(?! (?:me|up|her|him))"
            r"|(?:has|have) adopted|^(?:the )?decision$|(?:decision|choice) (?:is|was|has|fell|went"
            r"|made)"
            r"|confirmed"
            r"|convinced|made up (?:our"
            r"|my) minds?"
            r"|(?:is|that's|it's) final|it's official|(?:has|have|was|were) approved|go-ahead"
            r"|green light|signed off|signed up (?:for|to)"
            r"|(?:said|say) (?:yes|no) to|turned down|done deal|cleared (?:it|that|this) with"
        ),
        "confirms": cue(
            r"confirmed|keep in mind|bear in mind|remember|don't forget|do not forget|insists?|note"
            r"|make sure|be aware|important|consider|take into account|decided|agreed|just so you know"
            r"|requires?|demands?|want|expect|settled"
        ),
        "chooses": cue(
            r"(?:decided|agreed|voted|opted|chose) (?:\w+ ){0,2}?(?:to|on|for|against|that)",
            r"(?:we|i)(?:'re| are|'m| am) (?:\w+ )?(?:going with|taking(?= (?:the|an?|(?-i:[A-Z])\w+)\b)"
            r"(?! an? (?:break|look|walk|nap|class|course|moment))|sticking (?:with|to)"
            r"|staying (?:with|in|at|on)"
            r"|switching|using|moving|dropping|keeping(?! (?:an|my|track|up|it|you)\b)|choosing"
            r"|leaving out|skipping"
            r"|doing(?= (?:the|an?|our|without)\b)(?! a (?:great|good|lot|bit))|starting with|building"
            r"|hosting|cutting|adopting|settling on|picking|getting (?:rid|out) of|having(?= the)"
            r"|buying|selling|closing|ending|phasing out|putting off"
            r"|postponing|cancel\w+|replacing|bringing (?:\S+ ){1,3}forward|hiring|giving up(?= (?:the"
            r"|my"
            r"|our|on|\w+ing)\b)"
            r"|betting on|ordering|parting|splitting|leaving(?! (?:for|in|at|now|soon))|renting"
            r"|merging|withdrawing)",
            r"(?:i'll|i will) go with(?= (?:the|an?|(?-i:[A-Z])))",
            r"(?:we'll|we will) (?!definitely|also|try|probably|just)(?:\w+ )?(?:go with"
            r"|take(?! (?:note|notes|care|a look|\S+ (?:tips|advice)))|stick|stay|switch|use|move|drop"
            r"|keep(?! (?:that|this|it|those|you|in|an|on|up|\w+ing)\b)"
            r"|settle|opt|clean|adopt|do(?= (?:the|without|it (?:our|my)))(?! the same))",
            r"let's (?:just |then |now )?(?:use|go with|go for|stick|switch|move to|settle|adopt|choose"
            r"|pick|take|keep(?! (?:it|up|in|each|\w+ing)\b)|drop|do|stay(?! (?:in touch|safe|strong))"
            r"|opt"
            r"|call it)(?! (?:a look|it|that|this|these|those|not)\b)",
            r"(?:we|i) (?:chose|picked(?= (?:the|an?|our|option|(?-i:[A-Z]))\b)|settled|opted|went"
            r" with|cancelled|canceled)",
        ),
        "does": cue(
            r"(?:we|i)(?:'re|'m| are| am) (?:\w+ )?\w+ing",
            r"(?:we|i)(?:'ll| will)",
            r"\w+ (?:is"
            r"|are) going to(?: be)?",
        ),
        "becomes": cue(
            r"(?:it's|it is|it will be|it'll be) (?:going to be|gonna be)(?= (?:the|(?-i:[A-Z]))|,)"
            r"|(?:is|are|was|were|got|gets|been"
            r"|being|be) (?:cut|dropped|shut down|closed|switched off|removed|postponed|moved|pushed"
            r"|scrapped|cancelled|canceled|replaced|discontinued|renamed|switched|migrated|retired)"
            r"|(?:won't|will not|isn't going to|not going to) (?:take place|happen)|it is(?=[.!]*$)"
            r"|(?:slipped|slid|shifted|delayed) (?:by|to|back|until)|for (?:the|our"
            r"|my) \w+(?: \w+)? (?:it's|it is|it'll be"
            r"|it will be)(?= (?:the|an?|option|variant|(?-i:[A-Z])))"
            r"|(?:moved over|(?:pushed|renamed) (?!me|us|him|her|them)(?:\S+ ){1,4}to|switched (?:to"
            r"|from"
            r"|over)"
            r"|migrated to|replaced by|is gone|are gone)"
        ),
        "change": cue(
            r"now|instead|after all|rather than|no longer|from \w+ to|going forward|these days|anymore"
            r"|any more"
            r"|again|ourselves|for good|since"
        ),
        "likes": cue(
            r"what (?:i|we) (?:like|love|prefer|enjoy|hate) (?:most|best|least)"
            r"|(?<!thing )(?<!things )(?<!people )(?<!that )(?<!why )(?<!what )(?<!which )(?<!much )"
            r"(?:i|we) (?:(?:really|also|just|do"
            r"|don't|do not|absolutely|usually|mostly|always|never|actually|particularly"
            r"|especially|much|quite|generally|personally|honestly|still|both|all|simply|strongly"
            r"|kinda|truly|only|am not)"
            r" ){0,3}(?:love|like|enjoy|hate|dislike|prefer|adore|loathe|detest"
            r"|favou?r)(?! (?:the(?! (?:\S+ ){1,4}?(?:best|most|more|better)\b)|all the|to (?:know|see"
            r"|hear"
            r"|ask|add|thank|learn|understand|think|try|make sure)|how|it when you did|that"
            r"|your (?!repl|answ|text)|this"
            r"|these|those|it(?! when| if)|you|him|her|them)\b)"
            r"|(?:i'm|we're|am|are) not (?:\w+ )?interested in|can't stand|cannot stand"
            r"|(?:my|our)(?: \S+){0,3}? favou?rites? (?:\S+ ){0,6}?(?:is|are|has)(?! when)|(?:is|are"
            r"|'s) (?:\S+ ){0,3}?favou?rites?|(?:not )?(?:a )?(?:big|huge|great"
            r"|much of a)? ?fan of(?! (?:the|this|that|your|it)\b)"
            r"|not big on|(?:i'm|we're|am|are) (?:(?:really|more|very|not|totally|quite"
            r"|big) ){0,2}into (?!the|this|that)\w+"
            r"|(?:i'm|am) (?:more of an?|not one for|not an?) \w+|my (?:thing|style|taste|jam|cup of"
            r" tea)"
            r"|helps me (?:when|if|to)|(?:not|\w+n't"
            r"|nothing) for (?:me|us)(?= |[.,!]|$)|(?:don't|doesn't) do anything"
            r" for me|(?:matters?|important) more to me|more important to me"
            r"|(?:drive|annoy|bother|stress|tire|bore|irritate|wear|calm|put)s? me(?: out| off| mad"
            r"| crazy| nuts| down)?"
            r"|(?:i'd|i would) (?:appreciate|love|prefer) (?:it )?if you|think (?:much|little|highly) of"
            r"|(?:is|are) (?:\w+ )?enough for (?:me|us)|(?:suits?|doesn't suit|don't suit) (?:me|us)|i"
            r" (?:avoid|value|tend to (?:like|prefer|avoid)|can do without|make sure (?:that )?(?:it"
            r"|they)|swear by)|my taste in|(?:no|little|much) use for|(?:do|does|brings?|gives?)"
            r" (?:\w+ )?(?:more|little|nothing|much|a lot) for me|important to me (?:that|if)|i"
            r" (?:feel|work|sleep|learn|understand"
            r"|concentrate|think) (?:\w+ )?(?:best|better|most)"
            r"|(?:reads|works|looks|fits|suits) (?:\w+ )?(?:better|best|well) (?:to|for|with) me"
            r"|i find (?!(?:it|that|this|the|your|them|these|those)\b)(?:\S+ ){1,4}?(?:hard|difficult"
            r"|easy|easier) to \w+"
            r"|i find (?!(?:it|that|this|the|your|myself|out|them|time|these|those|a"
            r"|some)\b)(?:\S+ ){1,8}?\w+(?:ing|ful|ous|ible|able|ive|less"
            r"|hard|easier|better|difficult)(?=[.!,]*$)"
            r"|find it (?:\w+ )?(?:easier|better|nicer|harder|helpful|annoying)|easier (?:for me"
            r"|to read) (?:if|when)"
        ),
        "rather": cue(
            r"(?:i|we)(?:'d| would) (?:much |really )?(?:rather|prefer)(?! (?:something|anything|one"
            r"|to avoid)\b)|rather (?:have|not|than)|ideally"
            r"|preferably|best if|(?:i'd|i would) (?:take|pick|choose) (?:\S+ ){1,4}?over(?= )"
        ),
        "habit": cue(
            r"(?:i've|i have|we've) (?:started|stopped|begun|quit|given up) \w+ing",
            r"i (?:usually|mostly|generally|normally|typically|rarely|hardly ever|always"
            r"|never) (?!been|had|have|thought|knew|seen"
            r"|heard|know|feel|want|need|think|get|got|forget|wonder\w*|wanted|liked|loved|tried|said"
            r"|\w+ed\b)\w+"
            r"|(?:on principle|as a rule)(?=[.!,]*$)|best way to (?:\S+ ){1,3}?me",
            r"i (?:\w+ )?(?:only|never|always|usually|mostly|don't|do not"
            r"|hardly ever) (?:really )?(?:listen|eat|drink|read|watch|work|use|take|buy|drive|sleep"
            r"|cook"
            r"|write|wear)"
            r"|i (?:take|drink|have|eat) my \w+",
        ),
        "for_you": cue(
            r"(?:if|when|whenever) you (?!need|have|know|get|can|want|think|like|could|ever|are|'re"
            r"|see|feel|don't|find|think)"
            r"|(?:want|need|expect|ask) you (?:not )?to|(?:i'd"
            r"|i would) (?:be (?:happier|glad|grateful)"
            r"|appreciate it if|ask (?:you|that)|prefer(?! (?:something|anything|one|to avoid)\b))(?:"
            r" it)?(?: if)?"
            r"|(?:i'd|i would) like (?:it if|you)"
        ),
        "nice_if": cue(r"(?!)"),
        "promises": cue(r"(?:i'll|i will|we'll|we will|i'm going to|i am going to)"),
        "asks_info": cue(
            r"(?:can|could|would|will) you (?:please |also |maybe )?(?:give me|tell|show|explain|help"
            r"|recommend|suggest|provide|share|walk)"
        ),
        "asks_you": cue(
            r"(?:can|could|would|will) you|would you mind|do you mind|may i ask you|is it (?:possible|ok"
            r"|okay|fine|alright)(?= if you| for you| that you|$)"
            r"|would it be (?:possible|ok|okay|alright|fine)"
        ),
        "possible": cue(
            r"if (?:at all )?possible|if you can|where(?:ver)? possible|preferably|ideally|if at all"
            r" possible"
        ),
        "turns": opening(r"(?:but|however|seriously)\b"),
        "mine": cue(r"my|our|ours|mine"),
        "me": cue(r"i|we|me|us|i'm|we're|i've|we've|i'll|we'll|i'd|we'd"),
        "i": cue(r"i|i'm|i've|i'll|i'd"),
        "we": cue(r"we|we're|we've|we'll"),
        "others": cue(r"he|she|they|one|people|somebody"),
        "states": cue(
            r"(?<!the )(?<!\ba )(?:is|are|am|i'm|we're|there's|it's|\w+'s(?= (?:an?|the|in|on|at|my|our"
            r"|not|always|only"
            r"|from|called|\d))|has|have|we've got|i've got|got|lives?"
            r"|go(?:es)? (?:straight |directly )?to|works?|runs?|listens?|exists?|costs?|takes?|lasts?"
            r"|leaves?|starts?|ends?|opens?|closes?|uses?"
            r"|needs?|holds?|allows?|weighs?|pays?|earns?"
            r"|speaks?|studies|study|sits?|stands?|goes|goes by|comes?|reports?|checks?|reviews?|leads?"
            r"|manages?|owns?|drives?|drink|eats?|eat|called|named|keeps?|means|expires?|hosts?|deploys?"
            r"|cache|caches|store|stores|ship|ships|meets?|includes?|including|don't work|fits?|gets?"
            r"|stays?|does|deals? with|doesn't \w+|don't \w+|looks? after|handles?|belongs?|teaches"
            r"|teach"
            r"|sells?|orders?|cooks?|heat|heats|sleeps?|plays?)"
        ),
        "trait": cue(
            r"born (?:in|on)|allerg\w+|intoleran\w*|vegetarian|vegan|pescatarian|left-handed"
            r"|right-handed|lefty|pregnant"
            r"|diabetic|diabetes|asthma\w*|married|divorced|engaged|(?<=am )single|(?<=m )single"
            r"|(?<=is )single|widowed|retired|self-employed"
            r"|freelanc\w+|colou?r-?blind|dyslexic|deaf|blind|surgery|gluten|lactose|celiac|coeliac"
            r"|epilep\w+|migraines?|hearing aids?|afraid of (?:heights|flying)|(?:can't|cannot) (?:eat"
            r"|tolerate|digest)"
            r"|don't eat|don't drink|non-?smoker|slipped disc|chronic\w*|disab\w+|phobia"
        ),
        "relation": cue(
            r"wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|child(?:ren)?|mother|mom|mum"
            r"|father|dad|parents|sister|brother|grandma|grandpa|grandmother|grandfather|aunt|uncle"
            r"|niece"
            r"|nephew|cousin|friend|roommate|flatmate|neighbou?r|colleague|coworker|boss|manager|dog|cat"
            r"|doctor|dentist|lawyer|accountant|landlord|landlady|adviser|advisor|client|customer"
            r"|in-laws"
        ),
        "title": cue(r"(?:mr|mrs|ms|dr|prof)\.? (?-i:[A-ZÄÖÜ])\w+"),
        "needs": cue(
            r"(?:i'm|i am|we're|we are) (?:\w+ )?(?!based|married|engaged|employed|allowed|supposed"
            r"|required|retired|trained|certified"
            r"|licensed|divorced|involved|located|scheduled|booked|used)\w{2,}ed (?:that|about|by|to"
            r"|with|of|in|at|if)",
            r"(?:i|we)(?:'m|'re|'ve|'ve been| am| are| have been)? (?:[\w']+ ){0,3}?(?:need(?:ing)?"
            r"|want(?:ing)?"
            r"|look(?:ing)? (?:for|into|at|forward)"
            r"|try(?:ing)?|tried|ready to|keep(?= \w+ing\b)|don't expect|wonder(?:ing)?|hop(?:e|ing)"
            r"|wish"
            r"|think|thinking|guess|don't know"
            r"|don't understand|see|getting(?! (?:rid|out of|married|an? new|a dog|a cat))|get an|get"
            r" the"
            r"|asking|was(?! born)|were(?! born)|worried|excited|interested|curious|struggling|aiming"
            r"|planning|preparing"
            r"|considering|meaning to|hear|heard"
            r"|feel|feeling|having (?:trouble|issues|problems|some|a hard|difficult\w*)|concerned"
            r"|leaning"
            r"|waiting|looking to|come across|coming across|came across|know(?= (?:it|that|the|how"
            r"|what|this|i)\b)|focus\w*|remember|understand|stuck|confused|nervous"
            r"|glad|sure|drawn|open to|noticed|wanted)(?! you)",
            r"(?:i|we) still (?:have|need) to|(?:i'd|i would|we'd) (?:also |really )?(?:like to|love)"
            r"|let me|let's (?:go through|look"
            r"|see|talk|start|move on|dive|get|try)|help me|tell me|show me|(?:starting"
            r"|going) to need|(?<!\w )here(?:'s| is| are)"
            r"|(?:i|we) should (?:also |probably |still |really )?(?!not|never|only|always|also|prob"
            r"|still|real)\w+"
            r"|(?:i'm|i am|we're|we are) (?:\w+ )?(?:going to|gonna) (?:check|try|look|give|see|keep"
            r"|have)"
            r"|(?:i|we) have an? (?:picture|photo|pic|question|idea|feeling|hunch)"
            r"|(?:i'll|i will) (?:also |definitely |make |try |keep you|let you|check|look|see|start"
            r"|do that|get back)",
        ),
        "perfect": cue(
            r"(?:i|we|he|she|they) (?:\w+ )?(?:\w+ed|went|bought|got|met|saw|had|did|made|found|took"
            r"|wrote|ran|came|left|heard|read)"
        ),
        # "…, we're dropping that".
        "open_end": cue(r"(?:that|this|those|them)[.!]*$"),
        "fails": cue(
            r"(?:aborted|crashed|broke down) (?:\w+ )?(?:with|on|because|after)|failed(?: with| because"
            r"| to| on| again|[.!]*$)|fails? (?:with|on|because|when|again)|(?:did"
            r"|does)(?:n't| not) (?:\w+ )?(?:work|help|solve|fix|compile)|didn't help|no luck|dead end"
            r"|made (?:it|things) worse|to no avail|without success|gave up on|blew up|broke (?:the"
            r"|everything)|(?:not|\w+n't|never) (?:try|attempt|do|use|make|buy|repeat) (?:that|it|this"
            r"|those)"
            r"(?: \w+)? again"
            r"|did(?:n't| not) (?:make|get|bring|improve)|(?:already|have) tried|did nothing|backfired"
            r"|went (?:badly )?wrong|had no effect|(?:made"
            r"|makes) no difference"
            r"|didn't (?:do|change) (?:anything|a thing)"
        ),
        # What people are like, whoever they are.
        "observes": cue(
            r"^(?:[a-z]+ )?[a-z]{3,}s (?:always |never |only |just )?(?:want|think|believe|forget"
            r"|complain|lie|expect"
            r"|understand)"
        ),
        "says": cue(
            r"says|said(?! (?:yes|no)\b)|used to say|keeps? (?:saying|yelling|telling|shouting"
            r"|preaching)|claims|claimed|advis(?:es|ed)|recommends|recommended"
            r"|warns|warned|yells|shouts|preaches|swears|swore|argues|wrote|writes|thinks|according to"
            r"|told|tells|mentions"
            r"|reads|states that"
        ),
        "task": cue(
            r"(?:please |can you |could you |i want you to )?(?:(?:correct|fix|check|improve|edit|polish"
            r") (?:this|that|the following)(?=:|$)|(?:correct|fix|check|improve|edit"
            r"|polish) (?:\S+ ){0,4}?(?:sentences?|text"
            r"|paragraph|grammar|wording|spelling|draft|e?-?mail|letter)|translate|rewrite|rephrase"
            r"|proofread|tell (?:me|us) an? (?:\w+ )?(?:story|joke|poem)"
            r"|paraphrase|summari[sz]e|pretend|act as|imagine|role-?play|you are an?|let's play|play"
            r" an?(?= )"
            r"|write (?:me |us )?an? (?:\w+ ){1,3}?(?:about|for|on|of|who|that)|write (?:me |us )?(?:an?"
            r"|the) (?:\w+ )?(?:story|poem|song|dialogue|scene|script|character"
            r"|monologue|speech|letter|novel|mail|email|function))"
        ),
        "generic": cue(r"(?:one|people|everyone|nobody|everybody)"),
        "wants": cue(
            r"(?:i'd|i would|we'd) like (?!to\b|you\b|it\b)\w+|(?:i|we)(?: \w+)? (?:want|expect"
            r"|insist on|wish for)(?! to\b)"
        ),
        "ago": cue(
            r"(?:days?|weeks?|months?|hours?|minutes?) ago|last (?:night|weekend|mon|tues?|wed"
            r"|thurs?|fri"
            r"|sat|sun|" + DAY + r")|recently|the other day"
        ),
        "likes_the": cue(r"(?:i|we) (?:really |always |also )?(?:love|like|enjoy|hate|prefer) the"),
        # What somebody does not have is as much a fact as what they have.
        # What somebody does by habit, for a living or at home: the simple present of the first person.
        "life": cue(
            r"(?:i|we) (?:(?:also|currently|mostly|only|still) )?(?:work|live|teach|study|drive|own|head"
            r"|speak|lead|manage|play|train|commute|rent|use|keep"
            r"|volunteer|grow|breed|run(?! into)|sell|file|share)(?! (?:it|that|this|up)\b)"
        ),
        "to_me": cue(
            r"^(?:please )?(?:just |only )?(?:give|show|tell|send|list|name|explain|find|get|make"
            r"|write|draw|build|bring|pick"
            r"|suggest|recommend|create)(?: to| for)? (?:me|us)(?! (?:no|any)\b)"
        ),
        "lacks": cue(
            r"(?:i|we) (?:don't have|do not have|have no|don't own)(?! (?:any|time|the|to|idea|problem"
            r"|doubt|big|plans?|words|regrets?"
            r"|clue|much|enough|it|that|an? (?:clue|choice|problem)))"
        ),
        "finite": cue(
            r"is|are|was|were|has|have|had|am|will|must|may|can|should|do|does|did|goes|gets?|isn't"
            r"|aren't|doesn't|don't|needs?|happens?|takes?"
            r"|\w+'(?:s|re|m|ve|ll)"
        ),
        "stays": cue(r"stays?|remains?"),
        "law": cue(r"mandatory|compulsory|obligatory|forbidden|prohibited|banned"),
        "after_all": cue(r"after all|for good|in the end|once and for all"),
        "can": cue(r"can(?!'t|not| only| hardly| barely)|could|able to"),
        "object_it": cue(
            r"(?!like|love|find|if|when|that|and|but|so|because|since|as)[a-z]+ (?:it|them|this(?= (?:at"
            r"|in|on|for|to|as|with)\b))(?!'| (?:is"
            r"|was|has|will|would|when|if|comes|takes|costs|\w+s (?:on|in|at|with|from|under|by)\b))"
        ),
        "you": cue(r"you(?:'ve|'re|r)?"),
        # A law of nature, an average, history: nothing of the people who talk.
        "world": cue(
            r"\d[\d.,]* ?(?:°|degrees?|kilomet(?:er|re)s?|km|miles?|met(?:er|re)s?|tons?|tonnes?"
            r"|light[- ]years?"
            r"|million|billion)|(?:\d+|\w+) hours a day|normally|usually|typically|by default|on average"
            r"|(?:in|since|around) 1[0-8]\d\d"
        ),
        "math": cue(r"\\|[=×]|probability|equations?|(?:comes|works|turns) out to"),
        # What goes on at present, or has for some time.
        "ongoing": cue(
            r"(?:i'm|we're|i am|we are|i've been|we've been|i have been|we have been|been|is|are)(?:"
            r" (?:also"
            r"|really|actually|just|still|currently"
            r"|already|mostly|always))* (?!going to|based|called|named|allerg\w+|living|using)\w{2,}ing"
        ),
        "for_years": cue(
            r"for (?:\S+ )?(?:years|months|decades)|for (?:over |about |almost )?an? (?:year|decade)"
            r"|since (?:\S+ )?(?:(?:19|20)\d\d|" + MONTH + r"|childhood|school|university|college|birth)"
        ),
        "generic_of": cue(
            r"the [\w-]+ of (?!the\b|our\b|my\b|this\b|all\b|mr|ms|mrs|dr\b|\d)(?:\w+ing"
            r"|[\w-]+) (?:is|are|was|comes)"
        ),
        "deed": cue(
            r"(?:i|we) didn't (?!like|want|need)\w+|(?:i|we)(?:'ve|'d| have| had| did)? (?:(?:just"
            r"|also|already|actually|recently|even"
            r"|finally|really|managed to) )*"
            r"(?!need|used\b)(?:\w{2,}ed|went|bought|got(?! a\b| an\b| \d| the\b)|met|saw|did|made"
            r"|found|took|wrote|ran|came|left|heard|read|felt"
            r"|thought|knew|told|wore|hit|cut|began|became|put|gave|had(?! been)|come|seen|done|gone"
            r"|taken"
            r"|written|worn|set)\b"
        ),
    },
    values=VALUES,
)
