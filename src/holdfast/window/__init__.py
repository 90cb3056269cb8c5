"""The window: what of a conversation goes out, decided purely from values and counts."""
