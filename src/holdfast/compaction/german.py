"""German sentences about a person's own world, as patterns: who they are, what is around them, when, likes.

Each is matched at the beginning of a clause. What is done with a match is decided in `statements`.
"""

from holdfast.compaction.phrases import (
    AMOUNT,
    DATE,
    DAY,
    MONTH,
    NAME,
    NUMBER,
    PERSON,
    PRODUCT,
    Patterns,
    endings,
    pattern,
    words,
)

_NOUN = r"(?-i:[A-ZÄÖÜ])[\w-]*"
_MINE = r"(?:meine?|unsere?)"
_RELATIVE = endings(
    """
    chefin chef frau mann partnerin partner freundin freund verlobter? sohn söhne tochter töchter kind
    kinder mutter mama vater papa eltern schwester bruder geschwister oma opa tante onkel nichte neffe
    cousine? kollegin kollegen? nachbarin nachbar assistentin lehrerin lehrer ärztin arzt anwältin anwalt
    vermieterin vermieter vorgesetzter? betreuerin betreuer beraterin berater hund katze kater pferd
    mitbewohnerin mitbewohner kunde kundin
    """
)
_ATTRIBUTE = endings(
    """
    name geburtstag adresse nummer job beruf firma unternehmen betrieb team abteilung büro schule
    universität wohnung haus auto fahrrad laptop rechner computer handy kamera drucker router editor
    zeitzone muttersprache budget gehalt miete gewicht diät allergie flug zug hotel reise urlaub hochzeit
    termin prüfung frist besprechung projekt produkt website domain repo server datenbank cluster kunden
    lieferanten? bank versicherung vertrag lager sitz abo verein limit iban system backend frontend pipeline
    maschinen? anlage filiale standort heizung
    """
)
_EVENT = endings(
    """
    termin frist vertrag prüfung abgabe besprechung hochzeit lieferung messe umzug urlaub release
    präsentation workshop konferenz flug operation kurs audit umstellung rechnung einschulung feier start
    konzert reise kündigung migration sitzung wartung
    """
)
_OWNED = endings(
    """
    kind kinder sohn söhne tochter töchter hund hunde katzen? bruder brüder schwestern? geschwister
    allergie haus garten auto wagen wohnung mitarbeiter mitarbeiterinnen angestellte fahrer fahrzeuge server
    filialen? standorte kunden pferde? läden abschluss
    """
)
_DONE = words(
    """
    gekauft bekommen gegangen getroffen angefangen begonnen beendet abgeschlossen umgezogen gezogen bestellt
    erhalten verkauft bezahlt ausgegeben verdient gespendet besucht gelaufen eingestellt gekündigt gebucht
    geheiratet gefeiert veröffentlicht migriert umgestellt gewechselt eingereicht bestanden gewonnen verloren
    gelesen gegründet unterschrieben gefahren geflogen eröffnet geboren gestartet gemietet abgegeben
    """
)
_DO = words(
    """
    fliege ziehe heirate fahre starte beginne gehe treffe ziehen fliegen heiraten fahren starten treffen
    gehen wechseln liefern zahlen zahle verdiene habe haben wohne arbeite bin
    """
)
_BEING = words(
    """
    allergisch verheiratet geschieden schwanger vegan verlobt ledig selbstständig arbeitslos pensioniert
    laktoseintolerant farbenblind \\d{1,2}_jahre_alt
    """
)

WHO: Patterns = (
    pattern(rf"(?:ich hei(?:ß|ss)e|mein name ist) {NAME}"),
    pattern(
        r"ich bin (?:(?:eine?|der|die|gelernter?|selbstständiger?|freiberuflicher?|ausgebildeter?) ){0,2}"
        r"(?!(?:Ihnen|Dir|Euch|Fan|Mir|Dabei|Neu)\b)(?-i:[A-ZÄÖÜ][a-zäöüß-]{3,})\b"
    ),
    pattern(rf"ich bin (?:\w+ )?(?:{_BEING}|in {_NOUN} (?:geboren|aufgewachsen)\b)"),
    pattern(
        r"ich (?:\w+ )?(?:arbeite (?!gerade)(?:\w+ ){0,3}?(?:bei|als|in|im|für|an|am|beim)\b|wohne\b"
        r"|lebe (?:\w+ ){0,2}?(?:in|im|bei|mit)\b|studiere\b|unterrichte\b|leite (?!dir|euch|ihnen)"
        rf"|(?:stamme|komme) aus (?:der |den )?{_NOUN}|spreche (?:\w+ ){{0,2}}?{_NOUN})"
    ),
    pattern(
        r"(?:ich|wir) (?:habe|haben|besitze|besitzen|fahre) (?:\w+ )?"
        rf"(?:eine?n?|{NUMBER}) (?:\w+ ){{0,2}}?{_OWNED}"
    ),
)
WORLD: Patterns = (
    pattern(
        rf"{_MINE} (?:\w+ ){{0,2}}?{_RELATIVE}(?: {NAME})* "
        rf"(?:ist|sind|heißt|heißen|wohnt|lebt|arbeitet|hat|haben|studiert|kommt)\b.*(?:{NAME}|\d)"
    ),
    pattern(
        rf"{_MINE} (?:\w+ ){{0,2}}?{_ATTRIBUTE}(?: (?:für|in|bei|von|im) [^,.]{{1,40}}?)? "
        r"(?:ist|sind|heißt|heißen|läuft|laufen|liegt|steht|sitzt|hat|haben|beträgt|kostet|besteht|geht|endet"
        r"|beginnt|startet|wiegt|nutzt|verwendet) (?!(?:kaputt|langsam|weg|falsch|super|toll)\b)"
        rf".*(?:{NAME}|\d)"
    ),
    pattern(
        r"wir (?:nutzen|verwenden|benutzen|betreiben|hosten|setzen(?=.* ein\b)|arbeiten mit|verkaufen"
        rf"|deployen|fahren|liefern) (?:{_NOUN}|.*(?:{PRODUCT}|\d))"
    ),
    pattern(rf"ich (?:nutze|verwende|benutze|fahre|spiele) (?:\w+ ){{0,2}}?{PRODUCT}"),
)
PEOPLE: Patterns = (
    pattern(
        rf"{PERSON} (?:leitet|verantwortet|betreut|arbeitet (?:bei|in|im|als|für)|wohnt in|kümmert sich um"
        rf"|ist zuständig|ist verantwortlich|ist {_MINE} (?:\w+ )?{_NOUN}"
        r"|ist (?:der|die) \w*(?:chef|leiter|inhaber|ansprechpartner|geschäftsführer|kund|vermieter)\w*)\b"
    ),
)
WHEN: Patterns = (
    pattern(rf"(?:ich|wir) (?:habe|haben|bin|sind) .*(?:{DATE}|{AMOUNT}|\b20\d\d\b).*\b{_DONE}"),
    pattern(
        rf"(?:am|ab|im|seit|bis) (?:dem )?[^,]{{0,14}}?(?:{DAY}|\b20\d\d\b|{MONTH})[^,?]{{0,20}}? {_DO} "
        r"(?:ich|wir)\b"
    ),
    pattern(rf"(?:ich|wir) (?!hab|bin|wohn|arbeit){_DO}.*(?:{DAY}|{AMOUNT})"),
    pattern(
        rf"(?:der|die|das|{_MINE}) (?:\w+ ){{0,3}}?{_EVENT}[^.,]{{0,50}}? "
        rf"(?:ist|sind|endet|beginnt|startet|läuft|findet|war|geht|wird)\b.*{DATE}"
    ),
    pattern(rf"{_MINE} {_RELATIVE} hat .*{DAY} geburtstag"),
)
LIKES: Patterns = (
    pattern(r"ich (?:bevorzuge|favorisiere|hasse|liebe)\b"),
    pattern(
        r"ich (?:mag(?! (?:die|den|das)\b)|esse|trinke|lese|höre|spiele|arbeite|schreibe) (?:\w+ ){0,4}?"
        r"(?:lieber|am liebsten|gerne?|keine?n?|nur|nicht)\b"
    ),
    pattern(r"ich mag (?!(?:die|den|das|wie)\b)\S"),
    pattern(r"mir (?:ist|sind) .*\blieber\b"),
    pattern(r"am liebsten (?:mag|esse|trinke|arbeite|lese|habe|nutze) ich\b"),
    pattern(rf"{_MINE} lieblings\w+ (?:ist|sind|heißt)\b"),
)
