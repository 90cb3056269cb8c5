"""Words for the page `context`: its own, and what reports and decisions name as `window` says it."""

from holdfast.compaction.summariser import METHODS
from holdfast.server.pages.words import plots
from holdfast.server.pages.words.meter import both
from holdfast.window import sentences
from holdfast.window.decisions import LEVEL_OF

RULES = (*LEVEL_OF, "thinking", "banner", "unreadable", "orphan")
CAUSES = (
    "first", "tools", "system", "profile", "decisions", "history", "horizon", "recall", "file", "research",
    "thinking", *(f"level {number}" for number in sorted(set(LEVEL_OF.values()))),
)  # fmt: skip
NOTICES = (
    "not_searched", "not_noted", "not_recalled", "recalled_by_words", "held_back", "profile_broken",
    "files_missing", "context_cut", "sources_cut", "sources_noted", "sources_missing",
    "not_kept", "not_smaller",
)  # fmt: skip

WORDS: dict[str, tuple[str, str]] = {
    **plots.WORDS,
    **both("rule", sentences.rule, RULES),
    **both("cause", sentences.cause, CAUSES),
    **both("notice", sentences.notice, NOTICES),
    **both("state", sentences.state, ("in", "shortened", "out")),
    **both("method", sentences.method, ("exact", "estimate")),
    **both("way", sentences.way, (*METHODS, "in passing", "reused")),
    "untitled": ("Untitled conversation", "Gespräch ohne Titel"),
    "window_of": ("{n} tokens", "{n} Tokens"),
    "used": (
        "{used} of {room} tokens used ({share} %); {method}: {low} to {high}",
        "{used} von {room} Tokens belegt ({share} %); {method}: {low} bis {high}",
    ),
    "model": ("Model: {name}", "Modell: {name}"),
    "sent_at": ("Last sent {when}", "Zuletzt gesendet {when}"),
    "all_n": ("All ({n})", "Alle ({n})"),
    "in_n": ("In the window ({n})", "Im Fenster ({n})"),
    "shortened_n": ("Shortened ({n})", "Gekürzt ({n})"),
    "out_n": ("Left out ({n})", "Weggelassen ({n})"),
    "role_user": ("Question", "Frage"),
    "role_assistant": ("Answer", "Antwort"),
    "role_tool": ("Tool result", "Werkzeug-Ergebnis"),
    "role_system": ("Instructions", "Anweisungen"),
    "pin": ("Pin", "Anheften"),
    "unpin": ("Unpin", "Lösen"),
    "pinned": ("Pinned: it stays in the window.", "Angeheftet: bleibt im Fenster."),
    "unpinned": ("No longer pinned.", "Nicht mehr angeheftet."),
    "pin_help": (
        "Keep this message in the window as it is",
        "Diese Nachricht im Fenster behalten, wie sie ist",
    ),
    "pictures": ("{n} pictures", "{n} Bilder"),
    "calls": ("calls {names}", "ruft {names} auf"),
    "seen_as": ("What the model sees of it", "Was das Modell davon sieht"),
    "original": ("The original ({n} characters)", "Das Original ({n} Zeichen)"),
    "added": ("Added: {what}", "Ergänzt: {what}"),
    "section_clock": ("time", "Uhrzeit"),
    "next_time": (
        "Changes take effect with the next question.",
        "Änderungen wirken ab der nächsten Frage.",
    ),
    "turns_plot": ("Tokens of each request", "Tokens jeder Anfrage"),
    "prompt_tokens": ("request", "Anfrage"),
    "answer_tokens": ("answer", "Antwort"),
    "room": ("room for a request", "Platz für eine Anfrage"),
    "compaction": ("compaction", "Kompaktierung"),
    "compacted": ("{level}: {before} → {after} tokens", "{level}: {before} → {after} Tokens"),
    "compacted_undone": ("{what} (undone)", "{what} (rückgängig gemacht)"),
    "kept": ("kept", "gehalten"),
    "kept_share": ("{n} % kept", "{n} % gehalten"),
    "lost": ("lost", "verloren"),
    "unknown": ("not known: on another branch", "nicht bekannt: auf einem anderen Zweig"),
    "prefix_sum": (
        "{kept} of {all} requests began with the whole one before; the server could go on from there.",
        "{kept} von {all} Anfragen begannen mit der ganzen vorigen; der Server konnte dort weitermachen.",
    ),
    "seconds": ("{n} s", "{n} s"),
    "undo": ("Undo", "Rückgängig"),
    "undo_this": ("Undo: {what}", "Rückgängig machen: {what}"),
    "undone": ("Undone. {n} messages come back.", "Rückgängig gemacht. {n} Nachrichten kommen zurück."),
    "undone_at": ("undone {when}", "rückgängig gemacht {when}"),
    "on_messages": ("{n} messages", "{n} Nachrichten"),
    "before_after": ("{before} → {after} tokens", "{before} → {after} Tokens"),
    "which": ("Which messages", "Welche Nachrichten"),
    "and_more": ("and {n} more", "und {n} weitere"),
    "no_decisions": (
        "Nothing was decided: the model sees everything as it was said.",
        "Nichts wurde entschieden: Das Modell sieht alles, wie es gesagt wurde.",
    ),
    "mode_": ("as it fits", "so weit es passt"),
    "mode_full": ("in full", "ganz"),
    "mode_summary": ("as a digest", "als Überblick"),
    "mode_element": ("one part of it", "ein Teil daraus"),
    "mode_lines": ("some lines", "einige Zeilen"),
    "mode_list": ("as a list", "als Liste"),
    "mode_tree": ("as a tree", "als Baum"),
    "mode_search": ("what was searched for in it", "was darin gesucht wurde"),
    "cut": ("shortened", "gekürzt"),
    "changed": ("has changed since", "hat sich seither geändert"),
    "looked_for": ("Looked for", "Gesucht wurde"),
    "likely_answered": (
        "{n} % likely that something answers it",
        "zu {n} % wahrscheinlich, dass etwas antwortet",
    ),
    "hits_brought": ("brought: {n}", "geholt: {n}"),
    "hits_missed": ("just missed: {n}", "knapp verfehlt: {n}"),
    "part_words": ("words", "Wörter"),
    "part_beside": ("beside it", "daneben"),
    "part_around": ("conversation", "Gespräch"),
    "part_meaning": ("meaning", "Bedeutung"),
    "part_person": ("who said it", "wer es sagte"),
    "part_recent": ("how new", "wie neu"),
    "part_time": ("the day it is about", "der Tag, um den es geht"),
    "no_brought": (
        "No files, sources or memories are in this window.",
        "In diesem Fenster sind keine Dateien, Quellen oder Erinnerungen.",
    ),
    "to_finding": ("Show the finding", "Fundstelle zeigen"),
    "exact": (
        "Exactly what the model server got: messages and tools are the same, byte for byte.",
        "Genau das, was der Modellserver bekam: Nachrichten und Werkzeuge sind Byte für Byte gleich.",
    ),
    "not_exact": (
        "Not exactly what the model server got: {n} pieces have changed since or are not kept.",
        "Nicht genau, was der Modellserver bekam: {n} Teile haben sich geändert oder sind nicht aufgehoben.",
    ),
    "not_kept": (
        "Options such as temperature are not kept, so they are not shown.",
        "Optionen wie die Temperatur werden nicht aufgehoben und darum nicht gezeigt.",
    ),
    "download": ("Download", "Herunterladen"),
    "data_left_out": ("… {n} characters of data …", "… {n} Zeichen Daten …"),
    "no_window": (
        "Nothing of this conversation was sent to a model yet.",
        "Von diesem Gespräch wurde noch nichts an ein Modell gesendet.",
    ),
}
