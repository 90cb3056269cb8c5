"""German: what a clause begins with, and what that shows. Data only."""

from holdfast.text.lang.shape import any_of, begin

# Imperatives that have no ending, or change their vowel; the others end in -e.
_ORDERS = any_of(
    """
    gib vergib übergib nimm übernimm lies sieh iss triff hilf wirf brich unterbrich sprich versprich
    besprich
    empfiehl miss tritt vergiss tu ruf schick verschick frag schreib schlag trag mach leg stell bestell setz
    zeig erzähl kauf verkauf lösch bring hol such prüf buch zahl bezahl verrat erwähn füg fang hör schau
    nutz benutz verlass versuch vertrau teil leit schneid wähl erfind behalt halt zieh nenn kürz fass
    lass(?!_uns) bau änder speicher committ push merg deploy teste? starte? bleib denk merk geh komm sag
    rechne
    pack sorg kipp schmeiß mount rühr sei erklär antworte? speichere? ändere? arbeite? beachte? achte?
    installier
    importier formatier kommentier dokumentier verwend führ pass melde? warte? öffne rück log tausch
    kopier aktualisier erstell ergänz entfern lad kürze? plane? trink red rede?
    """
)
# What ends in -e as well and is none.
_NO_ORDER = any_of(
    """
    \\w?eine ihre unsere eure die diese jene jede alle viele manche einige beide solche welche mehrere
    andere
    heute gerade danke bitte ende ohne beinahe gerne lange nahe gute schöne leute wie sowie habe hatte hätte
    kenne kannte glaube finde verstehe brauche komme bekomme kriege gehe fahre freue fühle liebe hasse
    möchte könnte würde wäre werde wurde wollte sollte konnte musste durfte dachte wusste lebe wohne schlafe
    bereue vermisse hoffe erlebe höre sehe esse gebe nehme lese spreche treffe vergesse werfe helfe
    erinnere ärgere wundere frage_mich laufe trinke spiele schaffe traue reise träume stehe sitze liege
    kaufe suche grüße sprache meine deine seine neue letzte erste zweite ganze keine leider ohne_frage
    mache_ich wenige kleine große code source release
    """
)
# A noun in -e is not followed by these.
_OBJECT = (
    r"(?= (?:d(?:en|ie|as|em|er)|eine?[nmrs]?|mein\w*|unser\w*|jede\w*|alle\w*|kein\w*|nie|niemals"
    r"|nichts?"
    r"|immer|stets|mir"
    r"|mich|uns|dich|dir|niemand\w*|(?-i:[A-ZÄÖÜ]))\b|[!.,]|$)"
)
_ORDER = (
    rf"(?!{_NO_ORDER}\b)(?:{_ORDERS}e?|[a-zäöüß]{{3,}}e{_OBJECT})(?! (?:ich|wir|er|sie|es|man|du"
    rf"|ihr)\b)(?=[ ,!.]|$)"
    r"|(?!(?:haben|sind|werden|können|wollen|müssen|wissen|kennen|würden|könnten|dürfen|sollen)\b)"
    r"[a-zäöüß]+n (?-i:Sie)\b"
)

BEGINNINGS = {
    "excepts": begin(r"(?:außer|es sei denn|ausgenommen|mit ausnahme)"),
    "order": begin(rf"(?:bitte )?(?:{_ORDER})"),
    "question": begin(
        r"(?:was|wer|wen|wem|wie|wo|wann|warum|wieso|weshalb|welche[rsnm]?|woher|wohin|womit|wofür"
        r"|wozu)",
        r"(?:weißt|kennst|hast|bist|kannst|könntest|würdest|magst|willst|meinst|findest) du",
        r"(?:soll|sollte|kann|darf|muss|könnte|brauche) (?:ich|man|ich|wir)",
        r"(?:ist|sind|gibt|geht|hat|haben|wäre|war) (?:es|das|da|der|die|ein|eine|jemand"
        r"|[a-z]+ eigentlich)",
    ),
    "asks": begin(
        r"(?:warum|wieso|weshalb|wann|wieviel|wie viele?|wie (?:kann|geht|wäre|macht|findest|lange)"
        r"|was (?:ist|sind|kostet|spricht|wäre|heißt|meinst|hältst))",
        r"(?:weißt|kennst|hast|bist|kannst|könntest|würdest|magst|willst|meinst|findest) du",
        r"(?:soll|sollte|kann|darf|muss|könnte|brauche) (?:ich|man|wir)",
    ),
    "condition": begin(
        r"(?:falls|sofern|wenn)(?! (?:du|ihr|sie|möglich)\b)|(?:sollten?|wären?|hätten?)"
        r" (?:ich|wir|er|es|das|der|die|man|mein\w*|unser\w*)\b"
    ),
    "under": begin(r"(?:dass|ob|wenn|falls|sobald|solange|während|obwohl|damit|bevor|ehe|nachdem)"),
    "cause": begin(r"(?:weil|da|denn|nachdem|seit|zumal)"),
    "relative": begin(
        r"(?:die|der|das|den|dem|deren|dessen|was|wo|womit) (?!(?:ist|sind|wird|werden) )(?:\S+"
        r" ){0,5}\S+"
    ),
    "of_which": begin(
        r"(?:an|auf|aus|bei|durch|für|in|mit|nach|über|um|unter|von|vor|wegen|zu)"
        r" (?:de[mnr]|die|das|denen|dessen|deren)"
    ),
    "goes_on": begin(
        r"(?:bitte|dass|ob|ohne|statt|anstatt|um|sondern|nicht|nie|außer|wenn|falls|sobald|bevor|ehe"
        r"|weil|damit"
        r"|während|wie|solange|es sei denn|auch wenn|zumindest|und zwar|genauer|vor allem|nämlich|also"
        r"|nur"
        r"|zuerst|erst|lieber|gern)"
    ),
    "frame": begin(
        r"(?:für|fürs|bei|beim|wenn|falls|bevor|ehe|sobald|solange|während|bis|nachdem|im|in|am|an|ab"
        r"|seit|nach|vor|von|unter|auf|zum|zur|mit|was)"
    ),
    "none": begin(r"(?:(?:bitte|bloß|ja|absolut) ){0,2}(?:kein(?:e[nmrs]?|erlei)?|weder(?= .* noch ))"),
    "points": begin(
        # "…, den nehmen wir", "die schafft sechs Kilo": who is meant stands before it.
        r"(?:die|der|das) (?-i:[a-zäöüß]{3,}t)(?= )",
        r"die (?-i:[a-zäöüß]{3,}en)(?! (?:(?-i:[a-zäöüß]+e[nrsm]?) )*(?-i:[A-ZÄÖÜ]))(?= )",
        r"(?:die|der|den|dem) (?-i:[a-zäöüß]{2,}(?:en|st|t|e)) (?:ich|du|wir|man)",
        r"(?:die|der|den|dem) (?:sind|ist|war|waren|hat|haben|hab|kommt|kommen|wird|werden|wohnt"
        r"|wohnen|geht|gehen|kostet)",
        r"(?:das meiste|das(?! (?:[a-zäöüß]+(?:e|en|er|es) )?(?-i:[A-ZÄÖÜ\x00]))"
        r"|dies(?:e[rsnm]?)?(?: [A-ZÄÖÜ]\w+)?|es(?! (?:wird|werden|darf|dürfen|muss|müssen|gilt|gelten"
        r"|gibt)\b)|er|sie|dem|denen|daran|davon|damit"
        r"|dafür|so|da(?! wohn| hat| arbeit| sitz| leb))",
    ),
    # "…, lassen wir künftig": it says not what.
    "topicless": begin(r"(?-i:[a-zäöüß]{2,}(?:en|st|t|e)) (?:ich|wir|man)"),
    "name": begin(r"(?-i:[A-ZÄÖÜ])[\w.-]+", r"[a-z]+[-_]?\d[\w.-]*"),
    "shuns": begin(
        r"(?:bitte )?(?:verzichten?|vermeiden?|unterlass(?:en?)?)(?: sie)?(?: bitte)?(?= )"
        # A wish in a clause of its own: "Dass mir keiner …!"
        r"|dass (?:mir |uns |dir |bloß |ja )+(?:keine?[rsnm]?|niemand|nichts|nie)"
        r"|(?:bitte )?hör(?:e|en sie)?(?: bitte)?(?: endlich)? (?:damit )?auf(?=[, ]|$)"
        r"|finger weg|hände weg|lass(?:t|en sie)? die finger|nichts (?:an|in|am|mit)"
        r"|du kannst (?:\S+ ){1,5}?(?:sein |weg)?lassen"
    ),
    "pronoun": begin(r"(?:er|sie|ihr|man)(?! sich)"),
    # A free relative clause: what follows it holds for everybody.
    "my_own": begin(
        r"(?:mein|unser)(?:e|er|es)? (?:\S+ ){1,3}?(?:ist|sind|hat|haben|heißt|läuft|wohnt"
        r"|arbeitet|\w+t)"
    ),
    # Things that people have and call by their kind.
    "own_thing": begin(
        r"(?:der|die|das|dem|im|am) (?:\w+ )?(?:projekt|repo\w*|team|firma|büro|app|shop|website"
        r"|code|backend|frontend|\w*server|datenbank"
        r"|build|garten|wohnung|haus|küche|auto|keller|werkstatt|verein|chor|schule|kita|vermieter"
        r"|kunde|budget|vertrag)"
    ),
    "whoever": begin(r"(?:wer|jeder,? der|alle,? die)"),
    "sticks": begin(
        r"(?:bitte )?(?:halte? (?:dich|sie sich)|halten sie sich|bleib|bleiben sie|richte dich"
        r"|befolg\w*|beachte?)"
    ),
    # A part that has lost its sentence.
    "fragment": begin(
        r"(?:besonders|vor allem|wie zum beispiel|inklusive|einschließlich|als auch|ähnlich wie)"
    ),
    "subjectless": begin(r"danke für|vielen dank|gern geschehen"),
    # One too, where no verb follows.
    "opens": begin(r"(?:während|über|nach|vor|um \w+)"),
    "bound": begin(r"(?!)"),
    "gerund": begin(r"(?!)"),
    "apposed": begin(r"(?!)"),
    "phrase_only": begin(r"(?!)"),
    # Things of which there is one, for everybody; and a kind of things, not some of them.
    "only_one": begin(r"(?:die|der|das) (?:erde|sonne|mond|welt|weltall|universum)"),
    # What is the same for everybody: animals as a kind, materials, countries, units.
    "nature": begin(
        r"(?:(?:katzen|hunde|vögel|pinguine|bienen|ameisen|elefanten|wale|delfine|fledermäuse|spinnen"
        r"|insekten|fische|pferde"
        r"|kühe|bären|wölfe|schlangen|haie|affen|mäuse|menschen|säugetiere|reptilien|pflanzen"
        r"|bakterien|viren|dinosaurier|tiere"
        r"|planeten|sterne|vulkane|primzahlen|dreiecke|quadrate"
        r"|wasser|gold|silber|eisen|kupfer|blei|sauerstoff|wasserstoff|licht|schall|eis|stahl|aluminium"
        r")(?= (?:\w+t|\w+en|hat|ist|sind|haben|können|kann)\b)"
        r"|(?:in )?(?:(?:der|den|die) )?(?:deutschland|österreich|schweiz|frankreich|italien|spanien"
        r"|portugal|england|irland|schottland"
        r"|großbritannien|polen|tschechien|ungarn|dänemark|schweden|norwegen|finnland|island"
        r"|niederlande\w*|belgien|luxemburg"
        r"|griechenland|türkei|russland|ukraine|china|japan|indien|korea|australien|neuseeland|kanada"
        r"|usa|mexiko|brasilien"
        r"|argentinien|ägypten|südafrika|europa|asien|afrika|amerika)(?= (?:\w+t|\w+en|hat|ist|sind"
        r"|haben)\b))"
    ),
    "bare_plural": begin(r"(?-i:[A-ZÄÖÜ][\wäöüß-]+(?:e|n|s|r)) (?:haben|sind|\w{3,}en)(?= )"),
    "definite": begin(
        r"(?:der|die|das|den|dem|im|am|beim|zum|zur|auf de[mnr]|in de[mnr]|an de[mnr]|bei de[mnr]"
        r"|jede[rsnm]?"
        r"|alle)"
        r" (?:[a-zäöüß]+e[nrsm]? )?(?-i:[A-ZÄÖÜ\x00])[\w-]*",
        r"(?:der|die|das|den|dem) [a-z][\w.-]+",
    ),
    "passive_first": begin(r"(?-i:[a-zäöüßGV]\w+)(?:t|en) (?:wird|werden)"),
}
