"""English: lists of words. Data only; the same names exist in every language."""

# Words for the same thing in everyday talk and work: what one sentence calls one, another calls another.
CONCEPTS = {
    "meeting": "meeting standup stand-up daily weekly sync call appointment jour fixe get-together",
    "release": "release deployment deploy deploys ship shipping launch go-live rollout no-release",
    "money": "money budget amount price cost costs salary fee rate pay paying bill paid",
    "invoice": "invoice invoices billing billed",
    "rent": "rent landlord landlady lease",
    "home": "flat apartment house home live lives address moved",
    "renovation": "bathroom renovation refurbishment remodel kitchen",
    "train": "train departure departs rail platform",
    "flight": "flight plane take-off takeoff flying airline airport",
    "travel": "trip travel vacation holiday",
    "memory": "ram memory",
    "disk": "disk ssd storage drive",
    "answer": "answer answers reply replies response responses texts text writing",
    "test": "test tests testing suite",
    "search": "search searching",
    "cache": "cache cached caching",
    "database": "database db postgres postgresql mysql mariadb sqlite mongodb",
    "production": "production prod live",
    "staging": "staging",
    "hosting": "hosting server servers cluster host datacenter",
    "interface": "api interface endpoint",
    "request": "requests request calls",
    "boss": "boss manager supervisor lead report reports",
    "contact": "contact liaison point-person rep",
    "doctor": "doctor gp dentist physician practice",
    "name": "name called named renamed",
    "class": "class grade year school",
    "job": "job work works employer company position employed",
    "diet": "meat fish chicken beef pork vegetarian vegan eat eating",
    "drink": "coffee tea water drink milk",
    "sport": "marathon half-marathon run running race training gym",
    "car": "car drive vehicle van",
    "phone": "phone mobile number",
    "mail": "mail e-mail email",
    "opening": "opening opens closes open closed",
    "course": "class lesson rehearsal practice course",
    "deadline": "deadline due submission",
    "backup": "backup backups",
    "password": "password key credentials token",
    "editor": "editor ide",
    "branch": "branch trunk",
    "allergy": "allergic allergy intolerant intolerance",
    "colour": "colour color blue red green grey gray yellow black white",
    "size": "size",
    "team": "team people staff colleagues crew",
    "supplier": "supplier vendor carrier courier",
    "insurance": "insurance insured",
    "bank": "bank account",
    "shift": "shift on-call duty",
    "homeoffice": "office remote",
    "holiday": "leave vacation",
    "task": "charge responsible leads heads looks handles",
    "father": "father dad",
    "mother": "mother mum mom",
}
# What a statement may be changed by without being about something else.
EXCLAMATIONS = "ah oh oops sorry wait no correction mistake typo damn well actually"
GENERIC = (
    "total monday tuesday wednesday thursday friday saturday sunday week month year day hour minute end start"
    " thing time now these days everything everyone reason spot advice folks mr mrs ms dr new good way while"
    " until aside longer any more instead rather first second one just go going stuff lot back max number"
    " moment place weekly future today last next without"
)

# Sentence cues: the phrases by which a sentence shows what it does. An underscore is a space.
OPENERS = "please ok okay now then so and also but hi hey hello next yes no"
COMMANDS = """
    add adjust analy[sz]e build calculate change check clean compare compute convert create debug define
    delete deploy describe design draft edit explain extend extract find fix format generate give help
    implement improve insert install integrate let's list look make merge migrate move optimi[sz]e outline
    plan prepare print propose provide put read recommend refactor remove rename replace review rewrite run
    search set show sort split suggest summari[sz]e tell test translate try update upgrade use verify write
"""
ASKS = """
    (?:can|could|would|will)_you please i_would_like i'd_like i_(?:want|need)_(?:you|to|an?|the|some|help)
    help_me what_(?:is|are|does|about) how_(?:do|can|should|would|to)_i? why_(?:is|are|does|do)
"""
AIMS = """
    (?:my|our|the)_(?:main_|overall_|final_|ultimate_)?(?:goal|aim|objective|purpose|plan)_(?:is|here)
    (?:i_am|i'm|we_are|we're)_(?:trying|aiming|hoping|planning|looking)_to
    (?:i_am|i'm|we_are|we're)_(?:working_on|building|developing|writing|creating|planning|preparing)
    (?:i|we)_(?:want|need|would_like|plan|intend|hope)_to (?:i'd|we'd)_like_to
"""
GOALS = """
    (?:my|our|the|new)_(?:main_|overall_|final_|ultimate_|new_)?(?:goal|aim|objective)_(?:is|was|has)
"""
_PAST = (
    r"(?:\w{3,}ed|built|made|wrote|written|found|ran|set|put|took|taken|got|chose|did|done|split"
    r"|went|sent|bought)"
)
REPORTS = rf"""
    (?:i|we)(?:'ve|_have)?_(?:now_|just_|also_|successfully_|already_)?{_PAST}
    (?:has|have)_been_(?:now_|successfully_|already_)?{_PAST} (?:was|were)_(?:successfully_)?{_PAST}
    (?:is|are)_(?:now|done|fixed|complete|finished|ready|in_place) (?:all|the)_(?:\d+_)?tests?_(?:now_)?pass
    \d+_passed turn(?:s|ed)_out the_(?:result|cause|problem|reason|root_cause|answer|total)_(?:is|was)
    your_\w+_(?:\w+_)?(?:is|was|has_been)
"""
# Reports only at the beginning of a sentence.
REPORT_OPENINGS = """
    done fixed added updated created implemented renamed removed changed moved deployed merged finished
    booked cancell?ed resolved installed migrated refactored
"""
OPEN_POINTS = r"""
    to-?do fixme tbd next_steps? as_a_next next_(?:up|we|i)
    still_(?:open|needs?|ha(?:ve|s)_to|missing|pending|to_do|unclear)
    (?:not|is|are|isn't|aren't|haven't|hasn't)_(?:\w+_)?yet left_to_do follow-?up
    outstanding unresolved open_(?:question|issue|point|item)s?
    (?:i'm|we're|i_am|we_are|still)_waiting_for remind_me_(?:to|about|that|tomorrow) remaining_(?:work|tasks?)
    by_(?:tomorrow|next|monday|tuesday|wednesday|thursday|friday)
"""
FAILURES = r"""
    (?:does|did|do|will|would|could)(?:n't|_not)_(?:\w+_)?(?:work|help|solve|fix|compile|start)
    (?:won't|can't|cannot)_(?:work|be_(?:used|done|changed|combined))
    (?:isn't|is_not|not)_(?:possible|supported)
    no_luck same_(?:error|problem) still_(?:fails?|failing|broken|crash(?:es|ing)?|not_working|wrong|the_same)
    (?:has_|have_|it_|that_|this_|which_)failed failed_(?:with|because|on|again|to)
    fails_(?:with|on|because|when)
    dead_end (?:i|we|was|have)_(?:reverted|rolled_back) gave_up to_no_avail without_success
    made_(?:it|things)_worse
"""
PROHIBITION_OPENINGS = "do_not don't never no_more stop avoid"
PROHIBITIONS = r"(?:must|may|shall)_not mustn't (?:must|should)_never not_allowed"
COURTESIES = """
    congratulations yes_that yeah hey long_time i'll_definitely if_so please_(?:provide|confirm|let)
    sure certainly of_course great thanks thank_you you're_welcome absolutely happy_to glad got_it hi hello
    sounds_good perfect that's_(?:great|awesome|wonderful) wow i'd_be_happy
    i'm_(?:happy|glad|sorry|here|excited)
    here_(?:is|are) here's below let_me_know feel_free i_hope hope_this good_luck remember
    note_that by_following in_(?:summary|conclusion)
    if_you_(?:have|need|want|would|don't) just_let would_you_like looking_forward is_there_anything how_can_i
    let's_(?:dive|get_started|start)
    you_can you_could you_should you_may this_(?:will|ensures|allows|way|approach|example)
"""

# Words in pasted text: headers, separators and greetings of mails, and what introduces a pasted document.
MAIL_HEADERS = "From To Sent Subject Date"
MAIL_SEPARATORS = "Original_Message Forwarded"
MAIL_QUOTE_OPENINGS, MAIL_QUOTE_VERBS = "On", "wrote"
MAIL_GREETINGS = "Dear Hello Hi"
DOCUMENTS = """
    text article e-?mail mail document log logs output message transcript essay story paragraph passage
    readme lyrics poem prompt policy review
    page pages webpage website site posts? comments? thread newsletter excerpt quote snippets?
    results? tweet source
"""
# Verbs that ask for work on a text, and those that ask to look at one; words that point at it.
TEXT_TASKS = (
    "summari[sz]e summary sum_up translate proofread paraphrase rephrase rewrite reword condense tl;?dr"
    " correct(?=\\s(?:this|these|the)\\b)"
)
READING_TASKS = """
    explain review analy[sz]e check correct comment interpret means? think read look improve simplify extract
"""
TEXT_POINTERS, POINTS_UP = "this it that these text page article following above below", "above"
# Verbs of what others said, and words for how something came to the person.
REPORTS_SPEECH = "said says wrote writes states stated reads claims claimed reports reported posted replied"
RECEIVED = "found copied pasted received forwarded"
# Words of a sentence that holds from now on, and of one whose speaker is the person.
STANDING = "always never from_now_on whenever remember every_time"
FIRST_PERSON_SPEAKERS = "i we"
# Styles of headings in documents, as files name them (sometimes without letters that are not Latin).
TITLE_STYLES, HEADING_STYLES = "title", "heading"
# Abbreviations whose dot does not end a sentence, as they are written.
DOTTED = "etc vs approx Mr Mrs Ms St Prof Dr No max min"
# Words of a program's output that say an error, and those before them that deny it.
ERRORS = """
    error errors exception traceback failed failure fatal panic panicked segfault abort(?:ed)? denied
"""
ERROR_COUNTS, ERROR_DENIALS = "errors? failures? failed", "no zero without"

# Letters beside those of the Latin alphabet.
CAPITAL_LETTERS, SMALL_LETTERS = "", ""

# Words of clocks and calendars as they are written; months and weekdays in their order.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
MONTH_ABBREVIATIONS = (
    "Jan", "Feb", "Mar", "Apr", "", "Jun", "Jul", "Aug", "Sept Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
# How a month begins behind the number of its day, where a dot stands between them.
MONTHS_AFTER_DAY = ""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Short names of weekdays that mean nothing else, and those that are one only before a date.
WEEKDAY_ABBREVIATIONS, WEEKDAY_INITIALS = "Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun", ""
# The weekend, and what of it makes a sentence a dated one.
DATED_WEEKEND = ""
WEEKEND = "weekend"
# The numbers from nought on, and "one" where it counts days.
NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
ONE_OF_UNITS = "one"
# The month that a season begins with, the days from today, and how many days a stretch of time has.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
RELATIVE_DAYS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
NEXT_ONE = "next coming"
LAST_ONE = "last past"
THIS_ONE = "this"
THIS_MORNING = "this_morning"
PERIODS = "week month year"
WEEKEND_FORMS = "weekend"
DURATIONS = "uptime elapsed duration took runtime remaining"
TIME_ZONES = (
    "(?:Central_European|Eastern|Central|Mountain|Pacific|British|Coordinated_Universal)"
    "(?:_(?:Standard|Daylight|Summer))?_Time"
)
# Units with the sign that stands for them.
UNITS = {
    "gb": "gb gigabyte gigabytes", "mb": "mb megabyte megabytes", "tb": "tb terabyte", "km": "km kilometer",
    "kg": "kg kilo", "%": "% percent", "l": "litre litres", "cm": "cm", "m": "m", "s": "seconds second",
    "ms": "ms milliseconds", "min": "minutes minute", "h": "hours", "d": "days", "w": "weeks",
    "mo": "months", "y": "years",
}  # fmt: skip
UNIT_NAMES = {
    "€": "euro eur", "$": "dollar dollars usd", "%": "percent", "s": "sec secs second seconds",
    "min": "min mins minute minutes", "h": "hr hrs hour hours", "d": "day days",
}  # fmt: skip
# Languages as they are spelled in every language, each with the German word.
LANGUAGE_NAMES = {
    "german": "deutsch", "english": "englisch", "french": "französisch", "spanish": "spanisch",
    "italian": "italienisch",
}  # fmt: skip

# Words between a name and its number that carry no meaning.
FILLER_WORDS = """
    is are was were equals costs cost of at by from until about around exactly only for on in the a an to per
    and or than has have be been takes set using use uses also so then now up over under like it vs approx
    every oz lb lbs pounds minutes hours days weeks months years get got recently first last between
"""
# Words that any two texts may share.
WEAK_WORDS = """
    time times day days week weeks month year years hour hours minute minutes new good best big small many
    much use using make get take go need want come write give say reason question answer source sources today
    tomorrow yesterday worth still late line name list thanks first second last next percent usd eur short
"""

# memory: words by which statements that a person made are compared, and secrets are told from their
# descriptions.
# What a statement means the same without, when its value is compared, and when the whole is compared.
FILLERS = "the now currently already"
HARMLESS = "the a an is are that this these those there please also just very really"
# Words without which a statement means something else.
TURNS = (
    "never hardly rarely seldom sometimes often always almost nearly former formerly old new planned maybe"
    " perhaps probably possibly except unless until since about around only least most"
)
# Verbs whose value is one at a time: when it is a number, when it is one of several rivals, when it is a
# place.
MEASURE_VERBS = """
    is are has have costs cost takes needs uses runs run listens starts ends closes opens lasts equals expires
"""
RIVAL_VERBS = "live lives located hosted deployed runs listens stored based"
PLACE_VERBS = "live lives located hosted based"
PLACE_WORDS = "in at"
EMPLOYMENT = "work/at work/for works/at works/for"
NAMING_VERBS = "called named"
WISH_VERBS = "should must prefers prefer shall"
BE = "is are"
# What may stand between a verb and its number.
BEFORE_NUMBER = (
    "at on to in after for of by until from since about around only per within every least most be"
)
NUMBERED = "port version release python java node php ruby django level"
ONE_OF_MANY = "a an one another some"
USE_VERBS = "use uses using used run runs live lives work works is are stay stays stick chose store"
NEGATIONS = "not no never anymore"
WITHOUT = "without"
# What comes with a negation, and what with its absence, and means nothing else there.
WITH_NEGATION = "longer any more"
AROUND_NEGATION = "do does did don't doesn't a an"
ROLE_WORDS = "as for in on at"
FOR = "for"
LANGUAGES = "english german french spanish italian dutch polish portuguese"
COUNTRIES = """
    germany austria switzerland france italy spain portugal poland denmark sweden norway finland iceland
    ireland belgium netherlands luxembourg england scotland wales greece turkey croatia hungary romania
    bulgaria ukraine russia czechia slovakia slovenia estonia latvia lithuania serbia usa uk america canada
    mexico brazil argentina chile china japan india korea vietnam thailand indonesia israel egypt morocco
    nigeria kenya australia
"""
REGIONS = "europe asia africa scandinavia california texas florida bavaria saxony hesse"
OPPOSITES = """
    short/long short/detailed brief/long brief/detailed concise/detailed concise/verbose short/verbose
    formal/informal formal/casual enabled/disabled on/off open/closed public/private allowed/forbidden
    active/inactive free/paid dark/light required/optional
"""
# Said of a password instead of the password.
VALUE_DESCRIPTIONS = """
    not no a an the too wrong incorrect correct right invalid valid expired required optional missing empty
    blank set unset unknown reset changed safe secure weak strong hashed encrypted stored saved shared kept
    lost forgotten gone here there fine ok okay secret default being needed in on at as str string text
    bytes see same never always only
"""
# What a preference says of a field of the profile: values with the patterns of their words.
ANSWER_LENGTHS = {
    "short": r"short|brief|concise|terse|succinct",
    "detailed": r"detailed|long|thorough|in depth|comprehensive|verbose",
}
# Patterns of what a preference denies, what answers are called, and how a person gives their name.
DENIALS = r"not|no|never|don't|doesn't"
ANSWERS = r"answer|repl|respon|explanation"
INTRODUCTIONS = r"call me|my name is"
# What names the thing that was left, and the new one before it.
INSTEAD = "instead_of rather_than"
# What a text has that may have a key with its name.
KEYED_HINTS = "key token secret"
# What a key for something is called, as a pattern; and the words between it and its value.
KEY_NAMES = r"pass(?:word|wd|phrase|code)|(?<![a-z])pwd"
KEY_PREPOSITIONS = "for of to on in at"
KEY_VERBS = "is was equals now"
KEY_ADVERBS = "now still"

# Searching: words without a meaning of their own, as they are folded (ae, oe, ue), words that tell the
# language though another one has them too, and words that do not tell it though only this one has them.
STOP_WORDS = """
    a about above after again against all also am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don down during each
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how
    i if in into is isn it its itself just let ll me more most my myself no nor not now of off on once
    only or other our ours ourselves out over own please re same she should shouldn so some such tell than
    that the their theirs them themselves then there these they this those through to too under until up
    ve very was wasn we were weren what when where which while who whom why will with won would wouldn you
    your yours yourself
"""
TELLING_WORDS = ""
UNTELLING_WORDS = "i re ll ve"
# How letters are spelled where they are missing on a keyboard.
SPELLINGS: dict[str, str] = {}
# Abbreviations whose dot ends no sentence, in small letters.
ABBREVIATIONS = """
    etc max min st jan feb apr jun jul aug sep sept oct nov dec dr prof mr mrs ms jr sr vs e.g i.e al fig no
    vol pp approx dept est inc ltd corp
"""

# Reading questions. Numbers and times that may answer one; how one begins, joins another, leans on another.
ANSWER_NUMBERS = """
    one two three four five six seven eight nine ten eleven twelve dozen hundred thousand once twice
"""
ANSWER_TIMES = """
    yesterday today tonight tomorrow ago last next week weekend month year morning evening
"""
QUESTION_WORDS = "who whose whom what what's when where which why how"
QUESTION_OPENERS = "and so but now ok okay please"
GOES_BACK = "back_to remember remind earlier regarding previous(?:ly)? tell_me"
OWN_PRONOUNS = "i me my mine myself we our ours us"
# Who speaks of themselves alone, and what a team has together.
PERSONAL_PRONOUNS = "i me my mine myself"
REPOSITORY_WORDS = "repo repository project codebase code_base monorepo"
DEFINITE_WORDS = "the this that these those"
# Things of which the world has one.
ONLY_ONES = "world earth sky moon sun"
# What comes before anything at large that has something, and what says whose it is.
OF_ANYTHING = "of between"
OTHERS_OWN = "your his her their its"
# The most of its kind, and yet one that both sides know.
NEWEST = "latest newest"
QUESTION_VERBS = """
    can could may must do does did is are was were will would should has have
"""
QUESTION_SUBJECTS = "i you he she it we they there the my our"
AND, AS_WELL, AND_OR, PLAIN_AND = "and", "as_well_as", "and or", "and"
ELLIPTIC_OPENERS = "and or but also so then"
QUESTION_FINITE = "is are was were do does did has have had can could will would should"
# Words that only ask, and would be looked for as if they were the subject.
ASKING_WORDS = "many much often"
# Questions about the world, one a line: what is near to one of them is seldom about the people talking.
GENERAL_QUESTIONS = """
    What is the capital of Peru?
    Which mountain is the highest in Africa?
    How many people live in China?
    Which country has the most islands?
    When did the First World War begin?
    Who discovered penicillin?
    Who was the second president of the United States?
    Who wrote Moby Dick?
    Who painted the Sistine Chapel?
    How many keys does an organ have?
    What causes an earthquake?
    Why is snow white?
    How fast can a cheetah run?
    What do hedgehogs eat?
    What is the chemical symbol for silver?
    At what temperature does lead melt?
    How does a jet engine work?
    What is a black hole?
    How do you calculate the area of a triangle?
    What is 15 times 12?
    What is the square root of 81?
    How long does it take to cook rice?
    What is a simple recipe for tomato soup?
    Which herbs go well with lamb?
    How do I get rid of ants?
    How do you change a tyre?
    What helps against a sore throat?
    How much sleep does an adult need?
    How do I read a file in Java?
    What does the command chmod do?
    What is the difference between a stack and a queue?
    How do you say butterfly in French?
    What does the word ephemeral mean?
    What is the plural of mouse?
    How do I write a cover letter?
    What is inflation?
    How does a mortgage work?
    What are the rules of cricket?
    Tell me a short story.
    What is the weather like?
    How are you?
    What can you do?
    Can you say that more simply?
"""
# Questions about the affairs of somebody, one a line: what is nearer to one of them than to one about the
# world may be answered by what was said.
OWN_QUESTIONS = """
    When is the appointment?
    When does the course begin?
    When do the guests arrive?
    By when does the form have to be handed in?
    Until when is she on holiday?
    Since when have they been married?
    How long is the contract valid?
    How much did the repair cost?
    How much rent do they pay?
    How many chairs are needed?
    How many days of leave are left?
    How old is the daughter?
    How heavy may the parcel be?
    Who is responsible for the accounts?
    Who feeds the cat on Sunday?
    Who gave her the ring?
    Who is coming to the party?
    Which bank is the loan from?
    Which school do the children go to?
    Which train did they take?
    Which medicine does he take?
    Which colleague is ill?
    Where are the keys?
    Where did they spend the holidays?
    Where is the bicycle parked?
    In which drawer are the passports?
    What is the name of the neighbour?
    What is the number of the order?
    What did the doctor say?
    What did they give her for her birthday?
    What was decided at the meeting?
    What was the reason for the delay?
    What must not be forgotten?
    What is still missing for the journey?
    What is next on the list?
    Why was the concert cancelled?
    Why did he change his job?
    How did the exam go?
    How does the boss want the report?
    Has the ticket been paid?
    Is the car insured?
    Does she eat fish?
    Has the parcel arrived?
    Which language is the app written in?
    Which branch has the fix?
    What is the address of the test server?
    Who merges the pull requests?
    When does the tender close?
    Which supplier has the spare parts?
    How high is the discount for regular customers?
    What colour is the front door?
    What size are the tiles?
    Which room gets new windows?
    Who mows the lawn?
    What is the heroine's brother called?
    In which year does the novel begin?
    How many chapters are finished?
    What kind of ending did the editor want?
    Which airline did they book?
    Which gate does the flight leave from?
    What does the customer complain about?
    Which dose did the vet prescribe?
    How far is the flat from the station?
"""
# What stands behind "You are" and is no name.
NO_NAMES = "a an the assistant helpful expert"
# Sections of a summary that say what was wanted, not what is so.
WISH_HEADINGS = "requests goal"

# Research. How a question is put, not what it asks for; the same only where the language is known.
MANNER_WORDS = "please currently actually exactly roughly thanks"
MANNER_WORDS_ALONE = ""
# Small words that turn what is asked around, which a search may leave out.
TURNING_WORDS = """
    not no without never except cannot can't isn't don't doesn't won't must should may before after since
    until over above under below than off out up down more most less least few only all other against between
"""
PAST_VERBS = "was were did had"
# What verbs leave behind at the end of a sentence: what is switched on is not switched off.
LEFT_BEHIND = ""
# The same turn in every language, by its English word.
SAME_TURNS = {
    "not": "not no cannot can't isn't don't doesn't won't", "without": "without", "never": "never",
    "except": "except", "must": "must", "should": "should", "may": "may", "before": "before",
    "since": "since", "until": "until", "over": "over above", "under": "under below", "than": "than",
    "more": "more", "less": "less", "only": "only", "all": "all", "other": "other", "against": "against",
    "between": "between", "off": "off", "on": "on", "to": "to",
}  # fmt: skip
# Words that ask for the same thing in every language, by a German word.
SAME_SUBJECTS = {
    "wetter": "weather",
    "vorhersage": "forecast prediction",
    "preis": "price cost costs",
    "kurs": "",
    "nachrichten": "news headlines",
    "öffnungszeiten": "opening open",
    "einwohner": "population inhabitants",
    "hauptstadt": "capital",
    "höchste": "highest tallest",
    "definition": "meaning define",
    "erfunden": "invented inventor invent",
    "geschrieben": "author wrote written",
    "installieren": "install installing installation",
    "temperatur": "temperature temperatures",
    "regen": "rain raining rains",
}
# What says nothing more beside such a word; what is wanted where only the word is named.
BESIDE_SUBJECTS = {"öffnungszeiten": "hours hour"}
IMPLIED_QUESTIONS: dict[str, str] = {}
# What the end of a compound asks for: the Bitcoinkurs is the price of Bitcoin.
COMPOUND_ENDS = ""
# Small words that say what the next word is to the question.
LEADING_WORDS = {"from": "from", "to": "to"}
# Plans that depend on the weather, and the words for it.
WEATHER_WORDS = "weather forecast rain"
WEATHER_PLANS = """
    hike hiking barbecue picnic outdoor outside camping cycling beach garden gardening umbrella jacket coat
    wet sunscreen sailing stroll skiing
"""
# Words for how soon an answer is out of date.
VOLATILITIES = {
    "hourly": "hourly",
    "daily": "daily",
    "weekly": "weekly",
    "monthly": "monthly",
    "permanent": "permanent",
}
# What makes a text of this language that has none of the small words by which it is known.
TELLING_SUBJECTS = ""

# Values of the profile with the patterns of their words, and the languages that answers may be wanted in.
TONES = {"formal": "formal", "casual": "casual|informal"}
ANSWER_LANGUAGES = "English German French Spanish Italian"
