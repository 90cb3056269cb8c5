"""The profile: a small YAML file that keeps its comments, is told by rank, and learns when it may."""

import pytest
from sqlalchemy import delete

from holdfast.errors import BadRequest, Conflict, TooLarge
from holdfast.memory.base import Memory
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.profile import Profile, get_field
from holdfast.messages import Scope
from holdfast.store import open_store
from holdfast.store.schema import proposals

ME = Scope()
SEED = """\
# Made by the setup, and by hand.
firma: 'Beispiel GmbH'  # as registered
branche: 'IT-Dienstleistungen'
sprache: 'de'
mitarbeiter: 25
produkte:
  - Webentwicklung
  - Cloud-Hosting
praeferenzen:
  antwortlaenge: 'mittel'
  # never change this
  code_sprache: 'javascript'
"""


@pytest.fixture(scope="module")
def migrated():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def store(migrated):
    """One database for all, so that it is made once; emptied after each test."""
    yield migrated
    migrated.database.write(lambda connection: connection.execute(delete(proposals)))


@pytest.fixture
def profile(tmp_path, store):
    return Profile(FolderWorkspace(tmp_path / "workspace"), store.proposals)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "workspace/default/profile.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(SEED)
    return path


def words(text):
    return len(text.split())


def liking(text, **changes):
    return Memory("y_1", "preference", text, ME, conversation="c_1", messages=("n_1",), **changes)


def test_one_field_changes_and_comments_stay(profile, file):
    profile.set(ME, "mitarbeiter", "30")
    assert file.read_text() == SEED.replace("25", "30")
    profile.set(ME, "preferences.answer_length", "kurz")
    profile.set(ME, "company", "Neu AG")
    text = file.read_text()
    assert "antwortlaenge: 'kurz'\n  # never change this\n" in text
    assert "firma: 'Neu AG'         # as registered" in text
    profile.patch(ME, {"industry": None, "hobby": ["Chess", "Tea"], "nothing": None})
    assert "branche" not in file.read_text()
    assert profile.fields(ME)["hobby"] == ["Chess", "Tea"]


def test_a_patch_is_all_or_nothing(profile, file):
    with pytest.raises(BadRequest, match="too many levels"):
        profile.patch(ME, {"location": "Berlin", "preferences": {"a": {"b": {"c": 1}}}})
    with pytest.raises(BadRequest, match="is no field"):
        profile.patch(ME, {"location": "Berlin", "a..b": 1})
    with pytest.raises(TooLarge):
        profile.set(ME, "about", "x" * 2_100)
    assert file.read_text() == SEED


@pytest.mark.parametrize(("language", "first"), [("de", "firma"), ("en", "company")])
def test_the_setup_form_makes_a_profile(profile, language, first):
    form = {
        "companyName": "Beispiel GmbH",
        "industry": "IT",
        "teamSize": "6-20",
        "products": "Web, Cloud",
        "preferences": {"antwortlaenge": "kurz"},
    }
    profile.fill(ME, form, language)
    fields = profile.fields(ME)
    assert next(iter(fields)) == first
    assert list(fields.values()) == [
        "Beispiel GmbH",
        "IT",
        "6-20",
        ["Web", "Cloud"],
        {"antwortlaenge": "kurz"},
    ]
    with pytest.raises(BadRequest, match="no field of the form"):
        profile.fill(ME, {"salary": 1})


def test_a_form_fills_the_fields_the_file_has(profile, file):
    profile.fill(ME, {"companyName": "Neu AG", "teamSize": 3, "preferences": {"formality": "locker"}}, "en")
    fields = profile.fields(ME)
    assert (fields["firma"], fields["mitarbeiter"]) == ("Neu AG", 3)
    assert fields["praeferenzen"] == {
        "antwortlaenge": "mittel",
        "code_sprache": "javascript",
        "formalitaet": "locker",
    }


def test_a_preference_in_one_line_survives_being_one_of_several(profile):
    profile.fill(ME, {"preferences": "Kurz & prägnant"}, "de")
    profile.set(ME, "preferences.formality", "locker")
    assert profile.fields(ME)["praeferenzen"] == {"style": "Kurz & prägnant", "formalitaet": "locker"}


# Told to the model


def test_all_of_it_is_told_where_there_is_room(profile, file):
    text = profile.render(ME, 200, words, "de")
    assert text.text.splitlines() == [
        "Du bist ein KI-Assistent für folgendes Unternehmen:",
        "Firma: Beispiel GmbH",
        "Branche: IT-Dienstleistungen",
        "Sprache: de",
        "Mitarbeiter: 25",
        "Produkte: Webentwicklung, Cloud-Hosting",
        "Vorlieben:",
        "  Antwortlänge: mittel",
        "  Programmiersprache: javascript",
        "Berücksichtige diesen Kontext in deinen Antworten.",
    ]
    assert text.left_out == ()


@pytest.mark.parametrize("cap", range(0, 36, 3))
def test_the_cap_holds_and_what_is_left_out_is_told(profile, file, cap):
    text = profile.render(ME, cap, words, "de")
    assert words(text.text) <= cap
    texts = {line.split(":")[0].strip() for line in text.text.splitlines()}
    every = {"Firma", "Branche", "Sprache", "Mitarbeiter", "Produkte", "Antwortlänge", "Programmiersprache"}
    assert {name.split(".")[-1] for name in text.left_out} == every - texts


def test_the_first_ranks_are_told_first(profile, file):
    text = profile.render(ME, 22, words, "de")
    assert "Firma" in text.text
    assert "Sprache: de" in text.text
    assert "Produkte" in text.left_out
    assert "Mitarbeiter" in text.left_out


def test_profile_fields_are_named_in_output_language(profile, file):
    file.write_text("language: de\ncompany: Neu AG\npreferences:\n  formality: du\nhobby: Segeln\n")
    text = profile.render(ME, 200, words)
    assert text.text.splitlines()[1:-1] == [
        "Sprache: de",
        "Firma: Neu AG",
        "Vorlieben:",
        "  Anrede: du",
        "hobby: Segeln",
    ]
    file.write_text("sprache: en\nfirma: New Ltd\nvorlieben:\n  antwortlaenge: short\n")
    text = profile.render(ME, 200, words)
    assert text.text.splitlines()[1:-1] == [
        "language: en",
        "company: New Ltd",
        "preferences:",
        "  answer_length: short",
    ]


def test_nothing_is_told_where_there_is_nothing(profile):
    assert profile.render(ME, 200, words).text == ""
    assert profile.fields(ME) == {}
    profile.set(ME, "name", "Kim")
    assert "following person:\nname: Kim" in profile.render(ME, 200, words).text


def test_secrets_are_neither_kept_nor_told(profile, file):
    profile.set(ME, "note", "sk-abc123def456ghi789jkl0")
    assert "abc123" not in file.read_text()
    file.write_text(SEED + "key: sk-abc123def456ghi789jkl0\n")
    assert "abc123" not in profile.render(ME, 200, words).text


# Broken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: Kim\nlist: [1, 2", "in line 2"),
        ("name: Kim\nname: Ben", "in line 2"),
        ("name: Kim\n\tage: 3", "in line 2"),
        ("- a\n- b", "no list of fields"),
        ("a:\n  b:\n    c: 1", "too many levels"),
        ("1: x", "no text"),
        ('company: "\\ud800"', "half a character"),
        ('a: {b: ["\\udfff"]}', "half a character"),
        ("date: 2024-99-99", "no YAML"),
        ("[" * 900, "YAML"),
        ("[" * 50, "YAML"),
        ("a: &x [1]\nb: &y [*x, *x]\nc: [*y, *y]", "too many levels"),
    ],
)
def test_a_broken_profile_is_told_and_left_alone(profile, file, text, said):
    with pytest.raises(BadRequest, match=said):
        profile.replace(ME, text)
    assert file.read_text() == SEED
    file.write_text(text)
    report = profile.render(ME, 200, words)
    assert report.text == ""
    assert said in report.trouble
    with pytest.raises(BadRequest):
        profile.set(ME, "name", "Kim")
    assert profile.propose(liking("I like short answers.")) is not None
    assert file.read_text() == text
    assert profile.show(ME).text == text


def test_half_a_character_is_never_kept(profile):
    profile.patch(ME, {"company": "A\ud800B", "products": ["\udfff"]})
    assert get_field(profile.show(ME).text, "company") == "A?B"
    assert get_field(profile.show(ME).text, "products") == ["?"]


def test_profile_is_replaced_verbatim_only_with_current_tag(profile, file):
    tag = profile.show(ME).tag
    profile.replace(ME, "name:   Kim # me\n", tag)
    assert file.read_text() == "name:   Kim # me\n"
    with pytest.raises(Conflict):
        profile.replace(ME, "name: Ben", tag)


# Learning


def test_a_profile_never_loses_what_follows_a_tag(profile, file):
    tag = profile.replace(ME, "name: Kim\ncompany: Muster\n")
    for text in ("name: <private>Kim\ncompany: Muster\n", "products: [<private>a</private>, b]\n"):
        with pytest.raises(BadRequest):
            profile.replace(ME, text, tag)
    assert file.read_text() == "name: Kim\ncompany: Muster\n"


def test_a_preference_is_proposed_with_its_source_and_accepted(profile, file):
    proposal = profile.propose(liking("Bitte immer kurze Antworten."))
    assert (proposal.field, proposal.value) == ("preferences.answer_length", "kurz")
    assert (proposal.text, proposal.conversation, proposal.messages) == (
        "Bitte immer kurze Antworten.",
        "c_1",
        ("n_1",),
    )
    assert profile.proposals(ME) == [proposal]
    assert file.read_text() == SEED
    assert profile.accept(ME, proposal.id).status == "accepted"
    assert profile.fields(ME)["praeferenzen"]["antwortlaenge"] == "kurz"
    assert profile.proposals(ME) == []


def test_what_was_dismissed_or_is_known_is_not_proposed_again(profile, file):
    proposal = profile.propose(liking("Always answer in German."))
    profile.dismiss(ME, proposal.id)
    assert profile.propose(liking("Please answer in German from now on.")) is None
    assert profile.propose(liking("Code examples should be in JavaScript.")) is None
    assert profile.propose(liking("I like tea.")) is None
    fact = Memory("y", "fact", "Answers are short.", ME)
    assert profile.propose(fact) is None


def test_learning_by_itself_never_overrules_a_person(profile, file):
    profile.automatic = True
    assert profile.propose(liking("Bitte immer kurze Antworten.")).status == "open"
    assert profile.propose(liking("Ich möchte geduzt werden.")).status == "accepted"
    fields = profile.fields(ME)["praeferenzen"]
    assert (fields["antwortlaenge"], fields["formalitaet"]) == ("mittel", "du")
