"""Words for the page `context`: its own, and what reports and decisions name as `window` says it."""

from holdfast.compaction.summariser import METHODS
from holdfast.i18n import lazy
from holdfast.server.pages.words import plots
from holdfast.server.pages.words.meter import Names
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

WORDS: dict[str, str] = {
    **plots.WORDS,
    "untitled": lazy("Untitled conversation"),
    "window_of": lazy("{n} tokens"),
    "used": lazy("{used} of {window} tokens used ({share} %); {method}: {low} to {high}"),
    "model": lazy("Model: {name}"),
    "sent_at": lazy("Last sent {when}"),
    "all_n": lazy("All ({n})"),
    "in_n": lazy("In the window ({n})"),
    "shortened_n": lazy("Shortened ({n})"),
    "out_n": lazy("Left out ({n})"),
    "role_user": lazy("Question"),
    "role_assistant": lazy("Answer"),
    "role_tool": lazy("Tool result"),
    "role_system": lazy("Instructions"),
    "pin": lazy("Pin"),
    "unpin": lazy("Unpin"),
    "pinned": lazy("Pinned: it stays in the window."),
    "unpinned": lazy("No longer pinned."),
    "pin_help": lazy("Keep this message in the window as it is"),
    "pictures": lazy("{n} pictures"),
    "calls": lazy("calls {names}"),
    "said": lazy("What was said"),
    "seen": lazy("What the model gets"),
    "seen_nothing": lazy("Nothing of it."),
    "state_summarised": lazy("summarised"),
    "summary_first": lazy("What the model reads instead of what was summarised"),
    "earlier_messages": lazy("Earlier messages"),
    "from_chat": lazy("from: {title}"),
    "to_memory": lazy("Memories"),
    "recalled_beginning": lazy(
        "Brought in because the conversation began: what matters to it was looked up."
    ),
    "recalled_fits": lazy("Brought in because it fits the question."),
    "because": lazy("found by {why}"),
    "turns_jump": lazy("Tokens of each request; a click leads to its question"),
    "cached_tokens": lazy("still cached"),
    "window": lazy("the window"),
    "seen_as": lazy("What the model sees of it"),
    "original": lazy("The original ({n} characters)"),
    "added": lazy("Added: {what}"),
    "section_clock": lazy("time"),
    "next_time": lazy("Changes take effect with the next question."),
    "turns_plot": lazy("Tokens of each request"),
    "prompt_tokens": lazy("read anew"),
    "answer_tokens": lazy("answer"),
    "compaction": lazy("compaction"),
    "compacted": lazy("{level}: {before} → {after} tokens"),
    "compacted_undone": lazy("{what} (undone)"),
    "kept": lazy("kept"),
    "kept_share": lazy("{n} % kept"),
    "lost": lazy("lost"),
    "unknown": lazy("not known: on another branch"),
    "prefix_sum": lazy(
        "{kept} of {all} requests began with the whole one before; the server could go on from there."
    ),
    "seconds": lazy("{n} s"),
    "undo": lazy("Undo"),
    "undo_this": lazy("Undo: {what}"),
    "undone": lazy("Undone. {n} messages come back."),
    "undone_at": lazy("undone {when}"),
    "on_messages": lazy("{n} messages"),
    "before_after": lazy("{before} → {after} tokens"),
    "which": lazy("Which messages"),
    "and_more": lazy("and {n} more"),
    "no_decisions": lazy("Nothing was decided: the model sees everything as it was said."),
    "mode_": lazy("as it fits"),
    "mode_full": lazy("in full"),
    "mode_summary": lazy("as a digest"),
    "mode_element": lazy("one part of it"),
    "mode_lines": lazy("some lines"),
    "mode_list": lazy("as a list"),
    "mode_tree": lazy("as a tree"),
    "mode_search": lazy("what was searched for in it"),
    "cut": lazy("shortened"),
    "changed": lazy("has changed since"),
    "looked_for": lazy("Looked for"),
    "likely_answered": lazy("{n} % likely that something answers it"),
    "hits_brought": lazy("brought: {n}"),
    "hits_missed": lazy("just missed: {n}"),
    "part_words": lazy("words"),
    "part_beside": lazy("beside it"),
    "part_around": lazy("conversation"),
    "part_meaning": lazy("meaning"),
    "part_person": lazy("who said it"),
    "part_recent": lazy("how new"),
    "part_time": lazy("the day it is about"),
    "no_brought": lazy("No files, sources or memories are in this window."),
    "to_finding": lazy("Show the finding"),
    "exact": lazy("Exactly what the model server got: messages and tools are the same, byte for byte."),
    "not_exact": lazy(
        "Not exactly what the model server got: {n} pieces have changed since or are not kept."
    ),
    "not_kept": lazy("Options such as temperature are not kept, so they are not shown."),
    "download": lazy("Download"),
    "data_left_out": lazy("… {n} characters of data …"),
    "no_window": lazy("Nothing of this conversation was sent to a model yet."),
}
NAMES: Names = {
    "rule": (sentences.rule, RULES),
    "cause": (sentences.cause, CAUSES),
    "notice": (sentences.notice, NOTICES),
    "state": (sentences.state, ("in", "shortened", "out")),
    "method": (sentences.method, ("exact", "estimate")),
    "way": (sentences.way, (*METHODS, "in passing", "reused")),
}
