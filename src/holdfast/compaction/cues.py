"""Recognises by its words what a sentence does: asks, names an aim, reports, leaves open, tells of a failure.

German and English. A sentence may do several of these, or none.
"""

import re
from dataclasses import dataclass

from holdfast.patterns import late

_WORD = late(r"[\w'-]+")
# Characters of a sentence that are read.
_GLANCE = 300
_QUESTION = late(r"\?[\"'”“)*_ ]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """The words of a sentence in lower case, with one space before each and one at the end.

    `length` does not count numbers.
    """

    plain: str
    length: int
    is_question: bool

    @classmethod
    def of(cls, sentence: str) -> "Cues":
        tokens = _WORD.findall(sentence[:_GLANCE].lower().replace("’", "'"))
        length = sum(word[0].isalpha() for word in tokens)
        return cls(f" {' '.join(tokens)} ", length, bool(_QUESTION.search(sentence[-_GLANCE:])))

    @property
    def asks(self) -> bool:
        return self.is_question or self.commands or bool(_ASKS.search(self.plain))

    @property
    def aims(self) -> bool:
        return bool(_AIMS.search(self.plain))

    @property
    def names_goal(self) -> bool:
        """Whether the sentence names a goal explicitly; it may replace an earlier goal."""
        return not self.is_question and bool(_GOAL.search(self.plain))

    @property
    def commands(self) -> bool:
        return bool(_COMMANDS.match(self.plain))

    @property
    def reports(self) -> bool:
        return bool(_REPORTS.search(self.plain) or _REPORTED.match(self.plain))

    @property
    def leaves_open(self) -> bool:
        return not self.is_question and bool(_OPEN.search(self.plain))

    @property
    def tells_failure(self) -> bool:
        return not self.is_question and bool(_FAILED.search(self.plain))

    @property
    def forbids(self) -> bool:
        """Whether the sentence forbids something this once; lasting rules are found by `window.rules`."""
        return not self.is_question and bool(_FORBIDS.match(self.plain) or _FORBIDDEN.search(self.plain))

    @property
    def is_idle(self) -> bool:
        """Whether the sentence is mere politeness or an announcement."""
        return bool(_IDLE.match(self.plain))


def _any(phrases: str, before: str = " ") -> re.Pattern[str]:
    """Returns a pattern for any of these phrases, in which an underscore stands for a space.

    All begin with a space, which makes searching a long span fast.
    """
    return late(rf"{before}(?:{'|'.join(phrases.split()).replace('_', ' ')})(?= )")


_OPENING = (
    " (?:(?:please|ok|okay|now|then|so|and|also|but|hi|hey|hello|next|yes|no"
    "|bitte|und|also|dann|jetzt|nun|gut|hallo|ja|nein|aber) ){0,3}"
)

_COMMANDS = _any(
    """
    add adjust analy[sz]e build calculate change check clean compare compute convert create debug define
    delete deploy describe design draft edit explain extend extract find fix format generate give help
    implement improve insert install integrate let's list look make merge migrate move optimi[sz]e outline
    plan prepare print propose provide put read recommend refactor remove rename replace review rewrite run
    search set show sort split suggest summari[sz]e tell test translate try update upgrade use verify write
    analysiere? aktualisiere? ändere? bau baue berechne? beschreibe? behebe? benenne bring bringe entferne?
    ergänze? erkläre? erstelle? erweitere? erzähl fass fasse finde? formuliere? füge? generiere? gib hilf
    implementiere? installiere? kürze? lies liste? lösche? mach mache nenne? nimm öffne passe? plane? prüfe?
    rechne refaktoriere? richte? schau schreibe? setze? sortiere? stelle? suche? teste? übersetze?
    vergleiche? verbessere? verschiebe? wandle zeige?
    """,
    _OPENING,
)
_ASKS = _any(
    """
    (?:can|could|would|will)_you please i_would_like i'd_like i_(?:want|need)_(?:you|to|an?|the|some|help)
    help_me what_(?:is|are|does|about) how_(?:do|can|should|would|to)_i? why_(?:is|are|does|do)
    (?:kannst|könntest|würdest|magst)_du (?:können|könnten|würden)_sie bitte hilf_mir
    ich_(?:möchte|brauche|hätte_gern|hätte_gerne|bräuchte|will) wir_(?:brauchen|sollten|müssen)
    """
)
_AIMS = _any(
    """
    (?:my|our|the)_(?:main_|overall_|final_|ultimate_)?(?:goal|aim|objective|purpose|plan)_(?:is|here)
    (?:i_am|i'm|we_are|we're)_(?:trying|aiming|hoping|planning|looking)_to
    (?:i_am|i'm|we_are|we're)_(?:working_on|building|developing|writing|creating|planning|preparing)
    (?:i|we)_(?:want|need|would_like|plan|intend|hope)_to (?:i'd|we'd)_like_to
    (?:das|mein|unser)_(?:haupt|gesamt)?ziel_(?:ist|dabei|dieses) ziel_ist es_geht_(?:mir_)?(?:um|darum)
    (?:ich|wir)_(?:möchten?|wollen|will|versuchen?|planen?|bauen?|entwickeln?|arbeiten?_(?:gerade_)?an)
    """
)
_GOAL = _any(
    """
    (?:my|our|the|new)_(?:main_|overall_|final_|ultimate_|new_)?(?:goal|aim|objective)_(?:is|was|has)
    (?:das_|mein_|unser_|neues_)?(?:haupt|gesamt)?ziel_(?:ist|bleibt|lautet)
    """
)

_PAST = (
    r"(?:\w{3,}ed|built|made|wrote|written|found|ran|set|put|took|taken|got|chose|did|done|split"
    r"|went|sent|bought)"
)
_REPORTS = _any(
    rf"""
    (?:i|we)(?:'ve|_have)?_(?:now_|just_|also_|successfully_|already_)?{_PAST}
    (?:has|have)_been_(?:now_|successfully_|already_)?{_PAST} (?:was|were)_(?:successfully_)?{_PAST}
    (?:is|are)_(?:now|done|fixed|complete|finished|ready|in_place) (?:all|the)_(?:\d+_)?tests?_(?:now_)?pass
    \d+_passed turn(?:s|ed)_out the_(?:result|cause|problem|reason|root_cause|answer|total)_(?:is|was)
    your_\w+_(?:\w+_)?(?:is|was|has_been)
    wurden?_(?:\w+_){{0,6}}(?:ge\w+|\w+iert|(?:er|be|ver|ent)\w+t)
    (?:ich|wir)_(?:habe|haben|hab) (?:habe|haben)_(?:ich|wir) worden (?:ist|sind)_(?:jetzt|nun|fertig)
    erledigt behoben entschieden beschlossen umgesetzt abgeschlossen läuft_(?:jetzt|nun|wieder)
    tests?_(?:laufen|sind_grün|bestehen) (?:das_ergebnis|die_ursache|der_grund|das_problem)_(?:ist|war|lag)
    """
)
_REPORTED = _any(
    """
    done fixed added updated created implemented renamed removed changed moved deployed merged finished
    booked cancell?ed resolved installed migrated refactored fertig angelegt geändert gelöscht ergänzt
    """
)

_OPEN = _any(
    """
    to-?do fixme tbd next_steps? as_a_next next_(?:up|we|i) still_(?:open|needs?|ha(?:ve|s)_to|missing
    |pending|to_do|unclear) (?:not|is|are|isn't|aren't|haven't|hasn't)_(?:\\w+_)?yet left_to_do follow-?up
    outstanding unresolved open_(?:question|issue|point|item)s?
    (?:i'm|we're|i_am|we_are|still)_waiting_for remind_me_(?:to|about|that|tomorrow) remaining_(?:work|tasks?)
    by_(?:tomorrow|next|monday|tuesday|wednesday|thursday|friday)
    noch_(?:offen|nicht|zu|fehlt|fehlen|machen|klären|ausstehend) offene?_(?:punkte?|fragen?|aufgaben?)
    (?:steht|stehen|fehlt|fehlen|muss|müssen|müssen_wir)_noch nächste[rn]?_schritte? als_nächstes ausstehend
    warten?_(?:noch_)?auf bis_(?:morgen|montag|dienstag|mittwoch|donnerstag|freitag) zu_klären ungeklärt
    (?:bleibt|ist)_offen
    """.replace("\n    |", "|")
)
_FAILED = _any(
    """
    (?:does|did|do|will|would|could)(?:n't|_not)_(?:\\w+_)?(?:work|help|solve|fix|compile|start)
    (?:won't|can't|cannot)_(?:work|be_(?:used|done|changed|combined))
    (?:isn't|is_not|not)_(?:possible|supported)
    no_luck same_(?:error|problem) still_(?:fails?|failing|broken|crash(?:es|ing)?|not_working|wrong|the_same)
    (?:has_|have_|it_|that_|this_|which_)failed failed_(?:with|because|on|again|to)
    fails_(?:with|on|because|when)
    dead_end (?:i|we|was|have)_(?:reverted|rolled_back) gave_up to_no_avail without_success
    made_(?:it|things)_worse
    (?:funktioniert|klappt|geht|läuft|hilft|ging|lief|reicht|passt)_(?:so_|leider_|immer_noch_|auch_)*nicht
    nicht_(?:funktioniert|geklappt|geholfen|gegangen|möglich|gelöst|unterstützt|erlaubt|kompatibel|mehr)
    nichts_(?:gebracht|geholfen|genützt) gleiche[rn]?_fehler immer_noch_(?:\\w+_)?(?:fehler|kaputt|falsch)
    fehlgeschlagen schlägt_fehl schlug_fehl scheiterte?t? gescheitert ohne_erfolg erfolglos vergeblich
    rückgängig zurückgerollt verworfen sackgasse
    """
)
_FORBIDS = _any(
    """
    do_not don't never no_more stop avoid nicht keine?[nr]? niemals nie vermeide auf_keinen_fall
    lass_(?:die|das|den)
    """,
    _OPENING,
)
_FORBIDDEN = _any(
    """
    (?:must|may|shall)_not mustn't (?:must|should)_never not_allowed
    (?:darf|dürfen|darfst|sollst)_(?:\\w+_){0,4}(?:nicht|keine?n?|nie|niemals)
    """
)

_IDLE = _any(
    """
    congratulations yes_that yeah hey long_time i'll_definitely if_so please_(?:provide|confirm|let)
    sure certainly of_course great thanks thank_you you're_welcome absolutely happy_to glad got_it hi hello
    sounds_good perfect that's_(?:great|awesome|wonderful) wow i'd_be_happy
    i'm_(?:happy|glad|sorry|here|excited)
    here_(?:is|are) here's below let_me_know feel_free i_hope hope_this good_luck remember
    note_that by_following in_(?:summary|conclusion)
    if_you_(?:have|need|want|would|don't) just_let would_you_like looking_forward is_there_anything how_can_i
    let's_(?:dive|get_started|start)
    you_can you_could you_should you_may this_(?:will|ensures|allows|way|approach|example)
    perfekt gerne? natürlich klar danke super selbstverständlich hier_(?:ist|sind) ich_hoffe viel_erfolg
    lass_mich_wissen wenn_du_(?:noch|weitere|möchtest) falls_du gern_geschehen kein_problem sag_bescheid
    melde_dich ich_helfe du_kannst du_könntest damit_kannst
    """
)
