"""German: the cues by which a sentence shows what it states, and in which clauses. Data only."""

from holdfast.text.lang.de.beginnings import BEGINNINGS
from holdfast.text.lang.de.moods import MOODS
from holdfast.text.lang.de.values import DAY, DAYS, MONTH, SEASON, VALUES
from holdfast.text.lang.shape import LanguageData, cue, opening

_WHEN = (
    r"(?:künftig|zukünftig|in zukunft|fortan|ab jetzt|ab sofort|ab heute|von nun an|von jetzt an"
    r"|nächstes mal)"
)

CUES = LanguageData(
    code="de",
    particles=opening(
        r"(?:(?:also|so|meine güte|mein gott|ok|okay|gut|und|aber|denn|ja|na|tja|hm+|dann|nun"
        r"|übrigens|achso|ach|oh|boah|naja"
        r"|sprich[,:]|sondern|außerdem|zudem|nämlich|noch|kurz|jedenfalls|im ernst|ernsthaft|ganz"
        r" ehrlich"
        r"|ehrlich gesagt|wie gesagt|wichtig(?! ist)|hinweis|hey|hi|hallo|moin|servus|danke(?:"
        r" dir)?(?! für)"
        r"|super|prima"
        r"|perfekt|achtung|eins|regel(?: \d+)?|btw|wenn's geht|wenn möglich|falls möglich|wenn's sein"
        r" kann"
        r"|generell|eigentlich|nein,|nee,|alles klar|beschlossene sache|in zukunft|ab jetzt"
        r"|ab sofort|ab heute|von nun an|künftig"
        r"|bevor ich(?:'?s| es| das) vergesse|damit das klar ist|zur info|zu deiner info(?:rmation)?"
        r"|nochmal(?: kurz)?(?: zur sicherheit)?|zur sicherheit|(?:kleiner |kurzer )?hinweis(?: am rande)?"
        r"|(?:eine sache |eins )noch(?: vorweg)?|zukünftig|fortan"
        r"|unter (?:gar )?keinen umständen|auf (?:gar )?keinen fall"
        r"|vergiss(?: bitte)? nicht,? dass"
        r"|denke? (?:bitte )?d(?:a)?ran,? dass)[,!:.]* +)+"
    ),
    joins=cue(r"und|aber|doch|denn|sondern"),
    begins=BEGINNINGS,
    cues={
        **MOODS,
        "supposes": cue(
            r"^angenommen|theoretisch|mal angenommen|stell dir vor|stellen sie sich vor|was wäre"
            r"|(?:nehmen wir|nimm|nehmen sie) (?:\w+ )?an(?=,|$)|was,? wenn|gesetzt den fall|im"
            r" (?:schlimmsten|besten) fall|schlimmstenfalls",
            r"(?:ich|wir) wollten? (?:ja )?(?:schon )?immer(?: schon)?(?: mal)?|eines tages"
            r"|irgendwann(?: mal)?",
            r"würden?|würdest|hätten?|wären?|wär|gäb"
            r"|stünden?|nähmen?|könnten?|ließen?|bräuchten?|zögen?|läge|gäbe|käme|sollten wir",
            r"(?:wenn|falls) (?:ich|wir|er|sie|es|man) (?:mal|je|jemals|irgendwann)",
        ),
        "open": cue(
            r"vielleicht|hoffentlich|angeblich|eventuell|womöglich|möglicherweise|wahrscheinlich"
            r"|vermutlich|evtl"
            r"|ggf|mal sehen"
            r"|noch nicht(?: \w+){0,2} (?:entschieden|klar|sicher|fest|beschlossen|raus|spruchreif)"
            r"|steht (?:noch )?(?:nicht )?in den|steht (?:\w+ )?nicht fest"
            r"|(?:gut )?möglich,? dass|kann (?:gut )?sein|gedanken?,? (?:zu|auf|mit)|unentschlossen"
            r"|kommt drauf an"
            r"|entschieden wird|wird (?:\S+ ){0,4}?entschieden|entscheiden wir (?:\S+ )?(?:nächste\w*"
            r"|morgen|später|noch|am|im|bald|erst)"
            r"|vertagt|steht (?:noch )?aus|in der schwebe|weiß (?:\S+ ){0,2}?(?:keiner|niemand)|noch"
            r" (?:geprüft|diskutiert|verhandelt)"
            r"|(?:mit dem|den) gedanken|keine ahnung|weiß (?:ich )?(?:noch )?nicht|unklar|ungewiss"
            r"|gerücht"
            r"|überlege[nr]?(?! wir nicht)|am überlegen"
            r"|schwank\w+"
            r"|mal gucken|nicht entschieden|nicht beschlossen|beschlossen ist (?:da )?(?:gar )?nichts"
            r"|ob (?:ich|wir|der|die|das|man|es)|so ein gedanke|nur so (?:eine? )?(?:gedanke|idee"
            r"|gefragt)"
            r"|will (?:\S+ )?(?:gehört|gesehen|gelesen) haben|anscheinend|scheinbar|gerüchteweise"
            r"|man munkelt|es heißt(?=$|,)|(?:habe?"
            r"|haben) (?:\S+ ){0,3}?gehört"
            r"|irgendwo gelesen|noch nichts|(?:nichts|nicht)(?: \S+){0,4}? (?:entschieden|beschlossen"
            r"|klar)"
            r"|(?:entschieden"
            r"|beschlossen)(?: \S+){0,3}? (?:nichts|nicht)|noch (?:offen|unsicher)|nicht sicher|glaub\w*"
            r"|denke ich|schätze|schätzungsweise|vielleicht auch|oder (?:so|doch)"
        ),
        "past": cue(
            r"bis (?:19|20)\d\d (?:hatten?|waren?|gab|wohnten?|war)|(?:ist |schon )?lange (?:her|tot)"
            r"|jahrelang (?:\S+ ){0,6}?ge\w+(?=[.!]*$)"
            r"|vor \S+ jahren (?:hatten?|waren?|wohnten?|gab)|bis vor (?:\S+ ){0,3}?(?:jahren|monaten"
            r"|wochen|kurzem)|(?:alte|frühere"
            r"|ehemalige)[nrs]? (?:\w*regel\w*|lösung|version|vorgabe)|(?<!nicht )früher(?! als)"
            r"|damals|ehemals|einst|vor jahren"
            r"|letzte[sn]? (?:jahr|woche|monat|sommer|winter)"
            r"|(?:lange )?vorbei|(?:ist|sind|schon|wieder|längst|endgültig) vom tisch|war mal|galt"
            r"|(?:gilt|gelten) (?:\S+ ){0,3}?nicht mehr|seinerzeit|bis vor kurzem|hinfällig"
            r"|als (?:kind|jugendliche\w*|junge|mädchen)"
            r"|^(?!.*\bseit\b)(?:\S+ ){0,4}?(?:hab(?:e|en)?|hatten?) (?:\S+ ){0,8}?(?:gewohnt|gelebt"
            r"|gearbeitet|gehabt|benutzt|genutzt)(?=[.,!]|$)"
            r"|(?:in|während) (?:meiner|unserer|der) \w*(?:zeit|jugend|kindheit|ausbildung)"
            r"|eine zeit ?lang|(?:hatten?|waren?) (?:\S+ )?noch|in den \w+zigern|hab(?:e"
            r"|en)? (?:\S+ )?mal(?! wieder)|(?:ist|sind) (?:\w+ )?geschichte"
        ),
        "passing": cue(
            r"(?<!ab )(?:heute (?:früh|morgen|abend|nachmittag|vormittag))|(?<!seit )(?<!ab )heute"
            r"|gerade|(?<!\d )grad|zurzeit|zur zeit|in letzter zeit|momentan|derzeit|im moment|eben"
            r"|gleich|heut"
            r"|(?<!seit )gestern"
            r"|(?<!jeden )(?<!am )morgen|vorhin|später"
            r"|schnell"
            r"|(?:schritt|punkt|teil|aufgabe) (?:\d+|eins|zwei|drei|vier|fünf) (?:ist|war|hat|läuft)"
            r"|noch nicht|noch(?=[.!]*$)|(?:noch|nur) (?:\w+ ){0,2}(?:prozent|minuten?|min|stunden?"
            r"|sekunden?)|jetzt gleich"
            r"|vorerst|erst ?mal|für den moment|schon(?=[.!]*$)"
            r"|(?:download|upload|build|import|export|backup|akku|update|installation)\w* (?:\S+"
            r" ){0,3}?(?:bei|auf) \d+"
        ),
        "once": cue(
            r"diesmal|(?<!nicht )(?<!nie )(?:nochmal|noch einmal)|(?:im|in dem|in diesem) beispiel"
            r"|dieses mal|für diese[ns]?|nur (?:dies|hier|jetzt"
            r"|heute)"
            r"|ausnahmsweise|testweise|zum testen"
            r"|für den (?:\w+ )?(?:test|versuch|anfang|moment)|einfach mal|mal eben|mal kurz|noch"
            r" (?:etwas"
            r"|ein bisschen|mal)"
            r"|jetzt mal|^\w+(?: mir| uns| doch| bitte| hier| das| dazu)* mal(?= )|^bitte (?:noch "
            r"|mal )?eine?n? (?-i:[A-ZÄÖÜ])\w+|weg(?:werfen|schmeißen)|jetzt das ganze"
        ),
        # A part of it, by its number or by pointing at it.
        "text_part": cue(
            r"(?:erste|zweite|dritte|vierte|fünfte|letzte|vorletzte|mittlere|obere|untere|obige"
            r"|folgende|vorige)[nmrs]? (?:\w+ )?(?:sätze?|satz|absätze?|absatz"
            r"|zeilen?|spalten?|überschrift|punkte?|stichpunkte?|strophe|beispiele?)",
            r"(?:der|die|das|den|dem|im) \w+ (?:(?:von )?(?:oben|eben|vorhin|gerade)|unten)(?= |[.,!]"
            r"|$)",
            r"(?:zeile|spalte|absatz) \d+",
        ),
        # A text at hand, as what is to be worked on.
        "one_text": cue(
            r"(?:den|dem|die|das|der) (?:\w+ )?(?:text|tabelle|liste|absatz|satz|gedicht|brief|e-?mail"
            r"|rezept|antwort|entwurf"
            r"|geschichte|aufsatz|rede)"
        ),
        "joke": cue(
            r"haha\w*|hihi|lol|scherz|spaß|witz|(?:das|war)(?: \w+)? ironie|(?:ja|na|aber) klar,? und"
            r"|höhö|\*g\*|grins"
            r"|wer's glaubt|schön wär's"
        ),
        "rejects": cue(
            r"(?:war|ist|meinte ich|meine ich)(?: \w+)? nicht (?:so |ganz )?ernst(?: gemeint)?"
            r"|quatsch|unsinn|blödsinn|nein|nee|ne(?=[, ])|nö|ach nee|bloß nicht|lieber nicht|doch nicht"
            r"|lassen wir (?:mal )?lieber"
            r"|missverstanden|überzeugt mich (?:\S+ ){0,3}?nicht|braucht kein mensch|sein lassen"
            r"|gefällt mir nicht"
            r"|vorschlag mit \S+(?: \S+){0,3}? (?:nicht|an|ab)"
            r"|(?:kannst|könnt|können) (?:du|ihr|sie) vergessen"
        ),
        "takes_back": cue(
            r"vergiss(?:t)? (?!nicht)(?:das|die|den|dem|es|\S+)(?: \S+){0,4}? ?(?:wieder|mal|lieber)"
            r"|vergiss (?:das|die|den|es|meine)(?! nicht)|streich (?:das|die|den)|(?:nehme?|ziehe?)"
            r" (?:ich )?(?:das"
            r"|alles) (?:wieder )?zurück"
            r"|(?:kommando|alles) zurück|ach nee|doch nicht|ignorier (?:das|die|den)|hat sich erledigt"
            r"|lassen wir das|(?:das|es) (?:war|ist) (?:gelogen|falsch|quatsch|unsinn|ein (?:scherz"
            r"|versehen|irrtum)"
            r"|nicht (?:wahr|ernst))|stimmt (?:gar |so )?nicht|(?:falsche[rs]?|verkehrte[rs]?) (?:chat"
            r"|fenster|tab|gespräch"
            r"|person|thread)|war nur ein test|(?:lass|lassen wir) (?:es|das|alles) (?:so )?wie"
            r" (?:bisher"
            r"|gehabt|es war)"
            r"|nicht (?:weiter )?beachten|gilt nicht mehr|nicht (?:so |ganz )?ernst(?: gemeint)?"
            r"|(?:war )?nur spaß|war (?:nur |bloß )?(?:ein (?:scherz|witz|test|versehen)|gelogen)"
            r"|verwechsle? (?:das|es)|(?:nein|ne|nee|nö),? (?:warte|moment|keine ahnung)|mach,? wie du"
            r" willst"
        ),
        # Somebody stops at what they have just said: it was wrong, or is over.
        "corrects": opening(
            r"(?:(?:ach|oh|äh|hm+|ne|nee|nein|halt|moment|warte|stopp?|sorry|ups|mist)(?: mal)?[,.! ]+)+"
            r"(?:quatsch|unsinn|falsch|verwechselt|vertan|doch nicht|geht (?:ja )?nicht|vergiss|passt"
            r" (?:ja )?nicht"
            r"|(?:das|es|die|der) (?:ist|war|sind) (?:ja |doch |noch |gar |schon )*(?:nicht|falsch"
            r"|letzte\w*|vorbei|früher"
            r"|veraltet|(?:die|der|das) alte\w*|von (?:gestern|letzte\w*))|stimmt (?:ja |gar |so )*nicht"
            r"|(?:ich|das) nehm\w* (?:\S+ )?zurück|ich zieh\w* (?:das|es) zurück)"
        ),
        # The same without a name for it.
        "takes_that": cue(
            r"(?:kommando|alles) zurück|nicht (?:so |ganz )?ernst(?: gemeint)?|(?:war )?nur spaß"
            r"|gilt nicht mehr|lieber doch nicht|(?:das|es) (?:war|ist) (?:gelogen|falsch)|stimmt"
            r" (?:gar "
            r"|so )?nicht|(?:falsche[rs]?"
            r"|verkehrte[rs]?) (?:chat|fenster"
            r"|tab|gespräch|person|thread)|war nur ein test|(?:lass|lassen wir) (?:es|das"
            r"|alles) (?:so )?wie (?:bisher|gehabt|es war)"
            r"|nicht (?:weiter )?beachten|(?:vergiss|streich"
            r"|ignoriere?|verwirf) (?:das|es)(?! \S*[A-ZÄÖÜ])(?= (?:wieder|bitte|mal|lieber)|[.!,]|$)"
            r"|war (?:nur |bloß )?(?:ein (?:scherz|witz|test|versehen)|gelogen)"
            r"|verwechsle? (?:das|es)|(?:nein|ne|nee|nö),? (?:warte|moment|keine ahnung)|mach,? wie du"
            r" willst"
            r"|^(?:(?:ach|nein|ne|nee),? )*doch nicht"
        ),
        # Whose words follow its colon: a text, or a program.
        "source": cue(
            r"^(?:aus|in|im|auf|laut) (?:\S+ ){1,3}?\w+$"
            r"|\w*(?:rezept|brief|e?-?mail|nachricht|meldung|readme|anleitung|anzeige|artikel|linter"
            r"|compiler|log"
            r"|schild|etikett|hinweis|zitat|beitrag|tweet|vertrag|doku|dokumentation|vorlage|entwurf"
            r"|überschrift"
            r"|bildunterschrift|protokollauszug|auszug)(?: \S+){0,3}?"
            r"(?: (?:sagt|steht|lautet|heißt es|schreibt|ist|war|sagte))?$"
        ),
        # "…, da stehen die Zahlen drin": of what was named before it.
        "where_kept": cue(
            r"^(?:da|dort|darin|darunter|hier) (?:[a-zäöüß]{2,}n|[a-zäöüß]{3,}t)"
            r"(?= (?:ich|wir|bei uns|unsere?|meine?|alle?s?|die|das|der)\b)"
        ),
        # What the other one decided.
        "you_did": cue(r"du (?:dich|das|es)? ?(?:\S+ ){0,4}?(?:entschieden|gewählt|ausgesucht)"),
        "just_one": cue(r"nur (?:eine?[nmrs]?|noch|diese\w*)"),
        # A game, a story, an exercise: nothing in it is so.
        "unreal": cue(
            r"\w*rollenspiel\w*|^du bist (?:(?:jetzt|nun|ab jetzt|ab sofort) )?(?:ein|mein|der|die"
            r"|das)\w* \w+"
            r"|in (?:de[mr]|meine[mr]|eine[mr]) (?:roman|geschichte|film|buch|serie|märchen|erzählung"
            r"|spiel)(?= )|(?:haupt|roman)figur|protagonist\w*|bösewicht|schurke|(?:mein|unser"
            r"|dein)e?[nmrs]? (?:spielfigur|figur|charakter|spielcharakter)"
            r"|(?:spielen|spiel) (?:wir )?ein spiel|szene \d+|akt \d+"
            r"|(?:\w*aufgabe|übung|frage|beispiel|muster)(?: \d+)?(?=$)|(?:beispiel|muster|übungs|test"
            r"|dummy)(?:sätze?n?|satz"
            r"|texte?|daten|firma|kunden?|stadt|nutzer|eingaben?|ausgaben?)|^angaben?(?=$)|^gegeben(?="
            r" |$)"
            r"|fallstudie\w*"
            r"|lückentext\w*|^(?:im|in dem) (?:beispiel|spiel)|(?:tu|tun|tue) (?:\w+ )?so,? als|tun so"
            r"|___+"
        ),
        # What follows the colon is to be put into other words.
        "renders": cue(
            r"^(?:(?:bitte|jetzt|nun) )*(?:auf|in|ins) (?:\w+ )?(?:deutsch|englisch|französisch|spanisch"
            r"|italienisch"
            r"|polnisch|türkisch|niederländisch|portugiesisch|russisch|latein)\w*(?: bitte)?$"
            r"|^(?:bitte )?(?:bring|setz|mach|formulier|sag)e? (?:das|dies|es)(?: \S+){1,4}$"
        ),
        # What somebody else likes or thinks of something.
        "tastes": cue(
            r"mag|mögen|liebt|liebte|hasst|hassen|bevorzugt|bevorzugen|schwört auf|schwören (?:\w+ )?auf"
            r"|steht (?:\w+ )?auf"
            r"(?! (?:dem|der|den|einem))|findet(?!(?: \S+){1,8} statt)|finden(?!(?: \S+){1,8} statt)"
            r"|schwärmt von"
        ),
        # A kind of thing, whatever one of them it is.
        "any_one": cue(
            r"^eine? (?!kollege|kollegin|freund|freundin|kunde|kundin|mitglied)(?-i:[A-ZÄÖÜ])\w+"
            r" (?:ist|hat"
            r"|fährt|braucht"
            r"|wiegt|kostet|besteht|kann|\w+t)(?= )|^(?:die meisten|viele|manche|alle) (?-i:[A-ZÄÖÜ])\w+"
            r"|^in (?-i:[A-ZÄÖÜ])\w+ (?:\w+t) man"
        ),
        "defines": cue(
            r"bedeutet|heißt$|steht für|ist die abkürzung|(?:gehört|gehören|zählt|zählen)(?: \w+)? zu"
            r" (?:den|der)"
            r"|^(?:der|die|das) (?-i:[A-ZÄÖÜ])\w+ ist eine? (?-i:[A-ZÄÖÜ])\w+(?=[.!]*$)"
            r"|(?:wurde|wurden) (?:\S+ ){0,6}?(?:erfunden|entdeckt|gegründet|entwickelt|geschrieben"
            r"|komponiert|gemalt"
            r"|geboren|erbaut)|^(?:der|die|das) (?:\S+ ){1,3}?(?:fiel|begann|endete|starb|sank) (?:am"
            r"|im) "
        ),
        "negation": cue(
            r"nicht|nichts|nix|nie|niemals|niemande[nm]?|keine?[nmrs]?|keinerlei|nirgends|ohne|weder"
        ),
        "always": cue(
            r"(?<!wie )immer(?! (?:noch|wieder|mehr|schon|weniger|besser|schlechter|größer|öfter|wenn"
            r" ich"
            r"|dasselbe|das gleiche))"
            r"|stets|jedes ?mal|grundsätzlich|prinzipiell|generell|ausnahmslos|ohne ausnahme|in jedem"
            r" fall"
            r"|unbedingt"
            r"|durchgehend|durchweg|überall|konsequent|zwingend|allzeit|jeweils|täglich|regelmäßig"
            r"|in alle[nr]|(?:nach|vor|^(?:bei|zu|mit|in|an|auf)) jede[rmns]"
        ),
        "never": cue(
            r"nie(?! (?:so|zuvor))|niemals|nie wieder|nie mehr|auf (?:gar )?keinen fall"
            r"|unter (?:gar )?keinen umständen|keinesfalls"
            r"|in keinem fall|keinesfalls|bloß nicht|finger weg|tabu|verboten|untersagt"
            r"|nichts (?:verloren|zu suchen)|nicht in ?frage"
        ),
        "you_are_to": cue(r"(?:darfst|sollst|solltest|kannst) du"),
        "out_of": cue(
            r"bleib(?:t|en) (?:\S+ ){0,6}?(?:raus|draußen|fern)(?=[.,!]|$)|bleib(?:t"
            r"|en) (?:bitte )?(?:aus|von) "
        ),
        # What somebody does not want to meet with.
        "wants_none": cue(
            r"(?:will|möchte|wollen|möchten) (?:ich|wir) (?:\S+ ){0,6}?(?:nichts|nie|kein\w*)(?:"
            r" \S+){0,4}?"
            r" (?:sehen|lesen|hören|finden|haben)",
            r"(?:ich|wir) (?:will|möchte|wollen|möchten) (?:\S+ ){0,5}?(?:nichts|nie|kein\w*)(?:"
            r" \S+){0,6}?"
            r" (?:sehen|lesen|hören|finden)",
            r"(?:(?:will|möchte|wollen|möchten) (?:ich|wir)|(?:ich|wir) (?:will|möchte|wollen|möchten)) "
            r"(?:\S+ ){0,5}?(?:nicht|nie)(?: \S+){0,6}? \w+(?:t|en) werden",
            r"(?:ich|wir) (?:will|möchte|wollen|möchten|wünschen?)(?: mir)? (?:bitte )?kein(?:e|en"
            r"|erlei) (?-i:[A-ZÄÖÜ])\w+",
        ),
        # An idea that was turned down in the same breath.
        "dismisses": cue(
            r"nein(?=[.!]*$)|(?:kommt|kommen|kam)(?: \w+)? nicht in ?frage|ist keine"
            " option|scheidet aus"
        ),
        # What others hold to be right is not yet done so.
        "opines": cue(r"sollten?|solle|sollten|soll man|sei|wolle|habe er"),
        # A name is given, small or capital.
        "called": cue(r"(?<!das )(?:heißt(?! es|$)|heißen|nennt sich|lautet|namens)"),
        # What others think, not what they say is so.
        "holds": cue(
            r"(?:findet|meint|glaubt|denkt|behauptet|behaupten|vermutet|predigt)(?!(?: \S+){1,8} statt)"
        ),
        "hearsay": cue(r"(?!)"),
        # What is said to matter follows it.
        "matters": cue(
            r"(?:wichtig|entscheidend|wesentlich) (?:ist|wäre)(?: mir| uns)?|(?:ist|wäre) (?:mir "
            r"|uns )?(?:\w+ )?(?:wichtig|entscheidend)"
        ),
        "moved": cue(r"(?:bin|sind) (?:\S+ ){0,6}?(?:nach|in die|ins) \S+(?: \S+)? (?:um)?gezogen"),
        # How long ago something changed takes nothing from what holds since.
        "recent": cue(r"letzte[sn]? (?:jahr|woche|monat|sommer|winter|herbst|frühjahr|wochenende)"),
        "object_first": cue(r"(?!)"),
        "only_last": cue(r"(?!)"),
        "none_here": cue(r"gibt(?:'s| es) (?:\S+ ){0,6}kein\w*"),
        "beside_you": cue(r"(?:bevor|wenn|falls|ehe|sobald|solange|bis|während) (?:du|(?-i:Sie))"),
        "this_thing": cue(
            r"(?:die|der|das|den|dem) (?:erste|zweite|dritte|letzte|andere|vorige|obige"
            r"|vorherige)[nsrm]?(?: (?:option|variante|version|vorschlag|idee|ansatz|lösung|teil"
            r"|absatz|satz|punkt|beispiel"
            r"|code|antwort|möglichkeit)|(?=[.,!]|$))|(?:dein|ihr)(?:e[nmrs]?)? (?:vorschl[aä]g\w*"
            r"|idee\w*|version|antwort|plan|ansatz"
            r"|tipps?|rat|lösung|empfehlung\w*|code)"
            r"|diese[rsnm]? (?!projekt|repo|chat|gespräch|team|haus|firma)\w+|(?:das|so)(?= (?:machen"
            r"|nehmen) wir)|(?:vorschlag|idee) mit"
            r"|^\w+(?:'s| (?:das|die|den|es|sie|ihn)) (?:bitte|mal|doch|noch|auch|jetzt|so|schnell"
            r"|gleich"
            r"|kurz|nochmal|lieber)"
        ),
        "changed": cue(
            r"neuerdings|inzwischen|mittlerweile|nicht mehr|jetzt|nun|ab (?:dem |der )?nächste[nmr]? \w+"
            r"|seit (?:heute|gestern|dem|der|kurzem|neuestem|letzte[rmn]|" + DAYS + ")"
            r"|auf (?:\S+ ){1,4}?(?:\w*ge\w{3,}|er\w{3,}|ver\w{3,}|re\w+zier)(?:t|en)|wieder"
        ),
        "our_way": cue(r"wir (?:\S+ ){0,2}?\w+n (?:\S+ ){0,4}?(?:mit|in|auf|bei|über|per|via)"),
        "call_me": cue(r"(?:nenn|nenne|nennen sie|ruf|sag)(?: bitte)? (?:mich|zu mir)(?= )"),
        "theirs": cue(r"(?:ihr|sein|dessen|deren)(?:e[nmrs]?)? (?-i:[A-ZÄÖÜ])\w+"),
        "that_one": cue(
            r"^(?:das|dieses) (?:foto|bild|video|selfie)|diese[rsnm]? (?!projekt|repo|chat|gespräch|team"
            r"|haus|firma)\w+"
        ),
        "concludes": cue(r"(?:ok|okay|gut|also|dann|somit|damit|deshalb|daher)(?=[, ]|$)"),
        "only": cue(r"nur|nur noch|ausschließlich|lediglich|allein|maximal|höchstens|mindestens"),
        "no_more": cue(r"nicht mehr|kein\w* (?:\S+ ){0,3}mehr|keiner mehr"),
        "from_now": cue(
            _WHEN,
            rf"ab (?:dem |der |nächste[rmn] )*(?:{MONTH}|{DAYS}|{SEASON}|woche|monat|jahr|\d+\.?)",
            r"von jetzt ab",
        ),
        "future": cue(_WHEN, r"immer|jedes ?mal|stets|generell|grundsätzlich|durchgehend|dauerhaft"),
        "here": cue(
            r"bei (?:uns|mir)|hier|im (?:team|haus|büro|betrieb|projekt|verein|chor|repo)|in (?:der"
            r"|unserer) (?:firma|familie|abteilung)"
            r"|hierzulande"
        ),
        "please": cue(r"bitte"),
        "we_dont": cue(
            r"wir (?:\S+ ){0,4}?(?:nie|nicht|keine?n?)|(?:\w+en) wir (?:\S+ ){0,3}?(?:nie|nicht"
            r"|keine?n?)"
        ),
        "every": opening(r"(?:jede[rsnm]?|alle|alles|sämtliche|wer)\b"),
        "role": cue(r"(?!)"),
        "placed": cue(
            r"^(?:im|am|in de[rn]|an de[rm]|auf de[mr]|hinter de[mr]|neben de[mr]|unter de[mr]"
            r"|zwischen (?:de[rmn] )?\w+ und)"
            r" (?!\d)(?:\S+ ){1,4}?(?:ist|sind|steht|stehen|liegt|liegen|hängt|hängen|gibt es"
            r"|befinde[tn])",
            r"(?:ist|sind|liegt|liegen|steht|stehen|sitzt|sitzen|hängt|hängen"
            r"|befindet sich) (?:\S+ )?(?:im|in|am|an|auf|unter|hinter|neben|bei(?! (?:uns|mir|euch)))",
        ),
        "asks_first": cue(
            r"(?:frage?|fragen sie|sprich)(?: \w+)? (?:mich|uns|nach|mit mir)|rücksprache|rückfrage"
            r"|vorher (?:zu )?fragen"
        ),
        "outputs": cue(
            r"(?:jede[nmrs]?|alle[nmr]?|deine) (?:deiner |meiner |meine |unsere )?(?:antwort(?:en)?"
            r"|briefe?|e-?mails?|mails?|nachricht(?:en)?"
            r"|berichte?|texte?|zusammenfassung(?:en)?|dokumente?|kommentare?|überschrift(?:en)?"
            r"|rechnung(?:en)?|angebote?|protokolle?|übersetzung(?:en)?"
            r"|daten|datumsangaben|uhrzeiten|preise|beträge|zahlen|einheiten|funktion(?:en)?"
            r"|commits?)(?! (?:der|des|von|aus|die)\b)|im ton|den ton|den stil"
            r"|(?:schreibe?|runde?|formatiere?) (?:zahlen|daten|datumsangaben|uhrzeiten|preise|beträge"
            r"|namen|einheiten|währungen)"
        ),
        "as_is": cue(r"(?:so,? )?wie (?:sie|es|er) (?:ist|sind)|unverändert|unangetastet|in ruhe"),
        "you_verb": cue(r"\w+t du"),
        "bygone": cue(r"war|waren|wurde|wurden|hatte|hatten"),
        "irony": cue(
            r"(?:(?:ja|na|aber|ach) )?(?:klar|sicher|logisch|natürlich)(?: doch)?,? und|sagt (?:der"
            r"|die|das|ein) (?:\S+ ){1,3}?zu[mr]?|treffen sich zwei"
            r"|kommt ein\w* \w+ (?:in|zum)"
        ),
        "must": cue(r"muss|müssen|darf|dürfen|soll|sollen|sollten?"),
        "may_not": cue(
            r"(?:darf|dürfen|darfst|soll|sollen|sollst|sollten?|kann|können) (?:\S+ ){0,8}?"
            r"(?:nicht|nichts|nie|niemals|niemand|kein\w*|auf keinen fall|unter keinen umständen"
            r"|keinesfalls)"
        ),
        "you_must": cue(
            r"du (?:darfst|sollst|musst|solltest)",
            r"(?:darfst|sollst|musst|solltest) du",
            r"dass (?:du|(?-i:Sie))",
        ),
        "names_rule": cue(r"regeln?|\w*regel|grundsatz|vorgabe|richtlinie|bedingung|gilt"),
        "duty": cue(
            r"pflicht|verpflichtend|vorgeschrieben|vorschrift|verboten|untersagt|tabu|nicht erlaubt"
            r"|erlaubt|nicht (?:gestattet|zulässig|erwünscht)"
            r"|(?:verlässt|verlassen) (?:\S+ ){1,5}?nicht(?=[.!,]*$)"
            r"|(?:geht|gehen|kommt|kommen) (?:\S+ ){0,3}?nicht (?:mehr )?(?:nach|ins?|auf|an|aus|raus"
            r"|rein|zu[mr]?)(?= |[.!]*$)"
            r"|gehör(?:t|en)|gilt|gelten|\w+pflicht|\w+verbot|zwingend|obligatorisch|erforderlich"
            r"|schreib(?:t|en) (?:\S+ ){1,6}?vor(?=[.,!]|$)"
            r"|bleib(?:t|en) (?:\S+ ){0,5}?(?:zu|geschlossen|verschlossen|offen|privat|intern"
            r"|aus)(?=[.,!]|$)"
            r"|(?:geht|gehen|läuft|laufen) über"
            r"|(?:hat|haben) (?:\S+ ){0,6}?nichts (?:verloren|zu suchen)|nicht in ?frage"
            r"|(?:hat|haben) (?:\S+ ){0,6}?nicht (?:zu \w+n|(?:auf|an|ab|aus|ein|vor)zu\w+n)"
            r"|brauch(?:t|en)(?! (?:ich"
            r"|wir))|freigegeben"
            r"|freigabe|regel ist|(?:kommt|kommen|geht|gehen) vor(?= )|(?:kommt|kommen) (?:hinter"
            r"|neben|unter|vor) (?:das|die|den)|nur (?:\S+ ){1,3}?(?:darf|dürfen)"
            r"|(?:ist|sind) (?!schwer|leicht|nicht|einfach|nur)(?:\S+ ){1,8}?(?:zu \w+n|(?:ab|an|auf"
            r"|aus|bei|ein|mit|nach|vor|weg)zu\w+n)(?=[.,!]*$)"
            r"|(?:ins|aufs|ans|in de[nr]|in die|auf de[nr]|auf die) (?:\S+ ){1,3}?(?:kommt|kommen"
            r"|gehört|gehören|darf|dürfen) (?:\S+ ){0,2}?(?:kein\w*"
            r"|nicht\w*|nie\w*|nur)"
        ),
        "passive": cue(
            r"(?:wird|werden) (?:\S+ ){0,12}?(?:\w*ge\w+(?:t|en)|\w+iert|(?:be|ver|er|ent|zer)\w+(?:t"
            r"|en)|\w+t)"
        ),
        "passive_last": cue(
            r"(?:\w*ge\w+(?:t|en)|\w+iert|(?:be|ver|er|ent)\w+(?:t|en)) (?:wird|werden)(?: \w+)?"
        ),
        "infinitive": cue(r"(?-i:[a-zäöüß]+(?:en|ern|eln))(?=[.!,]*$)"),
        "decided": cue(
            r"entschieden|entschlossen|beschlossen|beschluss|entscheidung|geeinigt|verständigt"
            r"|abgestimmt"
            r"|abgesprochen|festgelegt"
            r"|(?:hat|haben) (?:\S+ ){1,6}?angenommen|vereinbart|abgemacht|steht fest|ist fix|fix"
            r"|beschließ\w+|beschlossene\w*|wahl"
            r"|zugestimmt|genehmigt|bewilligt"
            r"|grünes licht|abgesegnet|(?:aus)?gewählt|ausgesucht|(?:hat"
            r"|haben) (?:sich )?(?:\S+ ){1,5}?genommen|angemeldet|eingeschrieben|verabschiedet"
            r"|abgeklärt|geklärt|(?:es bleibt"
            r"|bleibt es) (?:also )?(?:beim?|dabei)|ausgemacht|überzeugt|zugesagt|unterschrieben"
        ),
        "confirms": cue(
            r"bestätigt|denk (?:\w+ )?d(?:a)?ran|denke (?:\w+ )?d(?:a)?ran|vergiss(?: \w+)? nicht"
            r"|besteht(?: \w+)? darauf|beachte\w*"
            r"|mitgeteilt|angekündigt|informiert|erfahren|wichtig(?: ist)?|berücksichtig\w*|festgelegt"
            r"|beschlossen|vereinbart|wisse\w*|damit du"
            r"|nicht vergessen|merk\w*"
            r"|steht fest|fest steht|verlangt|erwarte\w*|möchte|will|achte\w*|bitte"
        ),
        "chooses": cue(
            r"(?:nehme|nutze|verwende|wähle|kaufe|buche|bestelle|behalte)n? (?:wir|ich)",
            r"(?:wir|ich) (?:\S+ ){0,2}?(?:nehmen?|nutzen ab|wählen?|bleiben? bei|bleiben?(?= \S+ bei)"
            r"|setzen? auf|wechseln?|steigen? um"
            r"|gehen? mit|entscheiden|verzichten?|verschieben|streichen|lassen)",
            r"wir (?:kaufen|verkaufen|kündigen|mieten|vermieten|gründen|schließen|eröffnen|steigen"
            r"|ziehen|stellen|schaffen|trennen|bestellen|buchen"
            r"|erhöhen|senken)|und (?:nehmen|machen|bleiben|wechseln)(?= (?:jetzt|nun|doch"
            r"|[\wäöüß-]+[.,!]))|und nehmen|(?:bleiben|nehmen|streichen|verschieben|wechseln|wählen"
            r"|kündigen|setzen) wir"
            r"|lassen wir (?:\S+ ){0,5}?weg|es bleibt (?:also )?(?:bei|dabei)",
            r"lass(?:t)? uns (?:\S+ ){1,8}?(?:nehmen|nutzen|verwenden|bleiben|wechseln|setzen|machen)",
        ),
        "does": cue(
            r"(?:\w+e?n) wir|wir (?:\S+ )?\w+e?n|(?-i:ich \w+e|\w+e? ich)",
        ),
        "becomes": cue(
            r"(?:es|das|beim? [\w -]+|fürs? [\w -]+) wird(?:'s| es)? (?:jetzt |nun |also )?(?:d(?:er|ie"
            r"|as)|eine?|(?-i:[A-ZÄÖÜ])\w*)",
            r"wird's(?! (?:\w+er|zu|mir|langsam))|aus (?:\S+ ){1,4}?wird nichts"
            r"|fliegt (?:\S+ ){0,6}raus|fällt (?:\S+ ){0,4}?(?:weg|aus)|entfällt|findet (?:\S+"
            r" ){0,6}?nicht statt"
            r"|kommt (?:\S+ ){0,3}raus|ist raus|gestrichen|verschoben"
            r"|abgesagt|gekündigt|umgestellt|umgestiegen|gewechselt|umgezogen|abgeschafft|eingestellt"
            r"|ersetzt|abgelöst|gelegt|verlegt|umbenannt"
            r"|(?:wurden?|ist|sind) (?:\S+ ){0,4}?(?:auf|bis zu[mr]?|bis"
            r"|um) (?:\S+ ){0,2}?\S*\d\S*(?: \S+){0,2}?"
            r" \w*(?:ge|ver|er|ent|be|re)\w+(?:t|en)",
        ),
        "change": cue(
            r"jetzt|nun|doch|statt|stattdessen|anstatt|künftig|ab|nur noch|endgültig|neuerdings"
            r"|inzwischen"
            r"|mittlerweile|selber|neu|seit"
            r"|nicht mehr"
        ),
        "likes": cue(
            r"(?:mag|mögen|liebe|lieben|hasse|hassen|bevorzuge|bevorzugen|favorisiere)(?! (?:die|das"
            r"|den) (?:zweite|erste|dritte|idee|version))"
            r"|lieblings\w+|(?:kein|großer|absoluter|riesen)\w* (?:\w+ )?(?:freund|fan)"
            r"|kann ich nicht (?:leiden|ausstehen|ab)|(?:bin|wär) (?:ich )?(?:eher|mehr|nicht so) (?:der"
            r"|die|ein) \S*"
            r"(?:typ|mensch|fan|freund)|(?:bin|wär)e? (?:ich )?nicht zu haben"
            r"|nicht (?:leiden|ausstehen|ausstehn)|mit (?:\S+ ){1,3}?kann(?:st)? (?:man|du"
            r"|ich) (?:mich|nichts|wenig|gar nichts)|stehe? (?:\w+ )?(?:total )?auf|schmeckt mir"
            r"|gefällt mir|gefallen mir|mir (?:gefällt|gefallen)(?! (?:das|die|der|dein\w*|es)\b)"
            r"|find(?:e)?(?:'s| ich| es)? (?:\S+ ){0,3}?(?:angenehmer|besser|schöner|praktischer"
            r"|übersichtlicher|schrecklich|furchtbar)"
            r"|(?:liest|schreibt|arbeitet|merkt) sich (?:\S+ ){0,3}?(?:besser|leichter|angenehmer)"
            r"|zieh(?:e|en)? (?:\S+ ){1,5}?vor(?=[.,!]|$)|vorliebe|hilft (?:es )?mir(?! (?:sehr|weiter"
            r"|echt|schon|leider|nicht))|mir hilft"
            r"|(?:bring|sag|lieg)(?:t|en) mir (?:\w+ )?(?:mehr|wenig|nichts|nicht|viel)"
            r"|darf(?:'s| es) (?:gerne?|ruhig)"
            r"|kann ich (?:\S+ ){0,4}?(?:schlecht|schwer|kaum|nicht gut) \w+n"
            r"|(?:meide|vermeide) ich|ich (?:meide|vermeide)|(?:achte|schau\w*) (?:ich )?(?:\w+"
            r" )?(?:auf|drauf|darauf)"
            r"|(?:lege ich|ich lege?) (?:\w+ )?wert auf|liegen? mir(?= |[.,!]|$)|mein geschmack"
            r"|nichts für mich|ekel\w*"
            r"|(?:nerv|stör|streng|langweil|ärger|stress|ermüd|interessier|beruhig|reiz)(?:t|en) mich"
            r"|(?:ich (?!möchte|würde|hätte|will|wüsste|bin)\w+|(?!möchte|würde|hätte|will"
            r"|wüsste)\w+ ich) (?:\S+ ){0,3}?gerne?"
            r"|am \w+sten (?:\S+ ){1,3}?(?:ich|mir|mich)|halte? ich (?:\w+ )?(?:nichts|wenig|viel)"
            r"|ich halte? (?:\w+ )?(?:nichts|wenig|viel) von|mir reich(?:t|en)(?! es)"
            r"|wichtig ist mir|mir (?:ist|sind) (?:\S+ ){0,6}(?:wichtig\w*|zu)|(?:ist"
            r"|sind) mir (?:\S+ ){0,3}?(?:wichtig\w*|zuwider|verhasst|zu \w+"
            r"|ein \w+)|(?:nicht|gar nicht|genau|total|voll|so) (?:so )?(?:meins|meine? (?:ding|fall"
            r"|geschmack|welt|sache|stil))"
            r"|(?:ich finde?|finde? ich) (?!(?:das|es|die|den|dein\w*|diese\w*|sie|ihn|keine?n?"
            r"|eine?n?|mein\w*)\b)(?:\S+ ){0,8}?(?:\w+(?:end|ig|lich|voll|bar|sam)"
            r"|gut|schlecht|toll|super|blöd|doof)(?=[.!,]*$)|am besten (?:\S+ ){1,2}?(?:mich|mir|ich)"
        ),
        "rather": cue(r"lieber|am liebsten|bevorzugt|möglichst"),
        "habit": cue(
            r"ich (?:trinke?|esse?|nehme?) meine?n? \w+",
            r"(?:hör|höre|hören|ess|esse|essen|trink|trinke|trinken|les|lese|lesen|schau|schaue|arbeite"
            r"|nehm|nehme|schlafe?|koche?|kaufe?|fahre?"
            r"|benutze?|nutze?|schreibe?|mache?|bestelle?|trage?|spiele?) (?:\S+ ){0,6}?(?:nur|kein\w*"
            r"|(?:gar|überhaupt) nicht|nie|immer|gern|gerne|eigentlich"
            r"|grundsätzlich|meist|meistens|stets)",
            r"(?:ich (?!hab|habe|hatte|bin|war|weiß|kann|will|muss|hätte|würde)\w+|(?!hab|habe|hatte"
            r"|bin|war|weiß|kann|will|muss|hätte|würde)\w+ ich)"
            r" (?:\S+ ){0,4}?(?:meistens|meist|grundsätzlich|normalerweise|üblicherweise|gewöhnlich"
            r"|niemals|selten|hauptsächlich|prinzipiell"
            r"|generell)",
        ),
        "for_you": cue(
            r"wenn du|dass du|wenn (?-i:Sie)|(?:mir|uns) (?:wär|wäre|ist|wär's|ist's|wäre es"
            r"|ist es) (?:\w+ )?(?:recht|lieber|wichtig|lieb)"
            r"|möchte sie bitten|möchte dich bitten|bitte dich|bitte sie"
        ),
        # A wish, for the one who is asked if a "you" follows it.
        "nice_if": cue(
            r"(?:fänd|fände|wär|wäre)(?:'s| es| ich)? (?:\w+ ){0,3}?(?:gut|schön|besser|super|toll|nett"
            r"|prima|angenehm\w*)"
        ),
        "promises": cue(r"(?:ich werde|werde ich) (?:\S+ ){0,8}?\w+e?n(?=[.,!]|$)"),
        "asks_info": cue(
            r"(?:kannst|könntest|würdest|magst) du (?:mir |uns |bitte |mal )*(?:erklären|sagen|zeigen"
            r"|helfen|tipps|einen tipp|empfehlen|vorschlagen)"
        ),
        "asks_you": cue(
            r"(?:kannst|könntest|würdest|magst|willst) du|(?:können|könnten|würden|dürfte ich) sie"
            r"|würde es (?:dir|ihnen)|macht es (?:dir|ihnen)"
            r"|geht das,? dass|geht das(?=$)|(?:ginge|wäre|ist) es (?:auch )?(?:möglich|ok|okay|in"
            r" ordnung)"
            r"|ginge es|geht es,? dass"
            r"|wärst du so|wären sie so|dürfte ich (?:dich|sie) bitten|wäre es möglich"
        ),
        "possible": cue(
            r"wenn's geht|wenn möglich|falls möglich|wenn es geht|nach möglichkeit|möglichst|gern(?:e)?"
        ),
        "turns": opening(r"(?:aber|doch|jedoch)\b"),
        "mine": cue(r"(?:mein|unser|unsr)(?:e[mnrs]?|er|es)?"),
        "me": cue(r"ich|wir|mir|mich|uns|hab|bin"),
        "i": cue(r"ich"),
        "we": cue(r"wir"),
        "others": cue(r"er|sie(?! sich)|man|ihr|jemand"),
        "states": cue(
            r"heiß(?:t|e|en)|komme|stamm(?:e|t)|benutz(?:e|t|en)|ist|sind|bin|hat|hab|habe|haben|läuft"
            r"|laufen|laufe|liegt|liegen|lauscht"
            r"|lauschen|wohn(?:t|e|en)|leb(?:t|e|en)|arbeite(?:t|n)?"
            r"|sitz(?:t|e|en)?|steht|stehen|kostet|kosten|beträgt|dauer(?:t|n)|geht|gehen|geht's"
            r"|fahr(?:e"
            r"|en)|fährt|fahr|nehm|nehme|beginnt|startet|herrscht|starten?|endet|braucht|nutz(?:t|en|e)"
            r"|verwende(?:t|n)?|lässt|lassen|kommt|kommen|öffnet|schließt|mach(?:t|e|en)|prüft|prüfen"
            r"|leitet|betreut|betreiben|betreibe|wiegt|zahl(?:t|e|en)|verdien(?:t|e|en)"
            r"|vertr(?:age|ägt|agen)|trink(?:e|t|en)|esse|isst|essen|sprech(?:e|en)|spricht"
            r"|studier(?:t|e)"
            r"|reagier(?:e|t)?|gibt|gibt's|findet|muss|müssen|trifft|treffen|wird|werden|zieh(?:t|en|e)"
            r"|deploy(?:en|t)|lautet|reicht|passen|passt|gehör(?:t|en)|gilt|schläft|bekomm(?:t|en|e)"
            r"|krieg(?:t|e|en)?|baue?n?|besitz(?:e|t|en)"
            r"|hält|halten|besteht|umfasst|erlaubt|spielt|spiele|lern(?:t|e)|schreib(?:en|t|e)"
            r"|setz(?:en|t"
            r"|e)|hosten?|speicher(?:n|t)|nehmen|nimmt|starten|drauf|cache\w*|kümmert|betreuen|verwaltet"
            r"|unterrichtet|verkauf(?:t|en)|heizen|koch(?:t|en|e)|lern(?:en)?|trägt|verbraucht"
            r"|bezahl(?:t"
            r"|en)|stehen"
        ),
        "trait": cue(
            r"allergi\w*|unverträglich\w*|(?-i:vertrag(?:e|en)?)|verträgt|intoleran\w*|linkshänder\w*"
            r"|rechtshänder\w*"
            r"|vegetari\w*|vegan\w*|schwanger|diabet\w*|asthma\w*"
            r"|taub|verheiratet|geschieden|verlobt|ledig|verwitwet|rentner\w*|selbstständig|freiberuf\w*"
            r"|farbenblind|schwerhörig|blind|gehörlos|operiert|legasthen\w*"
            r"|nichtraucher\w*|vegetarisch|glutenfrei|laktose\w*|brillenträger\w*|rot-grün\w*|höhenangst"
            r"|flugangst|epilep\w*|rheuma|migräne|bluthochdruck"
        ),
        "relation": cue(
            r"\w*(?:frau|mann|tochter|sohn|kinder|kind|mutter|vater|eltern|schwester|bruder|oma|opa"
            r"|tante"
            r"|onkel|cousin|cousine|neffe|nichte|freundin|freund"
            r"|partner|partnerin|chefin|chef|kollegin|kollege|nachbar|nachbarin|hund|katze|kater|berater"
            r"|beraterin|vermieter|vermieterin|arzt|ärztin|kunde|kundin|mitbewohner\w*|schwieger\w*)"
        ),
        "title": cue(r"(?:frau|herrn?|dr|prof)\.? (?-i:[A-ZÄÖÜ])\w+"),
        "needs": cue(
            r"(?:ich|wir) (?:\w+ )?(?:brauch\w*|such\w*|möchte\w*|will|wollen|hätte\w*|würde\w*"
            r"|versuch\w*"
            r"|frag\w*|verstehe?|weiß|hoffe?|schau\w*|guck\w*|wollte|überlege?|bekomme|kriege?|sehe?"
            r"|denke?|meine|finde|freue?|überlegt|plane?|bereite|habe vor|bin (?:gespannt|gerade|am"
            r"|unsicher|aufgeregt|verwirrt))"
            r"|(?:brauch|brauche|suche|möchte|will|hätte|würde|versuche|verstehe|schau|schaue|guck"
            r"|bekomme"
            r"|krieg|kriege|sehe|denke) (?:ich|wir)|(?:ich muss|wir müssen) noch"
        ),
        "perfect": cue(
            r"(?:hab|habe|haben|bin|hat) (?:\S+ ){0,10}?(?<!zu )(?!geschlossen"
            r"|geöffnet)(?:\w*ge\w+(?:t|en)|\w{3,}iert)"
            r"|(?:ist|sind) (?:\S+ ){0,10}?\w*(?:gegangen|gekommen|gefahren|geflogen|gelaufen|gefallen"
            r"|geworden|geblieben|geboren|gestiegen|gestorben"
            r"|passiert|aufgewacht|gezogen|gewesen|gelandet|gestoßen)"
        ),
        # "…, wir lassen das".
        "open_end": cue(r"(?:das|damit)[.!]*$"),
        "fails": cue(
            r"(?:ist|sind) (?:\S+ ){0,6}?(?:fehlgeschlagen|gescheitert|abgebrochen|schiefgegangen)"
            r"|fehlgeschlagen|gescheitert|schlug fehl|schlägt fehl"
            r"|(?:hat|haben) (?:\S+ ){0,3}?(?:nicht|nichts) (?:funktioniert|geklappt|geholfen|gebracht"
            r"|genützt)"
            r"|(?:hat|haben) (?:\S+ ){1,5}?nicht \w+er gemacht|nach hinten los\w*|daneben gegangen"
            r"|ging daneben|in die hose"
            r"|(?:ohne|keine) wirkung|ändert(?:e)? (?:gar |überhaupt )?nichts"
            r"|klappt(?:e)? nicht|funktioniert(?:e)? nicht|ging schief|sackgasse|bringt nichts"
            r"|vergeblich|in die knie gegangen|^das lassen wir(?: lieber| sein| bleiben| also)*(?=[.!]*$)"
            r"|(?:schon|bereits)(?: mal)? (?:\w+ ){0,3}?(?:aus)?(?:probiert|versucht)"
            r"|nicht (?:noch ?mals?|noch einmal|wieder)(?= (?:versuchen|probieren|machen|tun|nehmen)"
            r"|[.!,]|$)"
            r"|versuch das nicht|endete? (?:in"
            r"|mit) (?:einem )?fehler"
        ),
        # What people are like, whoever they are.
        "observes": cue(
            r"^(?:die )?(?!wir\b)(?-i:[A-ZÄÖÜ])\w+n? (?:wollen|denken|glauben|meinen|verstehen|vergessen"
            r"|meckern|jammern|lügen)(?! (?:wir|ich)\b)",
            r"(?:ist|sind|hat|haben|macht|geht|\w{3,}(?:t|en)) (?:ja |eben |nun mal )?halt",
        ),
        "says": cue(
            r"(?:sagt|sagte|sagen|meint|meinte|behauptet|behaupten|schreibt(?!(?: \S+){1,6} vor\b)"
            r"|schrieb|laut|erzählt"
            r"|denkt|rät|empfiehlt|empfehlen|predigt|brüllt|schreit|warnt|erklärt|schwört|zufolge)(?!"
            r" (?:mir|sich))"
            r"|pflegte (?:\w+ )?zu sagen|(?:hat|haben) (?:\S+ ){0,4}?(?:gesagt|gemeint|behauptet"
            r"|erzählt|geraten|empfohlen|geschworen)"
            r"|(?:steht|stand)(?= ?(?:[:\"„»\x00]|dass|drin|was))|^(?:da|hier|dort|im|in|auf"
            r"|am) (?:\S+ ){0,4}?(?:steht|stand(?=$))|findet(?!(?: \S+){1,8} statt)|(?:hat"
            r"|haben) (?:\S+ ){0,5}?geschrieben"
        ),
        "task": cue(
            r"(?:bitte |kannst du |könntest du )?(?:übersetz\w*|korrigier\w*|(?:verbesser|prüf"
            r"|überarbeite?)\w* (?:\S+ ){0,4}?(?:satz|text|brief|mail|absatz"
            r"|entwurf)|fass\w* (?:\S+ ){1,8}zusammen"
            r"|zusammenfassen|formulier\w*|umschreiben|stell dir vor|schreib(?:e)? (?:mir |uns "
            r"|bitte )*(?:eine?n?|das|die|den) |rollenspiel|spiel(?:e)? (?:die|eine|den))"
        ),
        "generic": cue(r"(?:man|jeder|jede|alle|niemand|keiner)"),
        "wants": cue(
            r"(?:möchte|will|erwarte|wünsche mir|hätte gern) ich|(?:ich hätte|hätte ich) (?:\S+"
            r" ){1,3}?gerne?|ich (?:\w+ )?(?:möchte|will|erwarte"
            r"|hätte gern)|(?:wollen|möchten) wir|wir (?:wollen|möchten)"
        ),
        "ago": cue(
            r"vor (?:\S+ ){1,3}?(?:tagen|wochen|stunden|minuten)|letzte[nrs]? (?:woche|nacht|wochenende|"
            + DAY
            + r")|neulich"
        ),
        "likes_the": cue(r"(?!)"),
        # What somebody does not have is as much a fact as what they have.
        # What somebody does by habit, for a living or at home: the present of the first person.
        "life": cue(
            r"(?:ich|wir) (?:arbeite|wohne|lebe|lerne|unterrichte|studiere|besitze|spreche|leite"
            r"|spiele|trainiere|benutze|nutze|verwende|pendle|heize"
            r"|züchte|betreibe|vermiete|teile)n?|(?:arbeite|wohne|lebe|lerne|unterrichte|studiere"
            r"|spreche|leite|spiele|trainiere|benutze|nutze|verwende"
            r"|pendle|heize|betreibe|melde)n? (?:ich|wir)"
        ),
        "to_me": cue(r"^(?:bitte )?[a-zäöüß]+ (?:bitte )?(?:mir|uns)(?! (?:nie|immer|kein))"),
        "lacks": cue(
            r"(?:ich|wir) hab(?:e|en)? keine?n? (?!zeit|lust|ahnung|idee|problem|bock|hunger|frage"
            r"|plan)\w+"
        ),
        "finite": cue(r"(?!)"),
        "stays": cue(r"bleib(?:t|en)"),
        "law": cue(
            r"\w*pflicht|\w+verbot|verboten|untersagt|vorgeschrieben|verpflichtend|obligatorisch"
            r"|zwingend"
        ),
        "after_all": cue(
            r"(?:jetzt|nun|dann|also|am ende|letztlich) doch|doch (?:erst|lieber|noch)|endgültig"
            r"|ein für alle ?mal"
        ),
        "can": cue(r"(?:kann|können)(?! (?:\S+ ){0,3}?(?:nicht|kein\w*|nur|nie|nichts)\b)"),
        "object_it": cue(r"(?!)"),
        "you": cue(r"(?!)"),
        # A law of nature, an average, history: nothing of the people who talk.
        "world": cue(
            r"\d[\d.,]* ?(?:°|grad|kilometer|km|meter|tonnen|lichtjahre?|millionen|milliarden)"
            r"|(?:\d+|\w+) stunden (?:am|pro) tag|normalerweise|üblicherweise|standardmäßig|im"
            r" durchschnitt"
            r"|durchschnittlich"
            r"|(?:(?:im jahre?|anno|seit|um) )?1[0-8]\d\d(?= (?:in \S+ )?\w+(?:t|en)[.,!]*$)"
        ),
        "math": cue(r"\\|[=×]|wahrscheinlichkeit|gleichung\w*|ergibt"),
        # What goes on at present, or has for some time.
        "ongoing": cue(
            r"(?:bin|sind) (?:\S+ ){0,4}?(?:am|beim) [A-ZÄÖÜ]\w+n|(?:arbeite|schreibe|baue|sitze"
            r"|bastle) (?:\w+ )?(?:gerade|grad|noch)"
        ),
        "for_years": cue(
            r"seit (?:\S+ ){0,2}?(?:jahr(?:en)?|monaten|schule|schulzeit|kindheit|studium|geburt|"
            + MONTH
            + r"|(?:19|20)\d\d)"
        ),
        "generic_of": cue(
            r"(?:der|die|das) [\wäöüß-]+ von (?!der\b|dem\b|den\b|die\b|das\b|uns\w*"
            r"|mein\w*|frau|herrn?|\d)[\wäöüß-]+ (?:ist|sind|war|beträgt)"
        ),
        "deed": cue(
            r"(?:hab|habe|haben|bin|sind) (?:\S+ ){0,10}?(?<!zu )(?:\w*ge\w+(?:t|en)|\w+iert|(?:be|ver"
            r"|er|ent)\w+(?:t|en))(?=[.,!]|$| und)"
            r"|(?:ich|wir) (?:war|waren|ging|gingen|hatten?)|(?:war|waren|ging|gingen|hatten?) (?:ich"
            r"|wir)"
        ),
    },
    values=VALUES,
)
