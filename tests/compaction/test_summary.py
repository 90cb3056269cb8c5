"""A summary is read however a model wrote it, written one way, and made to fit without losing its ends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.summary import SECTIONS, Summary, shorten_line


def tokens(text: str) -> int:
    return (len(text) + 3) // 4


FULL = Summary(
    requests=("Fix the login bug", "Add a test for it", "Deploy to staging"),
    goal=("Release 2.4 on Friday",),
    done=("Found the cause in session.py", "Changed `src/auth/session.py`", "17 tests pass"),
    open=("Staging has no certificate yet",),
    must_not=("Never push to main", "Raising the timeout did not help"),
)

IN_MANY_SHAPES = {
    "as asked": """
## Requests
- Fix the login bug
## Goal
- Release 2.4 on Friday
## Done
- Changed `src/auth/session.py`
## Open
- Staging has no certificate yet
## Must not
- Never push to main
""",
    "bold headings with numbers, in a fence, with remarks around": """
Here is the summary:

```markdown
**1. Requests:**
1. Fix the login bug

**2. Goal:**
Release 2.4 on Friday

**3. Done:**
* Changed `src/auth/session.py`

**4. Open:**
• Staging has no certificate yet

**5. Must not:**
– Never push to main
```

Let me know if you need anything else!
""",
    "deep headings with variants": """
# Conversation summary
### 1) User Requests
1) Fix the login bug
### 2) Overall goal
- Release 2.4 on Friday
### 3) Completed work (with the files changed)
- [x] Changed `src/auth/session.py`
### 4) Next steps
- [ ] Staging has no certificate yet
### 5) Must not / tried and failed
- Never push to main
""",
    "plain labels with prose behind them": """
Requests: Fix the login bug
Goal: Release 2.4 on Friday
Done: Changed `src/auth/session.py`
Open: Staging has no certificate yet
Must not: Never push to main
""",
    "a list of labels": """
- Requests: Fix the login bug
- Goal: Release 2.4 on Friday
- Done: Changed `src/auth/session.py`
- Open: Staging has no certificate yet
- Must not: Never push to main
""",
    "bold labels in a list, with nested points": """
* **Requests:**
    * Fix the login bug
* **Goal:** Release 2.4 on Friday
* **Done:**
    * Changed `src/auth/session.py`
* **Open:** Staging has no certificate yet
* **Constraints:** Never push to main

I hope this helps.
""",
    "words alone on their lines": """
REQUESTS
Fix the login bug
GOAL
Release 2.4 on Friday
DONE
Changed `src/auth/session.py`
OPEN
Staging has no certificate yet
MUST NOT
Never push to main
""",
}


@pytest.mark.parametrize("text", IN_MANY_SHAPES.values(), ids=IN_MANY_SHAPES.keys())
def test_the_same_summary_is_read_from_many_shapes(text):
    assert Summary.parse(text, "en") == Summary(
        requests=("Fix the login bug",),
        goal=("Release 2.4 on Friday",),
        done=("Changed `src/auth/session.py`",),
        open=("Staging has no certificate yet",),
        must_not=("Never push to main",),
    )


@pytest.mark.parametrize(
    "headings",
    [
        ("Anfragen", "Ziel", "Erledigt", "Offen", "Nicht tun"),
        (
            "Anfragen des Nutzers:",
            "Das Ziel",
            "Bereits erledigt",
            "Offene Punkte",
            "Was nicht getan werden darf",
        ),
        ("Fragen", "Zielsetzung", "Umgesetzt (mit Dateien)", "Nächste Schritte", "Verboten"),
        ("Requests", "Goal", "Done", "Open", "Must not"),
    ],
)
def test_german_summaries_are_read_under_headings_that_models_choose(headings):
    lines = (
        "Mach den Login heil.",
        "Version 2.4.",
        "Ursache gefunden.",
        "Zertifikat fehlt.",
        "Nie auf main.",
    )
    text = "\n\n".join(f"## {heading}\n- {line}" for heading, line in zip(headings, lines, strict=True))
    assert Summary.parse(text, "de") == Summary(*((line,) for line in lines), language="de")


def test_text_without_any_section_is_no_summary():
    assert Summary.parse("The user wants a new login page and is quite happy so far.", "en") is None
    assert Summary.parse("", "en") is None


def test_a_sentence_that_begins_like_a_heading_stays_a_line():
    read = Summary.parse(
        "## Done\n- Open the door was fixed\n- Done with step 2: tests\n## Open\n- Goal line moved", "en"
    )
    assert read == Summary(
        done=("Open the door was fixed", "Done with step 2: tests"), open=("Goal line moved",)
    )


def test_sections_said_to_be_empty_are_empty():
    read = Summary.parse(
        "## Requests\n- Say hello\n## Goal\nNone\n## Done\n- N/A\n## Open\n(nichts)\n## Must not\n- keine",
        "en",
    )
    assert read == Summary(requests=("Say hello",))


def test_unknown_section_is_skipped_but_deeper_subheading_content_is_kept():
    read = Summary.parse(
        "## Done\n### Backend\n- Added the route\n## Mood\n- Cheerful\n## Open\n- Docs", "en"
    )
    assert read == Summary(done=("Added the route",), open=("Docs",))


def test_prose_is_read_in_sentences():
    read = Summary.parse("## Done\nThe parser works. It reads 3 formats, e.g. CSV. Docs are written.", "en")
    assert read is not None
    assert read.done == ("The parser works.", "It reads 3 formats, e.g. CSV.", "Docs are written.")


def test_empty_sections_are_not_written_and_headings_have_the_language():
    assert (
        Summary(goal=("Ziel A",), open=("Punkt B",), language="de").render()
        == "## Ziel\n- Ziel A\n## Offen\n- Punkt B"
    )
    assert Summary().render() == ""
    assert not Summary()


def test_what_was_written_is_read_again():
    assert Summary.parse(FULL.render(), "en") == FULL
    assert Summary.from_json(json.loads(json.dumps(FULL.to_json()))) == FULL


def test_truncation_keeps_first_request_and_newest_lines():
    trimmed = FULL.trim(tokens, 52)
    assert tokens(trimmed.render()) <= 52
    assert trimmed.requests[0] == "Fix the login bug"
    assert trimmed.goal == FULL.goal
    assert trimmed.done == ("17 tests pass",)
    assert trimmed.must_not[-1] == "Raising the timeout did not help"


def test_a_summary_that_fits_is_left_alone():
    assert FULL.trim(tokens, 1_000) is FULL


def test_one_endless_line_does_not_drive_out_the_others():
    trimmed = Summary(requests=FULL.requests, done=("word " * 5_000,)).trim(tokens, 100)
    assert trimmed.requests == FULL.requests
    assert trimmed.done[0].endswith("word…")


def test_a_line_is_cut_between_words_and_says_so():
    assert shorten_line("one two three four", 12) == "one two…"
    assert shorten_line("one two", 7) == "one two"


LINES = st.lists(st.text(max_size=300), max_size=12).map(tuple)
SUMMARIES = st.builds(Summary, LINES, LINES, LINES, LINES, LINES, st.sampled_from(("de", "en")))
COUNTS = st.sampled_from(
    [tokens, len, lambda text: len(text.split()), lambda text: len(text.encode("utf-8", "replace"))]
)


@given(SUMMARIES, COUNTS, st.integers(0, 400))
def test_what_was_trimmed_fits_whatever_it_was(summary, count, room):
    trimmed = summary.trim(count, room)
    assert count(trimmed.render()) <= room
    assert trimmed.trim(count, room) == trimmed
    for name in SECTIONS:
        assert len(trimmed.section(name)) <= len(summary.section(name))


@given(st.text(), st.sampled_from(("de", "en")))
def test_any_text_can_be_read(text, language):
    read = Summary.parse(text, language)
    assert read is None or Summary.parse(read.render(), language) is not None or not read
