"""From a question to sources: through a SearXNG, from addresses, from files."""

import asyncio

import pytest

from holdfast.errors import BadRequest, ConfigError, FetchFailed, NotFound
from holdfast.i18n import speak
from holdfast.research.fetch import AddressGuard, DownloadLimits, Fetcher
from holdfast.research.gather import gather_sources
from tests.research.sites import answer, redirect, results, silence, site

pytestmark = pytest.mark.anyio

QUESTION = "Wie wird das Wetter in Kassel am Wochenende?"


def text(number) -> bytes:
    return answer(f"Text {number}: am Wochenende regnet es.")


async def search(matches, pages, mode="quick", question=QUESTION, **options):
    """What is gathered where SearXNG finds these paths: sources, and the site that was asked."""
    async with site(pages) as value, site() as searxng:
        searxng.pages["/search"] = matches if callable(matches) else results(*map(value.url, matches))
        async with value.fetcher() as fetcher:
            sources = await gather_sources(
                question, mode, fetcher=fetcher, searxng=searxng.url("", "127.0.0.1"), **options
            )
    return sources, value, searxng


async def refusal_of(results, **options):
    limits = DownloadLimits(silence=0.2) if results is silence else None
    async with site({"/search": results}) as searxng, Fetcher(limits=limits) as fetcher:
        url = searxng.url(options.pop("path", ""), "127.0.0.1")
        with pytest.raises(FetchFailed) as caught:
            await gather_sources(QUESTION, "quick", fetcher=fetcher, searxng=url)
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize(("mode", "count"), [("quick", 3), ("deep", 7)])
async def test_so_many_of_the_best_pages_are_taken_in_their_order(mode, count):
    pages = {f"/{number}": text(number) for number in range(12)}
    sources, value, _ = await search(pages, pages, mode)
    assert [source.url for source in sources] == [value.url(f"/{number}") for number in range(count)]
    assert [source.text for source in sources] == [
        f"Text {n}: am Wochenende regnet es." for n in range(count)
    ]
    assert len(value.paths) == count


async def test_the_search_has_the_question_and_its_language():
    _, _, searxng = await search(["/1"], {"/1": text(1)}, question="  Was ist\ndas für ein Wetter & Wind? ")
    assert searxng.paths == ["/search?q=Was+ist+das+f%C3%BCr+ein+Wetter+%26+Wind?&format=json&language=de"]
    _, _, searxng = await search(["/1"], {"/1": text(1)}, question="Kassel")
    assert searxng.paths == ["/search?q=Kassel&format=json"]


async def test_failing_page_is_named_and_replaced_by_next_result():
    pages = {f"/{number}": text(number) for number in (1, 3, 4, 5)} | {"/2": answer("", status="500 x")}
    sources, value, _ = await search(["/1", "/2", "/gone", "/3", "/4", "/5"], pages)
    assert [bool(source.trouble) for source in sources] == [False, True, True, False, False]
    assert "not there (404)" in sources[2].trouble
    assert sources[2].title == f"About {value.url('/gone')}"
    assert sources[-1].url == value.url("/4")


async def test_duplicate_pages_and_duplicate_texts_become_single_source():
    pages = {f"/{number}": text(number) for number in (1, 3, 4)} | {"/2": text(1)}
    results = ["/1", "/1?utm_source=x", "/1/", "/1#part", "/2", "/3", "/4"]
    sources, _, _ = await search(results, pages)
    assert [bool(source.trouble) for source in sources] == [False, True, False, False]
    assert "same text" in sources[1].trouble
    assert sources[1].text == ""


async def test_site_is_limited_to_two_pages_unless_others_are_lacking():
    pages = {f"/{number}": text(number) for number in range(6)}
    async with site(pages) as value, site() as searxng:
        urls = [value.url(f"/{number}", "big.example") for number in range(5)] + [
            value.url("/5", "www.small.example")
        ]
        searxng.pages["/search"] = results(*urls)
        async with value.fetcher() as fetcher:
            sources = await gather_sources(
                QUESTION, "deep", fetcher=fetcher, searxng=searxng.url("/search", "127.0.0.1")
            )
    assert [source.text[5] for source in sources] == ["0", "1", "5", "2", "3", "4"]


async def test_local_search_engine_is_allowed_but_local_result_pages_are_not():
    async with site({"/secret": text(1)}) as inside, site() as searxng:
        searxng.pages["/search"] = results(
            inside.url("/secret", "127.0.0.1"), searxng.url("/search", "127.0.0.1")
        )
        async with Fetcher(AddressGuard()) as fetcher:
            with pytest.raises(FetchFailed, match=r"no source could be read.*private network"):
                await gather_sources(QUESTION, "quick", fetcher=fetcher, searxng=searxng.url("", "127.0.0.1"))
    assert inside.requests == []
    assert len(searxng.requests) == 1


async def test_a_search_without_json_says_how_to_switch_it_on():
    error = await refusal_of(answer("<h1>Forbidden</h1>", "text/html", "403 Forbidden"))
    assert "refused (403)" in error
    assert "add json to search: formats: in its settings.yml" in error


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (answer("<html>Welcome</html>", "text/html"), "no JSON"),
        (answer("[1]", "application/json"), "no JSON"),
        (answer("[" * 100_000, "application/json"), "no JSON"),
        (answer("{}", "application/json"), "found nothing"),
        (results(), "found nothing. Ask with other words"),
        (results(results=[{"url": "ftp://x.example/"}, {"title": "x"}, 7, {"url": None}]), "found nothing"),
        (results(unresponsive_engines=[["google", "timeout"], 3]), "without an answer: google: timeout"),
        (answer("", status="429 x"), "limiter"),
        (answer("", status="500 x"), "refused (500)"),
        (redirect("https://elsewhere.example/"), "sends requests elsewhere"),
        (silence, "silent for too long"),
        (b"", "hung up"),
    ],
)
async def test_search_error_explains_cause_and_remedy(found, says):
    assert says in await refusal_of(found)


async def test_a_search_that_is_not_there_is_said_without_its_password():
    async with site() as searxng:
        pass
    async with Fetcher() as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await gather_sources(
                "x", "quick", fetcher=fetcher, searxng=searxng.url("", "me:secret@127.0.0.1")
            )
    assert "cannot be asked" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("written", ["", "/", "/search", "/search?q=<query>", "/deep/", "/deep/search"])
async def test_the_address_of_a_search_may_be_written_in_many_ways(written):
    async with site({"/1": text(1)}) as value, site() as searxng:
        searxng.pages["/search"] = searxng.pages["/deep/search"] = results(value.url("/1"))
        async with value.fetcher() as fetcher:
            sources = await gather_sources(
                "x", "quick", fetcher=fetcher, searxng=searxng.url(written, "127.0.0.1")
            )
    assert len(sources) == 1


async def test_named_pages_and_files_are_all_taken_in_their_order():
    def read_local(path):
        if path == "gone.md":
            raise NotFound("there is no file gone.md", hint="Look again.")
        return path.rpartition("/")[2], b"Von der Platte" if path != "/empty" else b" "

    report = []
    async with site({f"/{number}": text(number) for number in range(5)}) as value, value.fetcher() as fetcher:
        named = [
            value.url("/0"),
            "notes/a.md",
            value.url("/gone"),
            "gone.md",
            "/empty",
            value.url("/4"),
            value.url("/0"),
        ]
        sources = await gather_sources(
            "?",
            "quick",
            fetcher=fetcher,
            addresses=named,
            read_local=read_local,
            tell=lambda *step: report.append(step),
        )
    assert [source.url for source in sources] == named[:6]
    assert [bool(source.trouble) for source in sources] == [False, False, True, True, True, False]
    assert (sources[1].title, sources[1].text, sources[1].at) == ("a.md", "Von der Platte", 1_000.0)
    assert sources[3].trouble == "there is no file gone.md"
    assert [step[:2] for step in report] == [(number, 6) for number in range(1, 7)]
    assert {step[2] for step in report} == set(named)


async def test_files_are_read_only_where_somebody_reads_them():
    async with Fetcher() as fetcher:
        with pytest.raises(FetchFailed, match="files are not read here"):
            await gather_sources("?", "quick", fetcher=fetcher, addresses=["/etc/passwd"])


async def test_without_anything_to_look_in_the_next_step_is_said():
    async with Fetcher() as fetcher:
        with pytest.raises(BadRequest, match=r"nothing to look in.*searxng"):
            await gather_sources("?", "quick", fetcher=fetcher)
        with pytest.raises(ConfigError, match=r"searxng is no address.*like http"):
            await gather_sources("?", "quick", fetcher=fetcher, searxng="localhost")
        with pytest.raises(BadRequest, match=r"21 sources are too many.*at most 20"):
            await gather_sources(
                "?", "quick", fetcher=fetcher, addresses=[f"http://x.example/{n}" for n in range(21)]
            )


async def test_progress_is_told_while_it_searches():
    report = []
    pages = {f"/{number}": text(number) for number in range(3)}
    await search(pages, pages, tell=lambda *step: report.append(step))
    assert report[0] == (0, 3, "searching")
    assert [step[0] for step in report[1:]] == [1, 2, 3]


async def test_trouble_is_told_in_the_language_of_the_person():
    speak("de")
    async with site({"/1": text(1)}) as value, value.fetcher() as fetcher:
        sources = await gather_sources(
            "?", "quick", fetcher=fetcher, addresses=[value.url("/1"), value.url("/gone")]
        )
    assert sources[1].trouble == "es gibt sie nicht (404)"


async def test_whoever_cancels_it_cancels_everything():
    async with site({"/slow": silence, "/1": text(1)}) as value, value.fetcher() as fetcher:
        named = [value.url("/slow", f"{name}.example") for name in "abc"]
        task = asyncio.create_task(gather_sources("?", "quick", fetcher=fetcher, addresses=named))
        await value.asked(3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await fetcher.fetch(value.url("/1", "a.example"))).trouble == ""


async def test_of_a_page_in_a_file_what_it_says_is_read():
    page = b"<html><head><style>p {color: red}</style></head><body><p>Rain at noon.</p></body></html>"
    async with Fetcher() as fetcher:
        (source,) = await gather_sources(
            QUESTION,
            "quick",
            fetcher=fetcher,
            addresses=["page.html"],
            read_local=lambda path: (path, page),
        )
    assert "Rain at noon." in source.text
    assert "<p>" not in source.text
    assert "color" not in source.text
