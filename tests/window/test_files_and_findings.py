"""Files and findings behind earlier questions: whole while they are talked about, and short afterwards."""

from base64 import b64encode
from dataclasses import replace

import pytest

from holdfast.messages import File, Message, Text
from holdfast.window.additions import format_finding, replace_outdated_files, shrink_findings
from holdfast.window.decisions import LAST, Add, Replace
from holdfast.window.fit import fit
from holdfast.window.report import Prefix, chain_of, prefix_of, report_of
from holdfast.window.view import View
from tests.window.test_added_content import PENNIES, added, after, answer, rules_of, shown, talk, user

CODE = "[File: src/lamp.py]\n" + "def light(): ...\n" * 200
DIGEST = "[File: src/lamp.py, digest]\nlight()"


def brings(message, text=CODE, *, name="src/lamp.py", short=DIGEST, tag="one", decision="d_lamp"):
    tokens = PENNIES.count(text)
    return Add("files", (message,), 0, tokens, "files", text, name=name, short=short, tag=tag, id=decision)


def chat(*questions, window=4_096):
    messages = [item for question in questions for item in (user(question), answer("Yes, " + "indeed " * 60))]
    return talk(*messages[:-1], window=window)


def test_a_file_that_nobody_talks_about_any_more_becomes_its_digest():
    result = fit(chat("See @src/lamp.py", "And tea?", "With milk?", "Or lemon?"), [brings("m_0")], at_least=1)
    assert "file" in rules_of(result)
    assert shown(result)["m_0"].message.text == f"See @src/lamp.py\n\n{DIGEST}"
    again = fit(after(result, answer("Yes."), user("Good.")))
    assert again.messages[: len(result.messages)] == result.messages, "and it stays so"


@pytest.mark.parametrize("said", ["Now src/lamp.py again?", "What is in lamp.py?"])
def test_a_file_that_is_still_spoken_of_stays_whole(said):
    result = fit(chat("See @src/lamp.py", "And tea?", "With milk?", said), [brings("m_0")], at_least=1)
    assert shown(result)["m_0"].message.text.endswith(CODE)


def test_file_of_current_question_is_never_shortened():
    result = fit(chat("And tea?", "See @src/lamp.py"), [brings("m_2")], at_least=2)
    assert shown(result)["m_2"].message.text.endswith(CODE)


def test_file_attached_twice_keeps_only_newest_copy():
    draft = chat("See @src/lamp.py", "And tea?", "Now @src/lamp.py:full", "Well?", window=8_192)
    result = fit(draft, [brings("m_0"), brings("m_4", decision="d_again")], at_least=1)
    assert shown(result)["m_0"].message.text == "See @src/lamp.py\n\n[src/lamp.py: further down]"
    assert shown(result)["m_4"].message.text.endswith(CODE)


def test_outdated_file_content_is_replaced_by_current_content():
    draft = chat("See @src/lamp.py", "And now @src/lamp.py?")
    before = fit(replace(draft, items=draft.items[:1]), [brings("m_0")])
    view = View(replace(draft, decisions=before.view.decisions))
    (gone,) = replace_outdated_files(view, {"src/lamp.py": "two"})
    assert (gone.kind, gone.rule) == ("replace", "file_changed")
    result = fit(view.draft, [gone, brings("m_2", text=CODE.upper(), tag="two", decision="d_now")])
    assert CODE not in shown(result)["m_0"].message.text
    assert prefix_of(result, chain_of(before.view), chain_of(result.view)).cause == "file"


def test_attached_file_becomes_digest_of_its_name_and_text():
    body = "A line.\n" * 500
    paper = File("notes.txt", b64encode(body.encode()).decode(), "text/plain")
    draft = talk(
        Message("user", (Text("Read this"), paper)),
        *(item for content in ("Tea?", "Milk?", "Lemon?") for item in (answer("Yes."), user(content))),
    )
    draft = replace(draft, digest=lambda name, text: f"{name} has {text.count(chr(10))} lines")
    result = fit(draft, at_least=1)
    assert result.messages[0].text == "Read thisnotes.txt\nnotes.txt has 500 lines"


def test_last_resort_uses_file_digest_and_drops_research_first():
    question = "What now? " + "word " * 600
    sources = added("research", "m_0", "Found. " * 200, "d_found")
    result = fit(talk(user(question), window=2_048), [sources, brings("m_0")])
    text = result.messages[-1].text
    assert result.level == LAST
    assert result.view.fits
    assert text.startswith("What now? word")
    assert text.endswith(DIGEST), "the digest fits as it is"


def test_a_report_names_the_files_and_what_they_take():
    result = fit(chat("See @src/lamp.py"), [brings("m_0")])
    report = report_of(result, Prefix(0, 0, "first"), result.view.draft.gauge).to_json()
    rows = {row["name"]: row["tokens"] for row in report["sections"]}
    assert rows["files"] == PENNIES.count(CODE)
    assert report["messages"][0]["added"] == [{"section": "files", "text": CODE, "name": "src/lamp.py"}]
    bare = report_of(fit(chat("Hi")), Prefix(0, 0, "first"), result.view.draft.gauge)
    assert "files" not in {section.name for section in bare.sections}


def finding(message, name, size=300):
    note = format_finding("en", 86_400.0, f"What of {name}?", f"In short, {name}.")
    text = f"{name} says. " * size
    tokens = PENNIES.count(text)
    return Add("context", (message,), 0, tokens, "research", text, name=name, short=note, id=f"d_{name}")


def test_earlier_finding_sources_become_notes_when_new_ones_arrive():
    draft = chat("Weather?", "Bitcoin?", "And gold?", window=32_768)
    view = View(replace(draft, decisions=(finding("m_0", "weather"), finding("m_2", "bitcoin"))))
    (noted,) = shrink_findings(view)
    assert (noted.rule, noted.messages) == ("research_new", ("m_0", "m_2"))
    result = view.having(noted)
    noted = format_finding("en", 86_400.0, "What of weather?", "In short, weather.")
    assert result.shown[0].message.text == f"Weather?\n\n{noted}"
    assert noted.startswith("[Earlier research of 1970-01-0")
    assert shrink_findings(result) == [], "and nothing more is left to be done"


def test_the_note_of_a_finding_is_what_it_is_by_now():
    draft = chat("Weather?", "And gold?", window=32_768)
    draft = replace(draft, decisions=(finding("m_0", "weather"),), notes={"weather": "[Note] sunny"})
    (noted,) = shrink_findings(View(draft))
    assert noted.data["instead"] == {"d_weather": "[Note] sunny"}


def test_what_a_client_found_itself_waits_for_a_level():
    draft = replace(chat("Weather?", "And gold?"), decisions=(added("research", "m_0", "Sun. " * 90, "d_1"),))
    assert shrink_findings(View(draft)) == []


def test_a_vetoed_note_does_not_come_back():
    draft = chat("Weather?", "And gold?", window=32_768)
    veto = Replace("research_new", ("m_0",), 0, 0)
    draft = replace(draft, decisions=(finding("m_0", "weather"),), vetoes=(veto,))
    assert shrink_findings(View(draft)) == []
