"""The real QMD, where it is installed: what our stand-in claims about it, it does.

By words alone, which needs no model; `qmd` is the one of the PATH, or the command in HOLDFAST_TEST_QMD.
"""

import os
import shutil
from contextlib import closing

import pytest

from holdfast.backends.qmd_process import parse_command, parse_extras
from holdfast.messages import Scope
from tests.backends.test_qmd import BOB, CLUB, ME, WORK, Kit

pytestmark = pytest.mark.real

HERON = "- The heron nests in the old mill.\n"


@pytest.fixture(scope="module")
def command() -> tuple[str, ...]:
    words = parse_command(os.environ.get("HOLDFAST_TEST_QMD", "qmd"))
    if shutil.which(words[0]) is None:
        pytest.skip("QMD is not installed here: npm install -g @tobilu/qmd, or name it in HOLDFAST_TEST_QMD.")
    return words


def test_the_real_one_reads_finds_and_keeps_people_apart(command, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "Über & unter.md").write_text("# Signs\n\nA heron is our sign.\n")
    extra = parse_extras(f"docs={docs}", tmp_path)
    with closing(Kit(tmp_path, command=command, mode="search", extra=extra)) as kit:
        kit.write("default/MEMORY.md", f"# Memory\n\n- Tea at five.\n{HERON}")
        kit.write("default/memory/2026-02-24.md", "# Tuesday\n\n- A heron stood on the roof.\n")
        kit.write("default/projects/work/MEMORY.md", "- The heron project ships in May.\n")
        kit.write("default/archive/2026-01.md", "- A heron of long ago.\n")
        kit.write("bob/MEMORY.md", "- Bob's heron is secret.\n")
        kit.write("groups/club/MEMORY.md", "- The club has a heron as its sign.\n")
        assert kit.qmd.refresh() == ""
        mine = {"default/MEMORY.md", "default/memory/2026-02-24.md", "qmd/docs/Über & unter.md"}
        answers = {scope: kit.search("heron", scope) for scope in (ME, WORK, BOB)}
        assert {answer.engines for answer in answers.values()} == {("qmd",)}
        assert {answer.degraded for answer in answers.values()} == {()}
        paths = {scope: {hit.path for hit in answer.hits} for scope, answer in answers.items()}
        assert paths == {ME: mine, WORK: {*mine, "default/projects/work/MEMORY.md"}, BOB: {"bob/MEMORY.md"}}
        results = {hit.path: (hit.snippet, hit.lines) for hit in answers[ME].hits}
        assert results["default/MEMORY.md"] == ("The heron nests in the old mill.", (4, 4))
        note = kit.qmd.resolve(ME, "qmd/docs/Über & unter.md")
        assert note is not None
        assert "our sign" in note.text
        assert kit.search("heron", CLUB).engines == ("fts5",)

        # No order, no result and no such collection are told apart from trouble.
        assert kit.search('-c "heron lex: (').engines == ("qmd",)
        assert kit.search("unheard-of").empty == "Nothing has any of these words."
        kit.write("carol/MEMORY.md", HERON)
        assert "has not read" in kit.search("heron", Scope("carol")).degraded[0]

        # What was forgotten is gone at once, and what was moved is followed.
        kit.write("default/MEMORY.md", "# Memory\n\n- Tea at five.\n")
        assert "default/MEMORY.md" not in {hit.path for hit in kit.search("heron nests").hits}
        (kit.workspace / "bob" / "MEMORY.md").unlink()
        assert kit.qmd.refresh() == ""
        assert kit.search("heron", Scope("carol")).engines == ("qmd",)
        assert len(kit.keeper.state.collections) == 4
