"""German: how somebody shows feelings, trouble or small talk, by which little is stated. Data only."""

from holdfast.text.lang.shape import any_of, cue

_PERCEIVES = any_of("sieht hört liest merkt spürt riecht kennt weiß erlebt trifft vergisst glaubt denkt")

MOODS = {
    # What is said to a friend, or to whom one met: a name behind a greeting, a question back, praise.
    "calls": cue(
        r"^(?:danke|hey|hi|hallo|wow|ja|klar|glückwunsch|super|cool"
        r"|mensch),? (?-i:[A-ZÄÖÜ][a-zäöüß]+)(?=[,.!])"
    ),
    "asks_back": cue(
        r"und (?:du|ihr|dir|euch|bei dir|bei euch|selbst)(?=\?)|wie (?:geht's|geht es|läuft's"
        r"|läuft es|war's) (?:dir|euch|bei dir)"
        r"|was (?:ist|gibt's|geht|macht ihr|machst du) (?:bei dir|neues|so)|warst du (?:schon )?mal"
        r"|hast du (?:schon )?mal"
    ),
    "admires": cue(
        r"(?:freut mich|freue mich|toll|super|schön|klasse|cool|tut mir leid"
        r"|stolz)(?: \w+)? (?:für dich|für euch|zu hören|dass du|auf dich)"
        r"|(?:das|es) (?:ist|klingt|sieht|war) (?:(?:ja|echt|so|wirklich|sehr|total|richtig) )*"
        r"(?:toll|super|großartig|klasse|cool|schön|wunderbar|fantastisch|spannend|lecker|gut aus)"
        r"|klingt (?:\w+ )?(?:toll|super|gut|spannend)|glückwunsch|weiter so|gut gemacht|viel glück"
        r"|du bist (?:\w+ )*\w+(?=!)"
    ),
    "trouble": cue(
        r"schüttet|stürmt|gewittert|kaputt|fehler\w*|geht nicht|gehen nicht|läuft nicht"
        r"|funktioniert nicht|funktionieren nicht"
        r"|klappt nicht|abgestürzt|stürzt|hängt(?=[.!,]|$| (?:sich|fest|gerade|wieder))|langsam"
        r"|timeout|(?:ist|sind|wieder|noch|komplett) rot|verwirrt|problem\w*|bug\w*"
        r"|(?:eine?|ne|meine|noch|kurze|paar|hätte|habe?) (?:\w+ )?fragen?|idee|ideen|müde|hunger"
        r"|kopfweh|kopfschmerzen"
        r"|schlecht|krank|genervt|gestresst"
        r"|sauer|froh|traurig|mies|blöd|(?:ist|sind) (?!\S*\d)(?:\S+ ){0,6}?weg(?=[.!]*$)|leer"
        r"|nervös|aufgeregt|unsicher|zu (?:langsam|groß|klein"
        r"|lang|teuer)"
        r"|mein tag|gut drauf|fix und fertig|keine lust|erkältet|angst|sorge\w*|regnet|schneit"
        r"|wetter|stau|kalt"
    ),
    "mental": cue(
        r"keine? (?:sorgen?|angst|panik|stress|ahnung|gedanken|problem|thema|eile|hektik|ursache"
        r"|wunder|lust|zeit|frage|scherz|witz|rolle|mühe|umstände)"
        r"|macht nichts|mach dir (?:nichts|keine)|vergiss(?: \w+)? nicht|nicht (?:schlimm|nötig"
        r"|wichtig)|stör dich nicht|lass dich nicht|hab keine"
        r"|erzähl mir nicht|sag mir nicht|scheu dich nicht|kein(?:e[nmrs]?)? (?:idee|plan|bock"
        r"|vergleich|unterschied|grund|ende)|man soll(?:te)? nie|(?:sag|gib) niemals nie"
        # What everybody perceives is an observation: "Sieht man überall."
        rf"|^(?:\S+ ){{0,2}}{_PERCEIVES} man|^man {_PERCEIVES}"
        # So is what has lost its object, and what was never met with: "Braucht man immer."
        rf"|^\w+t man\b|^(?:noch )?nie \w*ge\w+(?:t|en)(?! werden)"
        rf"|^(?:solltest|musst|sollst) du (?:\w+ )?wissen"
    ),
    # Praise, feelings, what something means to somebody: true for the moment, and of no use later.
    "feels": cue(
        r"endlich|so (?:schön|toll|gut|viel|sehr|froh|dankbar|stolz)\w*|dankbar|stolz|begeister\w*"
        r"|wunderbar|wunderschön|großartig|fantastisch|toll|spaß"
        r"|freude|glücklich|aufregend|spannend|traum|träume|bedeutet mir|leidenschaft\w*"
        r"|motivier\w*|überfordert|läuft gut|harte arbeit"
        r"|idiot\w*|depp\w*|trottel|arsch\w*|nervensäge|zumutung|katastrophe|albtraum|genie|engel"
        r"|held\w*"
        r"|nerv(?:t|en)(?! mich)|auf die nerven|unmöglich|unfähig"
        r"|zufrieden|gespannt|frustrier\w*|fühle?n? (?:ich|mich|wir|uns)|erledigt|geduld"
    ),
}
