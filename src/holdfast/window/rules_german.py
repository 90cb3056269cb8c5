"""The shapes of a German rule: "Pushe nie auf main", "Ruf niemanden vor neun Uhr an".

It knows no English, and not where the sentences come from.
"""

from holdfast.window.rules_shape import any_of, shape

_IMMER = (
    r"\b(?<!noch )(?<!schon )(?:nie|niemals|immer(?! noch| wieder| mehr)|stets|ausschließlich"
    r"|ausschliesslich|auf keinen fall|unter keinen umständen|keinesfalls|ab jetzt|ab sofort"
    r"|von nun an|künftig|zukünftig|in zukunft|grundsätzlich|nur noch|nie wieder|nie mehr|jedes mal"
    r"|jedesmal|ohne ausnahme|für den rest (?:des|der|dieses) \w+)\b"
)
# "Ein Hund, der nie bellt": there it is said of something else.
_NOT_OF_OTHERS = (
    r"(?!.*, (?:der|die|das|dem|denen|deren|warum|weshalb|wie|wo|was|wer|wann|ob|es)\b"
    rf".*{_IMMER})"
)
_BEFEHL = any_of(
    """
    nutze? benutze? verwende? schreibe? antworte sprich sprech rede? nenne? sage? zeige? gib nimm lies
    lass lasse mache? halte? achte? beachte prüfe? überprüfe? teste? führe? starte? committe? pushe?
    merge deploye? lösche? ändere? ändre bearbeite speichere? speicher lege? setze? stelle? füge? rufe?
    frage? frag hole? formatiere kommentiere dokumentiere erkläre? übersetze? rechne runde liste
    sortiere beginne? beende bleibe? vermeide ignoriere behandle berücksichtige vergiss denke? denk
    merke? sei gehe? geh komm arbeite baue? erstelle? erzeuge? generiere liefere? gebe installiere
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
_FINITE = any_of(
    """
    hab habe hast hat hatte hatten haben bin bist ist sind war waren wäre wird wurde würde kann konnte
    will wollte muss musste ich er sie es wir ihr man mein meine noch wieder mehr weniger wenn dieser
    diese dieses das_gleiche die_gleichen dasselbe zu so schon besser schlimmer öfter gut gerne schön
    """
)

# "Nie werde ich …" tells of somebody.
_NO_SUBJECT = r"(?!\S+ (?:ich|wir|er|sie|es|man|mir|mich)\b)"

# Any other verb gives itself away by its -e, or is one of those that change their vowel or drop the ending.
_STARK = any_of(
    """
    gib vergib übergib nimm übernimm lies sieh iss triff hilf wirf brich unterbrich sprich versprich besprich
    empfiehl miss tritt vergiss tu ruf schick verschick frag schreib schlag trag mach leg stell bestell setz
    zeig erzähl kauf verkauf lösch bring hol such prüf buch zahl bezahl verrat erwähn füg fang hör schau
    nutz benutz verlass versuch vertrau teil leit rechne schneid wähl erfind behalt halt zieh nenn kürz
    """
)
# What ends in -e as well: articles, other words, and what people tell of themselves without an "ich".
_KEIN_BEFEHL = any_of(
    """
    \\w?eine ihre unsere eure die diese jene jede alle viele manche einige beide solche welche mehrere andere
    heute gerade danke bitte ende ohne beinahe gerne lange nahe gute schöne leute wie sowie habe hatte hätte
    kenne kannte glaube finde verstehe brauche komme bekomme kriege gehe fahre freue fühle liebe hasse
    möchte könnte würde wäre werde wurde wollte sollte konnte musste durfte dachte wusste lebe wohne schlafe
    bereue vermisse hoffe erlebe höre sehe esse gebe nehme lese spreche treffe vergesse werfe helfe
    erinnere ärgere wundere frage_mich laufe trinke spiele schaffe traue reise träume stehe sitze liege
    kaufe
    """
)
_BEFEHLSFORM = (
    rf"(?:(?!{_KEIN_BEFEHL})(?:{_BEFEHL}|{_STARK}|[a-zäöüß]{{3,}}e\b)(?! (?:ich|wir|er|sie|es|man|du|ihr)\b)"
    r"|(?!(?:haben|sind|werden|können|wollen|müssen|wissen|kennen|machen Sie sich)\b)"
    r"[a-zäöüß]+n (?-i:Sie)\b)"
)
# A clause without a second verb before the word that counts: in "Leute kommen immer" nobody is told anything.
_ARTIKEL = r"(?:d(?:en|em|er|ie|as)|[mdsk]?eine[nmr]?|alle[nmr]?|jede[nmrs]?|ihre[nmr]?|unsere[nmr]?)"
_OBJEKT = (
    r"(?: (?!(?:ist|sind|war|hatte|wurde|wird|würde|könnte|kam|ging|gab)\b)"
    rf"(?:{_ARTIKEL} [a-zäöüß]+en\b|{_ARTIKEL}\b|(?-i:[A-ZÄÖÜ\d\x00])[^\s,;:]*"
    r"|(?:mit|nicht|jetzt|zuerst|selbst|gegen|wegen|neben|zwischen|morgen)\b"
    r"|(?-i:[a-zäöüß][\wäöüß-]*\b)(?<!t)(?<!en))){0,8}?"
)
_STETS = (
    r"(?<!noch)(?<!schon)(?<!fast)(?<!nicht) (?:nie|niemals|stets"
    r"|immer(?! (?:noch|wieder|mehr|schon|weniger|besser|schlechter|größer|öfter|häufiger|schlimmer)\b))\b"
)
_KEIN = (
    r" (?:nichts(?! (?:mehr|anderes|weiter|sonst|davon|dagegen)\b)|niemande[nm]"
    r"|kein(?:e[nmrs]?)?(?! (?:sorgen?|angst|ängste|panik|stress|ahnung|gedanken|zeit|mühe|wunder|umstände"
    r"|hemmungen|scheu|lust|weitere[nrs]?|anderen?|einzige[nrs]?|rolle|problem|hoffnungen?|hehl)\b))\b"
)
# What holds this once.
_DIESMAL = (
    r"(?!.*\b(?:heute|diesmal|dies(?:es|e|en|em|er)|gerade|momentan|vorerst|erst ?mal|davon|daran|hierfür)\b)"
)
# Until somebody allows it, or at an hour that comes again.
_VORBEHALT = (
    r"(?:\bohne (?:mich )?(?:[a-zäöüß]+ )?(?:zu fragen|rückfrage|rücksprache|freigabe|zustimmung|erlaubnis"
    r"|genehmigung|einverständnis|okay|ok)\b|, (?:außer,? (?:wenn )?ich|es sei denn,? ich"
    r"|solange ich|bis ich)\b|\b(?:vor|nach) \w+ uhr\b|\b(?:mon|diens|mitt|donners|frei|sams|sonn)tags\b"
    r"|\bam wochenende\b|\ban (?:wochenenden|feiertagen)\b)"
)
# What is written here, again and again.
_WERK = (
    r"(?:antwort(?:en)?|briefe?|e-?mails?|mails?|nachricht(?:en)?|berichte?|texte?|zusammenfassung(?:en)?"
    r"|dokumente?|kommentare?|überschrift(?:en)?|rechnung(?:en)?|angebote?|protokolle?|übersetzung(?:en)?|beiträge?"
    r"|daten|datumsangaben|uhrzeiten|preise|beträge|zahlen|maße|einheiten|variablen|funktionen|commits?)\b"
)
_SCHREIB = (
    r"(?:schreibe?|verfasse?|formuliere|formatiere|unterschreibe?|zeichne|beginne?|beende|schließe?"
    r"|starte|halte?|setze?|füge?|erwähne|gib|nenne?|verwende|benutze?|nutze?)(?:n Sie)?\b"
)

GERMAN = (
    # Bleib im Ton freundlich; lass die Unterschrift, wie sie ist.
    shape(r"(?:bleib|bleibe|bleiben sie|halte?|halten sie) (?:im ton|den ton|den stil|die sprache)\b"),
    shape(
        r"(?:lass|lasse|lassen sie) (?!mich\b|uns\b|es\b)(?:die|das|den|mein\w*|unser\w*|alle\w*) [^;:]+?"
        r"(?: so,? wie (?:sie|es|er) (?:ist|sind)|,? wie (?:sie|es|er) (?:ist|sind)| unverändert"
        r"| unangetastet| in ruhe)\b"
    ),
    shape(rf"{_BEFEHLSFORM}{_OBJEKT}{_STETS}"),
    shape(
        rf"{_BEFEHLSFORM}{_DIESMAL}(?<!vergiss)(?! (?:mir|uns) nichts\b| dir kein| dir nichts\b)"
        rf"{_OBJEKT}{_KEIN}"
    ),
    # Pushe nicht ohne Rückfrage; ruf mich nicht vor neun Uhr an.
    shape(
        rf"{_BEFEHLSFORM}{_DIESMAL}(?: [^\s,;:]+){{0,8}}? (?:nicht|nichts|niemande[nm]|keine?[nmrs]?)\b"
        rf".*{_VORBEHALT}"
    ),
    shape(
        r"frage?(?: bitte)?(?: mich| nach)?(?: bitte)?(?: immer| zuerst| erst| vorher)?, (?:bevor|ehe) du\b"
    ),
    shape(rf"bitte{_DIESMAL}{_KEIN}(?: (?-i:[a-zäöüß]+en))? (?-i:[A-ZÄÖÜ])[\w-]+"),
    shape(rf"verzichten?(?: Sie)?{_DIESMAL}(?: bitte)? (?:auf|in) (?!d(?:ie|en|as|em)\b)"),
    shape(
        r"hör(?:e|en Sie)?(?: bitte)? auf, (?:dich|mich|mir|(?-i:[A-ZÄÖÜ])[\w-]+)\b.* zu [a-zäöüß]+n[.!]*$"
    ),
    # Antworte nur in Stichpunkten.
    shape(
        r"(?:antworte|schreibe?|sprich|rede?|rechne|formuliere|kommentiere"
        r"|(?:antwort|schreib|rechn|sprech)en Sie)"
        r"(?: (?:bitte|mir|mit mir|(?-i:[A-ZÄÖÜ])[\w-]+))* nur(?: noch)? "
        r"(?:in|auf|mit|im|nach)\b(?! (?:de[nmr]|diese[nmr])\b)"
    ),
    shape(
        r"(?:verwende|benutze?|nutze?|nimm|buche?|bestelle?|plane?|zitiere|empfiehl)(?:n Sie)?(?: bitte)? nur"
        r" (?!(?:d(?:ie|en|as|em|er)|dies\w*|eine?n?|ein|zwei|drei|\d+)\b)"
    ),
    # Beginne jeden Brief mit dem Datum.
    shape(
        rf"{_SCHREIB}(?: bitte)? (?:jede[nrs]?|alle)(?: (?:deine|meine|unsere)[nr]?)? {_WERK}"
        r" (?:mit|in|im|als|auf|unter|ohne|kurz|knapp|immer)\b(?! (?:die(?:se[nmr]?)?|den|das)\b)"
    ),
    shape(
        rf"{_SCHREIB}(?: (?!d(?:ie|en|as|em)\b)[^\s,;:]+){{0,4}} (?:überall|durchgehend|durchweg"
        rf"|in (?:allen|jede[rmn])(?: (?:deinen|meinen|unseren))? {_WERK})"
    ),
    shape(
        rf"{_BEFEHL}(?: (?:dir|dich|mir|uns|bitte)\b)*(?!.*\b(?:ich|wir|er|es|sie) (?:immer|nie|stets)\b)"
        rf"{_NOT_OF_OTHERS}.*{_IMMER}"
    ),
    shape(rf"\w+en (?-i:Sie)\b.*{_IMMER}"),
    shape(
        r"(?:nie|niemals|nie wieder|nie mehr|immer|stets|grundsätzlich|ausschließlich|nur noch"
        rf"|auf keinen fall|unter keinen umständen|keinesfalls) "
        rf"(?!{_FINITE}){_NO_SUBJECT}(?:.* )?\S+{_INFINITIV}"
    ),
    shape(
        r"(?:auf keinen fall|unter keinen umständen|keinesfalls|niemals|nie) "
        r"(?:darfst du|dürfen|darf|sollst du|sollen|soll|sollten?)\b(?! (?:ich|er|wir)\b)"
    ),
    shape(rf"du (?:darfst|sollst|musst|solltest) .*(?:{_IMMER}|\b(?:nicht|keine?n?|nur)\b)"),
    shape(r"du darfst (?:nicht|nie|niemals|keine?n?)\b"),
    shape(
        r"(?:ich (?:möchte|will|wünsche mir|erwarte)|mir ist wichtig|es ist wichtig)[^,]{0,20}, "
        rf"dass du .*{_IMMER}"
    ),
    shape(r"ich (?:möchte|will) (?:nie|niemals|nicht)\b[^,]{0,20}, dass du\b"),
    shape(
        r"(?:ab jetzt|ab sofort|ab heute|von nun an|von jetzt an|künftig|zukünftig|in zukunft|fortan)[ ,:]+"
        rf"(?:bitte\b|{_BEFEHLSFORM}|[a-zäöüß]+t du\b|[a-zäöüß]+e?n (?-i:Sie)\b"
        r"|(?:nutzen|verwenden|schreiben|nehmen) wir\b|(?:möchte|will) ich, dass du\b"
        rf"|(?!{_FINITE}){_NO_SUBJECT}(?:.* )?\S+{_INFINITIV})"
    ),
    # Also of things: Passwörter dürfen nie im Log stehen.
    shape(
        r"(?!(?:ich|er|wir|man|es|sie|meine?|das|sein|ihr)\b)(?-i:[A-ZÄÖÜ\x00])[\w\x00-]*"
        r"(?: [\w\x00/-]+){0,4} (?:darf|dürfen)(?: [\w\x00-]+){0,3} "
        r"(?:nie|niemals|auf keinen fall|keinesfalls|unter keinen umständen)\b"
    ),
    shape(rf"(?:achte|stelle?) (?:bitte )?(?:darauf|sicher), dass .*{_IMMER}"),
    shape(
        r"(?:wenn|immer wenn|jedes mal,? wenn|sobald|bevor|nachdem|falls) (?:du|ich dich|ich dir|sie)\b"
        rf"[^,]+, (?:dann )?(?:bitte )?(?:{_BEFEHL}.*{_IMMER}|(?:immer|nie|niemals) .*{_INFINITIV})"
    ),
    shape(
        r"(?:immer wenn|jedes mal,? wenn) (?:du|ich dich|ich dir)\b[^,]+, "
        rf"(?:dann )?(?:bitte )?{_BEFEHL}"
    ),
)
