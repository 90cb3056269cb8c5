"""The pictures of the documents: they are there, and what they show can still be made."""

import re
from itertools import product
from pathlib import Path

import pytest

from tests.browser.conftest import serving
from tests.browser.pictures import FOLDER, LARGEST, LARGEST_MOVIE, MOVIE, pictures
from tests.browser.sample_data import Narrator, live, lived

ROOT = Path(__file__).parents[2]


def test_every_page_has_picture_in_both_languages_and_themes():
    for picture, language, theme in product(pictures(""), ("en", "de"), ("light", "dark")):
        picture_file = FOLDER / f"{picture.name}-{language}-{theme}.png"
        assert picture_file.is_file(), "`make pictures` takes them"
        assert picture_file.stat().st_size < LARGEST, picture_file.name
    assert MOVIE.stat().st_size < LARGEST_MOVIE


@pytest.mark.parametrize("document", ["README.md", "docs/start.de.md"])
def test_documents_show_pictures_that_are_there(document):
    path = ROOT / document
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text("utf-8"))
    assert len(shown) >= 3
    assert [link for link in shown if not (path.parent / link).is_file()] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_picture_content_includes_summary_used_memory_and_replaced_memory(tmp_path, language):
    life = lived(language)
    with serving(tmp_path, behind=Narrator(life, pace=0)) as server:
        chat = live(server, life)
        compactions = server.client.get(f"/api/chats/{chat}/compactions").json()["compactions"]
        assert "qwen3:4b" in [compaction["model"] for compaction in compactions if compaction["level"] == 3]
        answer = server.client.get(f"/api/chats/{chat}/messages?limit=50&html=true").json()
        assert sum(message.get("memories") or 0 for message in answer["messages"]) >= 1
        assert server.client.get("/api/memory/list?only=former").json()["total"] == 1
        assert server.client.get("/api/research").json()["total"] == len(life["findings"])
