"""English: what a clause begins with, and what that shows. Data only."""

from holdfast.text.lang.shape import any_of, begin

ORDERS = any_of(
    """
    use write answer reply respond speak talk call address name commit push merge deploy release edit
    change touch modify run execute install import add include return show give suggest recommend ask
    check test verify validate delete remove keep put store save log print format indent document
    comment cite quote mention assume treat refer_to stick_to follow respect prefer avoid skip ignore
    stop start begin end explain summari[sz]e translate convert round list order sort limit wait confirm
    tell send read open close create generate make set leave let_me handle escape spell remind
    share track prefix tag sign work build review think consider book schedule forward copy attach
    archive pay
    draw plan find fix look compare design draft describe move rename replace rewrite search help try
    come join turn refrain steer double-check track abbreviate better_put better_use just_use be do
    """
)

BEGINNINGS = {
    "excepts": begin(r"(?:unless|except|other than|with the exception)"),
    "order": begin(
        r"(?:please )?(?:do not|don\'t|never)(?: ever)? (?!been|had|was|were|heard|seen|thought|knew"
        r"|did|got)\w+(?<!ed)",
        r"(?:please )?always (?!been|had|was|were|a|an|the|in|on|up|so|good|nice|fun|happy|there"
        r"|here|willing|ready|glad|love|have)\w+(?<!ed)(?<!ing)",
        rf"(?:please )?(?:(?:always|only|just|better) )?{ORDERS}(?! (?:is|are|was|were|has|have|had"
        rf"|will|must|can|should|may)\b| (?:messages|names|entries|titles|files)\b)",
    ),
    "question": begin(
        r"(?:what|who|whom|whose|how|where|when|why|which)(?:'s|'re)?",
        r"(?:do|does|did|is|are|was|were|can|could|would|will|should|shall|may|might|have|has) (?:you"
        r"|i|we|it|there|that|this|the|one|anyone|somebody|they|\d+)",
        r"any (?:idea|chance)|got any",
    ),
    "asks": begin(
        r"(?:what|how|why)(?:'s|'re)?(?! (?:i|we) (?:want|need|like|prefer|do))",
        r"(?:do|does|did|is|are|can|could|would|will|should|shall|may|might) (?:you|i|we|it|there"
        r"|that|this|the|one|anyone|somebody|they|\d+)",
        r"any (?:idea|chance)|got any",
    ),
    "condition": begin(
        r"(?:if|provided|as long as)(?! (?:you|possible)\b)|(?:should|were|had)"
        " (?:i|we|he|she|it|they|the|my|our)\b"
    ),
    "under": begin(
        r"(?:that|whether|if|when|whenever|unless|until|while|although|though|(?:before|after)(?!"
        r" (?:every"
        r"|each|any)\b)|as if"
        r"|as though|once(?= (?:i|we|you|he|she|it|they|the|my|our)\b)|given that|now that|seeing"
        r" (?:that"
        r"|as))"
    ),
    "cause": begin(r"(?:because|since|as)"),
    "relative": begin(r"(?:who|which|that|whose|where)"),
    # "…, didn't help at all": it says not what.
    "topicless": begin(r"(?:won't|will not|didn't|did not|doesn't|does not|hasn't|wasn't)"),
    "of_which": begin(r"(?:at|by|for|from|in|of|on|to|with) (?:which|whom|whose)"),
    "goes_on": begin(
        r"(?:please|that|whether|without|instead|rather than|rather|not|never|nor|unless|until|except"
        r"|if|when|whenever|because|since|so that|as"
        r"|even if|especially|mainly|no (?:exceptions|matter)|only|too|in which|who|which|whose"
        r"|including|test|say|namely|or|otherwise|specifically|like|such as|e\.g)"
    ),
    "frame": begin(
        r"(?:for|with|when|if|unless|until|while|once|in|on|at|from|after|before|since|during|under"
        r"|whenever|as|regarding"
        r"|about)"
    ),
    "none": begin(
        r"neither(?= .* nor )|(?:(?:please|absolutely|definitely|strictly) )?no(?= )(?! (?:idea|one"
        r"|matter|prob|probs"
        r"|biggie|sweat|joke|kidding|such"
        r"|problem|worries|thanks|need|rush|way|doubt|luck"
        r"|clue|longer|exceptions|thank|wonder|this|that|it|the|there|you|i|we|,))"
    ),
    "points": begin(r"(?:it|that|this|these(?! days)|those|they|he|she)(?:'s|'re|'ll)?"),
    "name": begin(r"(?-i:[A-Z])[\w.'-]+", r"[a-z]+[-_]?\d[\w.-]*"),
    "shuns": begin(
        r"(?:please )?(?:stop|quit|avoid|refrain from|steer clear of|stay away from|keep away from"
        r"|hands off|skip|you can (?:stop|drop|skip))(?! (?:by|there|it|that|here|at|this|the"
        r"|now))(?= \S)"
    ),
    "pronoun": begin(r"(?:he|she|they|one)(?:'s)?"),
    # A free relative clause: what follows it holds for everybody.
    "my_own": begin(
        r"(?:my|our) [\w-]+ [a-z]{3,}s(?! of)(?= )|(?:my|our) (?:\S+ ){1,3}?(?:is|are|has|have"
        r"|uses?|runs?|lives?|works?)"
    ),
    # Things that people have and call by their kind.
    "own_thing": begin(
        r"(?:the|this) (?:\w+ )?(?:project|repo\w*|team|company|office|app|shop|website|code ?base"
        r"|backend|frontend|server|database|build"
        r"|garden|flat|apartment|house|kitchen|car|cellar|workshop|club|choir|school|nursery"
        r"|landlord|client|customer|budget|contract)s?"
    ),
    "whoever": begin(r"(?:whoever|anyone who|everyone who|those who)"),
    "sticks": begin(r"(?:please )?(?:always )?(?:stick to|keep to|stay with|adhere to|follow|respect)"),
    # A part that has lost its sentence.
    "fragment": begin(
        r"(?:especially|like|including|such as|rather than|similar to|specifically|except|kinda"
        r"|just like|as (?:(?-i:[A-Z])\w+ )?\w+ed|as (?:i|we|you|he|she|they)|which|than|but not"
        r"|as well as|a (?:photo"
        r"|pic\w*) of"
        r"|got it)",
    ),
    "subjectless": begin(
        r"(?:even |also |finally )?(?:have(?! (?:the|all|every|each|it|them|your)\b)|has|had|am|was|were"
        r"|is|are|got|been"
        r"|get(?= an?\b)|consistently"
        r"|(?:just |simply |mostly )?being|acting as|thanks (?:for|to)|thank you for)(?= \S)"
        r"(?! (?:you|i|we|it|there))"
    ),
    # One too, where no verb follows.
    "opens": begin(
        r"(?:about|given|during|while|plus|after|before|to \w+|with|as|for|on|in|at|from|based on|since"
        r"|than|rather|of|by|(?!need|speed|feed|seed)\w{3,}ed"
        r"|(?:\w{4,}ly )?(?!nothing|anything|everything|something|during)\w{3,}ing"
        r"(?! (?:is|are|happens?|goes|needs|must|works|takes)\b))"
    ),
    "bound": begin(
        r"(?:with|through|by|of|than|based on|(?!need|speed|feed|seed|nothing|anything|everything"
        r"|something)\w{3,}(?:ing|ed))"
    ),
    # "At the exhibition which I attended": all that has a verb only tells which one.
    "phrase_only": begin(
        r"(?:for|at|on|in|with|during|after|from|by|about) (?:the|an?|my|our|this|that) "
        r"(?:(?!(?:i|we|he|she|they|it|you|is|are|was|were|has|have|had|will|must|can)\b)\S+ ){1,6}?"
        r"(?:which|that|who) (?:i|we|he|she|they)"
    ),
    # The part of a list, or of a sentence, that explains the noun before it.
    "apposed": begin(
        r"(?:(?:mr|mrs|ms|dr|prof)\.? )?(?-i:[A-Z])[\w.'-]*(?: (?:(?-i:[A-Z])|v?\d)[\w.'-]*){0,3}(?=,"
        r"| (?:who|which"
        r"|that|for|at|from|since|on)\b)"
        r"|an? (?:\S+ ){0,4}?\S+(?=,| (?:who|which|that|called|named)\b)"
    ),
    "gerund": begin(
        r"(?:(?:mostly|just|really|still|currently|also) )*(?!nothing|anything|everything|something"
        r"|during)\w{3,}ing"
        r"(?= (?!(?:\w{2,4} )?(?:is|are|happens?|goes|needs|must|works|takes)\b))"
    ),
    # Things of which there is one, for everybody; and a kind of things, not some of them.
    "only_one": begin(r"the (?:earth|sun|moon|world|universe)"),
    # What is the same for everybody: animals as a kind, materials, countries, units.
    "nature": begin(
        r"(?:cats|dogs|birds|penguins|bees|ants|elephants|whales|dolphins|bats|spiders|insects|fish"
        r"|horses|cows|bears|wolves"
        r"|snakes|sharks|monkeys|mice|humans|mammals|reptiles|plants|bacteria|viruses|dinosaurs"
        r"|animals|planets|stars|volcanoes"
        r"|prime numbers|triangles|squares|water|gold|silver|iron|copper|lead|oxygen|hydrogen|light"
        r"|sound|ice|steel|aluminium)"
        r"(?= (?:is|are|has|have|can|can't|cannot|\w+s?)\b)"
        r"|(?:in )?(?:the )?(?:germany|austria|switzerland|france|italy|spain|portugal|england|ireland"
        r"|scotland|britain|poland"
        r"|hungary|denmark|sweden|norway|finland|iceland|netherlands|belgium|luxembourg|greece|turkey"
        r"|russia|ukraine|china|japan"
        r"|india|korea|australia|new zealand|canada|us|usa|mexico|brazil|argentina|egypt|south africa"
        r"|europe|asia|africa|america)"
        r"(?=,? (?:is|are|has|have|there|they|people|\w+s)\b)"
    ),
    "bare_plural": begin(r"(?:[a-z]+s) (?:have|are|must|(?!is\b|has\b)[a-z]{3,}(?<!s))(?= )"),
    "definite": begin(
        r"(?:the|all|every|each|any|both|anything|everything|everyone|nobody"
        r"|whoever) \w+"
    ),
    "passive_first": begin(r"\w{3,}ing(?: \w{2,4})? (?:is|are|happens|goes|gets|takes place)"),
}
