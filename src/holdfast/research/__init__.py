"""Research: what was found for a question, kept as notes, shown again while it holds.

Start with `finding` (the values) and `library` (all it can do); where sources come from is in `web`.
"""
