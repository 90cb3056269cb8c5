"""Research: what was found for a question, stored as notes and used again while it is valid.

Start with `finding` (the values) and `library` (everything research can do); `gather` and `fetch` bring
sources from the web. The package depends on no window, no model and no user interface.
"""
