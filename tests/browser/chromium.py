"""A Chromium for the browser tests: one that is there, else Debian's package, else Playwright's own download.

`python -m tests.browser.chromium` gets one, as `make test` does before the tests; those only look.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# Seconds. Without a network it shall not be the browser that everybody waits for.
_PATIENCE = 300
_APT = ("apt-get", "-q", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15")


def browser() -> Path | None:
    """A Chromium that starts; None if there is none."""
    return next((path for path in _places() if _starts(path)), None)


def get() -> Path | None:
    """The same, installed if need be and if that can be done."""
    results = browser()
    for way in (*_debian(), [[sys.executable, "-m", "playwright", "install", "chromium"]]):
        if results is None and all(_done(command) for command in way):
            results = browser()
    return results


def _places() -> Iterator[Path]:
    for name in _NAMES:
        if path := shutil.which(name):
            yield Path(path)
    yield from (path for path in map(Path, _APPS) if path.exists())
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    if own.exists():
        yield own


def _starts(path: Path) -> bool:
    """On some systems a command of this name only says how to install the real one."""
    return _done([str(path), "--version"])


def _debian() -> list[list[list[str]]]:
    """With the lists of packages that are there, and if they are too old with new ones."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return []
    install = [*_APT, "install", "-y", "--no-install-recommends", "chromium"]
    return [[install], [[*_APT, "update"], install]]


def _done(command: list[str]) -> bool:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=quiet, capture_output=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    there = get()
    print(f"browser for the tests: {there or 'none could be found or installed; its tests are left out'}")
