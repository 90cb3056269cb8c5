"""English sentences about a person's own world, as patterns: who they are, what is around them, when, likes.

Each is matched at the beginning of a clause. What is done with a match is decided in `statements`.
"""

from holdfast.compaction.phrases import AMOUNT, DATE, DAY, NAME, NUMBER, PERSON, Patterns, pattern, words

_OFTEN = (
    r"(?:(?:just|also|recently|currently|still|already|now|really|actually|usually|mostly|generally|always"
    r"|only|both|finally|all|mainly|typically|strongly|absolutely|personally|definitely|much) ){0,3}"
)
_RELATIVE = words(
    """
    boss manager wife husband partner girlfriend boyfriend fianc[ée]e? son daughter kids children mother
    mom mum father dad parents sister brother siblings twins? grandmother grandma grandfather grandpa aunt
    uncle niece nephew cousin friend roommate flatmate neighbou?r colleague coworker co-worker assistant
    teacher doctor dentist therapist lawyer accountant landlord mentor supervisor team_lead lead client
    dog cat puppy kitten parrot rabbit horse
    """
)
_ATTRIBUTE = words(
    """
    name surname nickname birthday age address email e-mail phone_number phone job role title profession
    position salary employer company firm business startup shop team department office workplace school
    university major degree hometown home house apartment flat neighbou?rhood car bike laptop computer
    machine camera tv printer router nas gpu cpu os editor ide shell timezone time_zone language
    mother_tongue pronouns budget income rent mortgage savings weight height blood_type diet allergy
    allergies flight train hotel trip vacation wedding anniversary appointment exam interview deadline
    meeting graduation project product website domain repo repository servers? database db cluster stack
    backend frontend rate_limit api pipeline customers clients users suppliers? bank insurance subscription
    contract lease headquarters warehouse fleet account_number iban customer_number order_number
    """
)
_EVENT = words(
    """
    meeting deadline contract exam launch release appointment flight train wedding party trip conference
    interview submission delivery rent lease subscription kick-?off workshop invoice go-?live presentation
    review audit migration course concert move surgery
    """
)
_ROLE = words(
    """
    accountant engineer designer developer director head cto ceo cfo owner contact person admin lawyer nurse
    consultant supplier customer tutor coach trainer
    """
)
_PAST = words(
    """
    bought got went(?!_with) met started finished completed joined moved signed_up ordered received
    graduated adopted sold paid spent earned raised donated attended visited ran hired quit left began
    booked scheduled turned celebrated launched released deployed migrated switched upgraded submitted
    passed won lost wrote read published registered enrolled opened founded married planted renewed
    cancelled canceled replaced took flew drove cycled hiked volunteered reached set_up built
    """
)
_OWNED = words(
    """
    kids? child children sons? daughters? dogs? cats? brothers? sisters? siblings twins allergy degree phd
    master's house flat cabin garden car vans? trucks? bikes? horses? chickens employees drivers servers?
    stores? shops? offices branches customers years_of_experience nas gpus?
    """
)
_BEING = words(
    """
    vegan vegetarian pescatarian allergic_to married divorced engaged single pregnant diabetic left-handed
    retired colou?r-?blind lactose gluten celiac coeliac based_in originally_from self-employed unemployed
    dyslexic deaf blind jewish muslim christian hindu buddhist \\d{1,2}_years_old
    """
)
# "I'm a nurse" is, "I'm a bit lost" is not.
_NOT_BEING = words("bit little lot tad huge big fan beginner newbie total complete few long mess loss")
_ILLNESS = words("diabetes asthma adhd celiac coeliac migraines? arthritis epilepsy type_\\d")

_IS = (
    r"(?: is| are| was| has(?! (?:always|said|told|been))| lives?| works?| studies| starts?| ends?| leaves"
    r"| runs?| uses?| costs?| weighs?| turns)\b"
)
_NOT_NOW = (
    r"(?!.*\b(?:working|broken|failing|crash\w*|error|wrong|slow|annoying|weird|stuck|confus\w+|great"
    r"|amazing|awesome|going)\b)"
)
_OURS = r"(?:my|our)(?: [\w-]+){0,2}?"

WHO: Patterns = (
    pattern(rf"my name(?: is|'s) {NAME}|(?:you can )?call me {NAME}"),
    pattern(
        rf"(?:I am|I'm|we are|we're) {_OFTEN}(?:an?) (?!{_NOT_BEING})[\w-]+(?: [\w-]+)?"
        r"(?: (?:at|for|in|from|with|and|who|living|working|based|by)\b|(?: [\w-]+)?[.!]*$)"
    ),
    pattern(rf"(?:I am|I'm|we are|we're) {_OFTEN}(?:{_BEING}|from (?-i:[A-Z]))"),
    pattern(
        rf"(?:I|we) {_OFTEN}(?:work (?:as|at|for|in|with|on an?|on the)\b|live (?:in|at|with|near|alone)\b"
        r"|study\b|teach\b|grew up\b|was born\b|speak (?-i:[A-Z])|have (?:lived|worked)\b)"
    ),
    pattern(
        rf"(?:I|we|I've|we've) {_OFTEN}(?:have|got|own|drive)(?: got)? (?:an?|{NUMBER}) "
        rf"(?:[\w-]+ ){{0,3}}?{_OWNED}"
        r"(?=[,.;!]|$| (?:who|that|which|named|called|and|with|in|at|for|from|aged|of|on)\b)"
    ),
    pattern(rf"(?:I have|I suffer from|I've had) {_ILLNESS}"),
)
WORLD: Patterns = (
    pattern(
        rf"{_OURS} {_RELATIVE}(?:'s (?:name|birthday|email|number|address|job|wedding))?(?: {NAME})*,?{_IS} "
        rf"{_NOT_NOW}.*(?:{NAME}|\d|\b(?:as|at|in|called|named|an?)\b)"
    ),
    pattern(
        rf"{_OURS} {_ATTRIBUTE}(?: (?:for|of|in|to|at|on) [^,.]{{1,40}}?)?{_IS} {_NOT_NOW}"
        rf".*(?:{NAME}|\d|\bcalled\b)"
    ),
    pattern(
        rf"(?:we|our (?:team|company|firm)) {_OFTEN}(?:uses?|are using|runs?|host|deploy|are on|store"
        rf"|work with|build|sell|make|ship|serve)\b.*(?:{NAME}|\d)"
    ),
    pattern(
        rf"(?:I|I'm|I am) {_OFTEN}(?:use|using|run|running|drive|play) (?!the\b)(?:[\w-]+ ){{0,2}}?{NAME}"
    ),
)
PEOPLE: Patterns = (
    pattern(
        rf"{PERSON}(?: is|'s) (?:my|our|the|a) (?!(?:one|best|only|first|most|same)\b)(?:[\w-]+ ){{0,3}}?"
        rf"(?:{_RELATIVE}|{_ROLE})"
    ),
    pattern(
        rf"{PERSON} (?:leads|manages|heads|runs|owns|is (?:in charge of|responsible for|allergic to)"
        r"|works (?:at|for|in|as)|lives in)\b"
    ),
)
WHEN: Patterns = (
    pattern(
        r"(?!.*\b(?:today|yesterday|tomorrow|tonight)\b)(?:I|we|I've|we've|my \w+|our \w+) "
        rf"{_OFTEN}(?:have )?{_OFTEN}{_PAST} .*(?:{DATE}|{AMOUNT})"
    ),
    pattern(
        rf"(?:the|my|our)(?: [\w-]+){{0,3}}? {_EVENT}[^,.]{{0,50}}?(?:'s| is| ends?| starts?| begins?"
        rf"| takes place| leaves| will be| was moved to| are| runs| expires)\b.*{DATE}"
    ),
    pattern(
        r"(?:I'm|I am|we're|we are|I|we) (?:moving|flying|leaving|starting|getting married|travel\w*|meeting"
        rf"|deploy|meet|pay|back up|release|retiring|turning)\b.*{DAY}"
    ),
    pattern(
        r"(?:I've|I have|we've|we have) been \w+ing .*\bfor (?:about |over |almost |the past )?"
        rf"{NUMBER} (?:years|months)\b"
    ),
)
_NOT_LIKED = words("the how when where what seeing hearing learning all some more")
_NO_TASTE = words("to_know to_see to_hear to_understand to_learn to_add to_ask to_thank")
LIKES: Patterns = (
    pattern(rf"I {_OFTEN}(?:prefer|favou?r)\b"),
    pattern(r"I(?:'d| would) (?:much )?rather (?:have|use|get|see|work|avoid|be|you)\b"),
    pattern(r"my favou?rite (?!part\b|thing about)[\w -]{2,40}?(?: is|'s| are)\b"),
    pattern(
        rf"I {_OFTEN}(?:love|like|enjoy|hate|dislike|can't stand|can't eat|don't (?:like|eat|drink|use"
        rf"|want you to)) (?!{_NOT_LIKED}|{_NO_TASTE})\S"
    ),
    pattern(r"(?:I'm|I am) (?:not |also )?(?:a )?(?:huge |big |real )?(?:fan of|into|fond of) (?!the\b)\S"),
)
