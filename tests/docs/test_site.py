"""The documentation as pages: built without a warning, readable, and with nothing in it from elsewhere."""

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.docs.blocks import ROOT

SVG = "{http://www.w3.org/2000/svg}"
DIAGRAMS = ("layers", "levels", "tree", "turn", "window")


@pytest.mark.slow
@pytest.mark.xdist_group("docs")
def test_the_site_is_built_without_warnings_and_loads_nothing_from_elsewhere(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]+src=\"([^\"]+)|<link[^>]+href=\"([^\"]+)", page.read_text()
        )
        assert [item for pair in loaded for item in pair if re.match(r"(https?:)?//", item)] == [], page.name
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"@import|url\((?!data:)['\"]?https?:", style.read_text()), style.name


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams_say_in_words_what_they_show_and_know_dark_pages(name):
    text = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = ElementTree.fromstring(text)
    assert drawn.get("role") == "img"
    assert all(len(drawn.findtext(f"{SVG}{part}", "")) > 8 for part in ("title", "desc"))
    assert "prefers-color-scheme:dark" in text


def test_readme_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", text):
        assert (ROOT / target).exists(), target
