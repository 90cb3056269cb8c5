"""Words for the palette that every page has."""

from holdfast.i18n import lazy, lazy_context

WORDS = {
    "palette": lazy("Chats, pages and commands"),
    "palette_hint": lazy("Find a chat, a page, a command, a setting …"),
    "palette_entries": lazy("Matches"),
    "palette_count": lazy("{n} matches"),
    "palette_count_one": lazy("1 match"),
    "palette_none": lazy("Nothing like that."),
    "palette_new": lazy("New chat"),
    "palette_untitled": lazy("Untitled"),
    "palette_commands": lazy("Commands"),
    "palette_pages": lazy("Pages"),
    "palette_settings": lazy("Settings"),
    "palette_chats": lazy_context("in the palette", "Chats"),
    "palette_light": lazy("Theme: light"),
    "palette_dark": lazy("Theme: dark"),
    "palette_auto": lazy("Theme: as the system"),
}
