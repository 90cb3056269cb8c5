"""Memories as they are kept: added, found alike, corrected, superseded, archived, taken elsewhere."""
