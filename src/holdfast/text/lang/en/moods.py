"""English: how somebody shows feelings, trouble or small talk, by which little is stated. Data only."""

from holdfast.text.lang.shape import cue

MOODS = {
    # What is said to a friend, or to whom one met: a name behind a greeting, a question back, praise.
    "calls": cue(
        r"^(?:(?:\w+ ){0,3}\w+, (?-i:[A-Z][a-z]+)!|(?:thanks|hey|hi|wow|yeah|yep|hello|gotcha"
        r"|congrats|sure)"
        r",? (?-i:[A-Z][a-z]+)(?=[,.! ]))"
    ),
    "asks_back": cue(
        r"(?:what|how) about you|how(?:'s| is| are| have) (?:it going|you(?: been| doing)?|life"
        r"|things|everything)(?=\W|$)"
        r"|(?:with|happening with|up with) you(?=\?)|and you(?=\?)|(?:have|had|did) you ever"
    ),
    "admires": cue(
        r"(?:glad|happy|proud|sorry|great|good|nice|cool|awesome|amazing) (?:to hear|of you|for you"
        r"|you|that you)"
        r"|(?:that|this|it|those)(?:'s|'re| is| are| sounds| looks| must be) (?:(?:so|really|pretty"
        r"|such|an?|very|super) )*"
        r"(?:great|awesome|amazing|cool|nice|wonderful|fantastic|sweet|beautiful|tough|rough"
        r"|inspiring|exciting|fun)"
        r"|(?:sounds|looks) (?:(?:so|really|like) )?(?:great|awesome|amazing|cool|nice|fun|good)"
        r"|you (?:should|have to|need to|gotta|must) (?:\w+ )?(?:try|check|visit|see|watch|read|come"
        r"|go|get|buy)"
        r"|congrat\w+|way to go|well done|good luck|you(?:'re| are) (?:(?:so|such|an?|really"
        r"|the) )*\w+(?=!)"
    ),
    "trouble": cue(
        r"broken|error\w*|fail\w*|crash\w*|not working|doesn't work|isn't working|stuck|slow|timeout"
        r"|(?:is|are|still|again|all) red|confus\w+|problem\w*|bug\w*|(?:an?|my|one|another|quick|any"
        r"|some|have|got|few) (?:\w+ )?questions?|idea\w*|(?:is"
        r"|are|been) down|offline|unreachable|tired|hungry|headache|sick|annoyed"
        r"|stressed|angry|glad|happy|sad|awful|bad|gone|empty|nervous|excited|too (?:slow|big|small"
        r"|long|much|expensive)|my day|lost|bored|feeling|weird|wrong|great|amazing|awesome|cold"
        r"|exhausted|rain\w*|snow\w*|weather|freezing"
    ),
    "mental": cue(
        r"(?:don't|do not) ever (?:quit|give up)|(?:don't|do not|never) (?:you )?(?:worry|know|think"
        r"|mind|care|remember|have|forget|hesitate"
        r"|see|want|need|feel|like|believe|understand|expect|get|really|even|be|tell me|panic"
        r"|let(?= (?:it|that|this|yourself|them|him|her)\b|(?: \S+){1,3} (?:get|bring|stop|tell|fool)\b)"
        r"|stress|mean|give up|quit|give a|miss|bother|sweat|recall|notice|say never|stop|lose)"
        r"|let (?:me|us) know|keep (?:at it|going|pushing|it up|up|trying|fighting|believing)"
        r"|better late than"
        r"|wanna|now or never|never (?:say never|too late|give up)|no (?:problem|worries"
        r"|idea|rush|hurry|need|thanks|wonder|doubt|clue|luck|way|big deal|pressure)|avoid(?:ed|ing|s)"
        # What everybody perceives is an observation: "People always say that."
        r"|^(?:people|everyone|everybody|folks) (?:always |never |only |just |often |rarely )?"
        r"(?:say|see|hear|notice|know|feel|think|forget|believe)s?|^one (?:always |never )?\w+s"
    ),
    # Praise, feelings, what something means to somebody: true for the moment, and of no use later.
    "feels": cue(
        r"(?:has|have) been (?:(?:really|so|very|super) )?(?:nice|great|good|kind|supportive)"
        r"|so (?!far|that|i|we|called)\w+|such an?|finally|(?:is|are) what|makes? me|seems?|sounds?"
        r"|looks? (?:like|good|great)|keeps? me|stoked|a way (?:of|to)|handy|helpful|good one"
        r"|special to me|there for (?:me|us|you)|(?:big|huge|nice) plus|rewarding|scary"
        r"|unbelievable|intense|wild|delicious"
        r"|great (?:success|way|addition|time)|escape|express|on my list|enjoying|loving|setback"
        r"|grateful|thankful|proud|inspir\w+|amaz\w+|awesome|wonderful|incredible|beautiful"
        r"|fun|joy|excit\w+|happi\w+|intrigu\w+|frustrat\w+|passion\w*|dreams?|blessed|lucky"
        r"|peace of mind|worth it|paying off"
        r"|mean(?:s|t)? (?:a lot|so much|the world|everything)|(?:super |really |very )?important to me"
        r"|confidence|powerful|fantastic"
        r"|motivat\w+|relax\w*|good impression|uncertain|unsure|anxious|overwhelm\w*"
        r"|nerve-wracking|can't wait|on my mind|on my nerves|(?:is|are|was) (?:such )?an? (?:\w+"
        r" )?(?:idiot|jerk|moron|nightmare|genius|angel|pain|disaster|hero|legend|saint|clown|liar"
        r"|monster|fool)"
        r"|(?:is|are|'s) (?:ok|okay|fine|safe|precious|the best)|(?:is|are) \w+ing (?:me|us)"
        r"|second nature|cherish"
        r"|(?:really|very|super|pretty) (?:good|great|nice|cool|neat)"
        r"|(?:completely|totally|all|so) (?:done|finished|lost|drained|wiped out)|feel(?:s"
        r"|ing)?(?! free)|losing (?:it|patience)"
        r"|second family|my rock|going well|hard work|mix of|part of me"
    ),
}
