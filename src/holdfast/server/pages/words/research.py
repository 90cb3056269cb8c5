"""Words for the page `research`."""

from holdfast.i18n import lazy

WORDS: dict[str, str] = {
    "found_1": lazy("1 finding"),
    "found_n": lazy("{n} findings"),
    "found_n_one": lazy("1 finding"),
    "none_yet": lazy(
        "Nothing was looked up yet. Turn on research for a question, and what was found stands here."
    ),
    "none_found": lazy("Nothing matches."),
    "unavailable": lazy("Research is not available here."),
    "found_ago": lazy("found {when}"),
    "holds_until": lazy("holds until {when}"),
    "holds_for_good": lazy("holds for good"),
    "expired": lazy("expired {when}"),
    "volatility_hourly": lazy("changes by the hour"),
    "volatility_daily": lazy("changes daily"),
    "volatility_weekly": lazy("changes weekly"),
    "volatility_monthly": lazy("changes monthly"),
    "volatility_permanent": lazy("does not change"),
    "mode_quick": lazy("quick"),
    "mode_deep": lazy("deep"),
    "by_model": lazy("summarised by a model"),
    "by_text": lazy("sentences from the sources"),
    "by_person": lazy("written by a person"),
    "no_summary": lazy("Not summarised yet."),
    "sources_n": lazy("{n} sources"),
    "sources_n_one": lazy("1 source"),
    "sources_1": lazy("1 source"),
    "not_read": lazy("could not be read: {why}"),
    "read_at": lazy("read {when}"),
    "what_was_read": lazy("What was read"),
    "note": lazy("Note: {path}"),
    "merged_n": lazy("joined from {n} findings"),
    "to_chat": lazy("To the conversation"),
    "forget": lazy("Forget"),
    "forget_it": lazy("Forget: {question}"),
    "forget_title": lazy("Forget this finding?"),
    "forget_text": lazy("“{question}” goes for good, with its summary and the texts of its sources."),
    "forgotten": lazy("Forgotten."),
    "troubles": lazy("Some notes could not be read: {what}"),
}
