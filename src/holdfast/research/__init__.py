"""Research: what was found for a question, stored as notes and used again while it is valid.

Start with `finding` (the values) and `library` (everything research can do); `web` fetches sources. The
package depends on no window, no model and no user interface.
"""
