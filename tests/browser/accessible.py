"""What keeps people from using a page: some rules of WCAG that a machine can check, in the page as it is now.

Not all that accessibility is; what is found here is always a fault. The rules themselves are in the script.
"""

from pathlib import Path

from playwright.sync_api import Page

_RULES = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def faults(page: Page) -> list[str]:
    """In words, each with the element it was found at; none if all is well."""
    return list(page.evaluate(_RULES))
