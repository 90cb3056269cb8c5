"""Research as a whole, on a real folder and store: kept, used again, merged, found, cleared away."""

import asyncio
import os
from importlib.util import find_spec

import pytest

from holdfast.errors import BadRequest, NotFound
from holdfast.memory.embedder_local import ENCODER_PACKAGE
from holdfast.messages import Scope
from holdfast.research.library import KEEP_EXPIRED
from holdfast.research.repository import path_of_note
from tests.research.builders import DAY, HOUR, NOW, finding, researching, source

HOUSE = Scope(project="house")
CHESS = Scope(project="chess", kind="group")


@pytest.fixture
def lab(tmp_path):
    with researching(tmp_path) as result:
        yield result


@pytest.fixture
def research(lab):
    return lab.research


def add(research, question="Wie wird das Wetter in Kassel?", scope=Scope(), *sources, **more):  # noqa: B008
    return research.add(scope, question, sources or (source(),), **more)


def test_what_is_added_has_a_summary_a_volatility_and_an_end(research):
    result = add(research)
    assert result.summary == "Am Samstag regnet es in Kassel. Quellen: wetter.com."
    assert (result.summary_by, result.volatility, result.expires_at) == ("text", "daily", NOW + DAY)
    assert research.get(Scope(), result.id) == result


def test_a_known_question_is_answered_with_its_age_until_it_expires(lab):
    research, clock = lab.research, lab.clock
    result = add(research)
    clock.now += HOUR
    known = research.find_known(Scope(), "Wetter Kassel")
    assert (known.finding, known.reused, known.age) == (result, True, HOUR)
    assert research.find_known(Scope(), "Wetter Köln") is None
    assert research.find_known(Scope("anna"), "Wetter Kassel") is None
    assert research.find_known(CHESS, "Wetter Kassel") is None
    assert research.find_known(HOUSE, "Wetter Kassel") is not None, "a project sees its person's"
    clock.now = NOW + DAY
    assert research.find_known(Scope(), "Wetter Kassel") is None


def test_one_more_for_the_same_question_takes_the_earlier_one_in(lab):
    research, clock = lab.research, lab.clock
    old = add(research)
    clock.now += 60
    new = add(
        research, "Wetter Kassel", Scope(), source("https://b.example", "Am Sonntag schneit es in Kassel.")
    )
    assert [item.id for item in research.list(Scope())] == [new.id]
    assert new.merged == (old.id,)
    assert research.get(Scope(), old.id) == research.get(Scope(), new.id)
    assert "schneit" in new.summary
    assert new.summary.endswith("Quellen: b.example, wetter.com.")
    assert add(research, "Wetter Köln").merged == ()
    assert add(research, "Wetter Kassel", HOUSE).merged == (), "another scope's are not touched"


def test_what_is_private_reaches_neither_the_summary_nor_the_files(research, tmp_path):
    text = "In Kassel regnet es. <private>Annas Wetter in Kassel ist geheim.</private> Kassel hat Wind."
    result = add(research, "Wetter in Kassel", Scope(), source(text=text))
    assert "geheim" not in result.summary
    files = [path for path in (tmp_path / "workspace").rglob("r_*") if path.is_file()]
    assert files
    assert not any("geheim" in path.read_text() for path in files)


@pytest.mark.parametrize(
    ("question", "sources", "why"),
    [
        ("  ", [source()], "no question"),
        ("x" * 2_001, [source()], "at most 2,000"),
        ("<private>Wetter</private>", [source()], "no question"),
        ("Wetter", [], "None of the sources"),
        ("Wetter", [source(text=" "), source(trouble="404", text="")], "404"),
        ("Wetter", [source()] * 21, "at most 20"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(research, question, sources, why):
    with pytest.raises(BadRequest, match=why):
        research.add(Scope(), question, sources)
    assert research.list(Scope()) == []


def test_search_returns_finding_only_in_its_scope_until_forgotten(lab):
    research = lab.research
    result = add(research, "Wie wird das Wetter in Kassel?", HOUSE)

    def hits(scope):
        return {hit.path for hit in lab.remembering.search.search("Samstag regnet Kassel", scope).hits}

    assert hits(HOUSE) == {str(path_of_note(result))}
    assert hits(Scope(project="garden")) == hits(CHESS) == hits(Scope("anna", "house")) == set()
    research.forget(HOUSE, result.id)
    assert not list(lab.store.passages.paths()), "nothing of it is left in the index either"
    assert hits(HOUSE) == set()
    with pytest.raises(NotFound):
        research.get(HOUSE, result.id)


def test_pruning_removes_what_expired_long_ago_and_only_that(research):
    result = add(research)
    record = add(research, "Wann wurde Kassel gegründet?", HOUSE)
    assert research.prune(NOW + DAY + KEEP_EXPIRED - 1).removed == ()
    assert research.prune(NOW + DAY + KEEP_EXPIRED + 1, HOUSE).removed == ()
    assert research.prune(NOW + DAY + KEEP_EXPIRED + 1).removed == (result.id,)
    assert [item.id for item in research.list(HOUSE)] == [record.id]


def test_pruning_makes_one_of_those_that_are_alike(research):
    old = add(research)
    # As if two processes had asked at once.
    snow = source("https://b.example", "Am Sonntag schneit es in Kassel.")
    new = research.findings.add(
        finding("Wetter Kassel", snow, id="r_z", created_at=NOW + 1, expires_at=NOW + DAY)
    )
    pruned = research.prune(NOW + 2)
    assert pruned.merged == (old.id,)
    (item,) = research.list(Scope())
    assert (item.id, item.merged, len(item.sources)) == (new.id, (old.id,), 2)
    assert "schneit" in item.summary
    assert research.prune(NOW + 3) == type(pruned)()


def test_earlier_findings_bear_on_a_question_in_their_scope_only(research):
    result = add(research)
    assert [item.finding.id for item in research.find_related(Scope(), "Sollen wir am Samstag wandern?")] == [
        result.id
    ]
    assert research.find_related(CHESS, "Sollen wir am Samstag wandern?") == []
    assert research.find_related(Scope(), "Sollen wir am Samstag wandern?", without={result.id}) == []


# Gathering


class Gathered:
    """Sources that are always the same; knows how often it was asked."""

    def __init__(self, *sources):
        self.sources = sources
        self.asked = []

    async def __call__(self, question, mode, *, addresses=(), tell=None):
        self.asked.append((question, mode, tuple(addresses)))
        for number, item in enumerate(self.sources, 1):
            tell(number, len(self.sources), item.url)
        return self.sources


def test_what_is_not_known_is_gathered_and_then_known(tmp_path):
    gathered = Gathered(source(), source("https://broken.example", "", trouble="It answered 500."))
    report = []
    with researching(tmp_path, gather=gathered) as lab:
        research = lab.research

        def ask(question, **more):
            return asyncio.run(research.answer(Scope(), question, **more))

        first = ask("Wetter in Kassel", tell=lambda *news: report.append(news))
        assert not first.reused
        assert [item.trouble for item in first.finding.sources] == ["", "It answered 500."]
        assert report[-1] == (2, 2, "https://broken.example")
        assert ask("Wetter Kassel").reused
        assert not ask("Wetter Kassel", fresh=True).reused
        assert not ask("Wetter Kassel", mode="deep").reused
        assert not ask("Wetter Kassel", addresses=["https://named.example"]).reused
        assert gathered.asked[-1] == ("Wetter Kassel", "quick", ("https://named.example",))


def test_pages_named_in_question_are_read_and_reused_later(tmp_path):
    gathered = Gathered(source())
    with researching(tmp_path, gather=gathered) as lab:

        def ask(question, **more):
            return asyncio.run(lab.research.answer(Scope(), question, **more))

        named = "Was sagt (https://wetter.example/kassel?tag=1) über Kassel, und https://b.example/a_(b)?"
        assert not ask(named).reused
        assert gathered.asked[-1][2] == ("https://wetter.example/kassel?tag=1", "https://b.example/a_(b)")
        assert ask(named).reused
        assert not ask(named.replace("tag=1", "tag=2")).reused, "another page"
        ask(named, addresses=["https://c.example"])
        assert gathered.asked[-1][2] == ("https://c.example",), "who names addresses apart means those"


def test_where_nothing_can_be_fetched_that_is_said(research):
    with pytest.raises(BadRequest, match="Nothing can be fetched"):
        asyncio.run(research.answer(Scope(), "Wetter in Kassel"))


@pytest.mark.real
def test_finding_without_shared_words_is_found_by_meaning_after_indexing(tmp_path):
    if find_spec(ENCODER_PACKAGE) is None and os.environ.get("CI") != "true":
        pytest.skip("the sentence encoder is not installed")
    with researching(tmp_path, embedder="embedded") as lab:
        result = add(
            lab.research, "Was kostet eine Wärmepumpe?", Scope(), source(text="Sie kostet 30.000 Euro.")
        )
        question = "Wir überlegen, die Heizung zu tauschen. Was meinst du?"
        assert lab.research.find_related(Scope(), question) == []
        lab.remembering.embedder.wake()
        lab.research.embed_questions()
        assert [item.finding.id for item in lab.research.find_related(Scope(), question)] == [result.id]
        assert lab.research.find_related(Scope(), "Was ist eine Monade in Haskell?") == []


@pytest.mark.real
def test_what_was_found_in_german_answers_the_same_question_in_english(tmp_path):
    if find_spec(ENCODER_PACKAGE) is None and os.environ.get("CI") != "true":
        pytest.skip("the sentence encoder is not installed")
    with researching(tmp_path, embedder="embedded") as lab:
        result = add(
            lab.research, "Was kostet eine Wärmepumpe?", Scope(), source(text="Sie kostet 30.000 Euro.")
        )
        known = lab.research.find_known(Scope(), "How much does a heat pump cost?")
        assert known.finding.id == result.id
        for other in ("How much does a heat pump cost in Denmark?", "How much does a gas heater cost?"):
            assert lab.research.find_known(Scope(), other) is None
        lab.research.embed_questions()
        near = "What should we pay for heating with a heat pump?"
        assert [item.finding.id for item in lab.research.find_related(Scope(), near)] == [result.id]
