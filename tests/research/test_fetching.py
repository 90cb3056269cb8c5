"""Pages from sites of every kind: guarded, limited, polite; what goes wrong is named."""

import asyncio
import gzip
import zlib

import pytest

from holdfast.research.fetch import DownloadLimits, Fetcher
from holdfast.research.finding import ResearchSource
from tests.research.sites import Names, answer, redirect, silence, site

pytestmark = pytest.mark.anyio

TEXT = "Am Wochenende regnet es in Kassel."
# Short where a test is about the time; elsewhere a machine that holds its breath changes nothing.
SMALL = DownloadLimits(size=100_000)


async def fetch_page(pages, path="/page", **options):
    async with site(pages) as value, value.fetcher(**options) as fetcher:
        return await fetcher.fetch(value.url(path))


async def trouble_with(page, **options):
    source = await fetch_page({"/page": page}, **options)
    assert source.text == ""
    assert source.url.endswith("/page")
    return source.trouble


async def test_a_page_becomes_a_source_with_its_time():
    async with site({"/page": answer(TEXT)}) as value, value.fetcher() as fetcher:
        url = value.url("/page")
        assert await fetcher.fetch(url) == ResearchSource(url, "page", TEXT, 1_000.0)


async def test_we_say_who_we_are_and_nothing_else():
    pages = {"/page": redirect("/next"), "/next": answer(TEXT, Set_Cookie="id=1; Path=/")}
    async with site(pages) as value, value.fetcher() as fetcher:
        await fetcher.fetch(value.url("/page"))
        await fetcher.fetch(value.url("/next"))
        heads = "".join(value.requests).lower()
    assert heads.count("user-agent: holdfast/") == len(value.requests)
    assert "cookie" not in heads
    assert "referer" not in heads
    assert "authorization" not in heads


# The guard.


@pytest.mark.parametrize("number", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"])
async def test_a_name_that_means_a_private_number_is_not_fetched(number):
    async with site({"/page": answer(TEXT)}) as value:
        names = Names({"evil.example": [[number]]})
        async with value.fetcher(names=names, private="off") as fetcher:
            source = await fetcher.fetch(value.url("/page", "evil.example"))
    assert "private network" in source.trouble
    assert "research_private" in source.trouble
    assert value.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"])
async def test_without_a_name_between_nothing_is_different(host):
    async with site({"/page": answer(TEXT)}) as value, Fetcher() as fetcher:
        source = await fetcher.fetch(value.url("/page", host))
    assert "private network" in source.trouble
    assert value.requests == []


async def test_a_redirect_to_a_private_number_is_not_followed():
    async with site({"/page": answer(TEXT)}) as secret, site() as value:
        value.pages["/page"] = redirect(f"http://127.0.0.1:{secret.port}/page")
        value.pages["/name"] = redirect(secret.url("/page", "innocent.example"))
        async with value.fetcher() as fetcher:
            for path in ("/page", "/name"):
                assert "private network" in (await fetcher.fetch(value.url(path))).trouble
        assert value.paths == ["/page", "/name"]
        assert secret.requests == []


async def test_robots_txt_cannot_lead_to_a_private_number_either():
    async with site({"/robots.txt": answer("")}) as secret, site({"/page": answer(TEXT)}) as value:
        value.pages["/robots.txt"] = redirect(f"http://127.0.0.1:{secret.port}/robots.txt")
        async with value.fetcher() as fetcher:
            assert "private network" in (await fetcher.fetch(value.url("/page"))).trouble
        assert secret.requests == []


async def test_host_name_rebinding_to_private_address_is_blocked():
    async with site({"/page": answer(TEXT)}) as value:
        # Each connection asks once; every answer is judged.
        names = Names({"turning.example": [["127.0.0.1"], ["127.0.0.2"]]})
        async with value.fetcher(names=names) as fetcher:
            source = await fetcher.fetch(value.url("/page", "turning.example"))
    assert "private network" in source.trouble
    assert names.asked == ["turning.example"] * 2
    assert value.paths == []


async def test_of_several_numbers_only_those_that_may_be_are_tried():
    async with site({"/page": answer(TEXT)}) as value:
        names = Names({"mixed.example": [["10.0.0.1", "127.0.0.1"]]})
        async with value.fetcher(names=names) as fetcher:
            assert (await fetcher.fetch(value.url("/page", "mixed.example"))).text == TEXT


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://site.example/page", "only http"),
        ("file:///etc/passwd", "only http"),
        ("http://me:secret@site.example/", "password"),
        ("http://2130706433/", "odd spelling"),
        ("http://nobody.example/", "no server called nobody.example"),
    ],
)
async def test_what_cannot_be_an_address_is_said(url, says):
    async with Fetcher(resolver=Names({"nobody.example": [[]]})) as fetcher:
        source = await fetcher.fetch(url)
    assert says in source.trouble
    assert (source.url, source.text) == (url, "")


async def test_a_name_that_no_name_can_be_is_said():
    async with Fetcher() as fetcher:
        assert "no server called" in (await fetcher.fetch(f"http://{'a' * 100}.example/")).trouble


# Redirects.


async def test_redirects_are_followed_to_other_names_and_relative_places():
    async with site({"/b/d": answer(TEXT)}) as value:
        value.pages["/page"] = redirect(value.url("/b/c", "other.example"), "301 Moved Permanently")
        value.pages["/b/c"] = redirect("d#part", "307 Temporary Redirect")
        async with value.fetcher() as fetcher:
            source = await fetcher.fetch(value.url("/page"))
    assert (source.url, source.title, source.text) == (value.url("/page"), "d", TEXT)


async def test_redirects_in_circles_and_without_end_are_named():
    assert "circles" in await trouble_with(redirect("/page"))
    steps = {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    async with site(steps) as value, value.fetcher() as fetcher:
        assert "more than 5 redirects" in (await fetcher.fetch(value.url("/0"))).trouble
    assert value.paths == [f"/{number}" for number in range(6)]


@pytest.mark.parametrize(
    "location", ["ftp://x.example/", "file:///etc/passwd", "http://u:p@x.example/", "http://[::1"]
)
async def test_a_redirect_to_something_else_than_the_web_is_named(location):
    assert await trouble_with(redirect(location))


# Limits.


async def endless(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def endless_emptiness(writer):
    """Packed data without end that stands for nothing: only empty blocks."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n")
    packer = zlib.compressobj(wbits=31)
    writer.write(packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH))
    while True:
        writer.write(packer.flush(zlib.Z_FULL_FLUSH) or b"\0\0\0\xff\xff" * 10_000)
        await writer.drain()


async def dripping(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (endless, "larger than 0.1 MB"),
        (endless_emptiness, "larger than 0.1 MB"),
        (answer("x" * 100_001), "larger than 0.1 MB"),
        (answer("", Content_Length="99999999999"), "larger than 0.1 MB"),
        (answer(gzip.compress(b"x" * 50_000_000), Content_Encoding="gzip"), "larger than 0.1 MB"),
        (answer(zlib.compress(b"x" * 50_000_000), Content_Encoding="deflate"), "larger than 0.1 MB"),
        (answer(gzip.compress(b"x" * 90_000) * 2, Content_Encoding="gzip"), "larger than 0.1 MB"),
        (answer(gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip"), "not asked for"),
        (answer(b"\x0b\x02\x80", Content_Encoding="br"), "not asked for (br)"),
        (answer(b"nothing packed", Content_Encoding="gzip"), "cannot be unpacked"),
        (answer(gzip.compress(TEXT.encode())[:-12], Content_Encoding="gzip"), "broke off"),
        (answer(TEXT, Content_Length="5000"), "broke off"),
        (b"", "hung up"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n", "no HTTP"),
    ],
    # Not by the bytes: packed ones have the time in them, and every worker has to find the same tests.
    ids=lambda given: given if isinstance(given, str) else "page",
)  # fmt: skip
async def test_what_a_server_does_wrong_is_named(page, says):
    assert says in await trouble_with(page, limits=SMALL)


@pytest.mark.parametrize(
    ("page", "limits", "says"),
    [
        (silence, DownloadLimits(silence=0.2), "silent for too long"),
        (dripping, DownloadLimits(whole=0.5), "longer than 0.5 seconds"),
    ],
    ids=["silence", "dripping"],
)
async def test_a_server_that_takes_too_long_is_named(page, limits, says):
    assert says in await trouble_with(page, limits=limits)


async def test_the_time_is_for_all_redirects_together():
    def slowly(number):
        async def step(writer):
            await asyncio.sleep(0.2)
            writer.write(redirect(f"/{number + 1}") if number < 4 else answer(TEXT))

        return step

    limits = DownloadLimits(whole=0.5)
    source = await fetch_page({f"/{number}": slowly(number) for number in range(5)}, "/0", limits=limits)
    assert "longer than 0.5 seconds" in source.trouble


async def test_packed_pages_are_unpacked_however_their_server_packs():
    bare = zlib.compressobj(wbits=-15)
    packed = {
        "/gzip": answer(gzip.compress(TEXT.encode()), Content_Encoding="gzip"),
        "/parts": answer(
            gzip.compress(TEXT[:9].encode()) + gzip.compress(TEXT[9:].encode()), Content_Encoding="GZIP"
        ),
        "/zlib": answer(zlib.compress(TEXT.encode()), Content_Encoding="deflate"),
        "/bare": answer(bare.compress(TEXT.encode()) + bare.flush(), Content_Encoding="deflate"),
        "/tail": answer(gzip.compress(TEXT.encode()) + b"\n\n", Content_Encoding="x-gzip"),
    }
    async with site(packed) as value, value.fetcher() as fetcher:
        for path in packed:
            assert (await fetcher.fetch(value.url(path))).text == TEXT, path


async def test_nobody_there_is_named():
    async with site() as value:
        pass
    async with value.fetcher() as fetcher:
        assert "does not answer" in (await fetcher.fetch(value.url("/page"))).trouble


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("401 x", "401"),
        ("404 x", "not there"),
        ("410 x", "not there"),
        ("429 x", "too often"),
        ("503 x", "trouble"),
    ],
)
async def test_a_refusal_is_named_with_its_number(status, says):
    trouble = await trouble_with(answer("sorry", status=status))
    assert says in trouble
    assert status[:3] in trouble


# Types.


@pytest.mark.parametrize(
    "content_type", ["image/png", "video/mp4", "application/zip", "text/css", "image/svg+xml"]
)
async def test_what_is_no_text_is_not_even_read(content_type):
    async def head_only(writer):
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode())
        await silence(writer)

    assert f"no text ({content_type})" in await trouble_with(head_only)


async def test_a_picture_that_calls_itself_text_is_no_text():
    picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(500)
    packed = b"\x1f\x8b\x08" + bytes(range(1, 32)) * 20
    for content_type in ("text/html", "text/plain", "application/pdf", "application/octet-stream", ""):
        assert "no text, whatever" in await trouble_with(answer(picture, content_type))
        assert "no text, whatever" in await trouble_with(answer(packed, content_type))


async def test_text_content_types_are_accepted_and_decoded_by_charset():
    pages = {
        "/plain": answer("Grüße".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
        "/wrong": answer("Grüße".encode("latin-1"), 'text/plain; charset="utf-8"'),
        "/json": answer('{"a": "Grüße"}', "application/ld+json"),
        "/markdown": answer("# Grüße", "text/markdown"),
        "/none": answer("Grüße", ""),
        "/feed": answer("<rss><title>Grüße</title><item>b &amp; c</item></rss>", "application/rss+xml"),
    }
    async with site(pages) as value, value.fetcher() as fetcher:
        for path in pages:
            assert "Grüße" in (await fetcher.fetch(value.url(path))).text, path
        assert "b & c" in (await fetcher.fetch(value.url("/feed"))).text


async def test_a_page_of_the_web_becomes_its_title_and_its_article():
    page = f"""<html><head><meta charset="iso-8859-1"><title>Wetter für Kassel</title></head><body>
        <nav><a href="/">Zurück zur Übersicht</a></nav><article><p>{TEXT} {TEXT} Für Sonntag ist Sonne
        gemeldet, und danach wird es überall wieder kälter.</p></article></body></html>"""
    source = await fetch_page({"/page": answer(page.encode("latin-1"), "text/html")})
    assert (source.title, source.trouble) == ("Wetter für Kassel", "")
    assert source.text.startswith(TEXT)
    assert "überall wieder kälter" in source.text
    assert "Übersicht" not in source.text


async def test_an_empty_page_is_named():
    assert "no text on it" in await trouble_with(answer(" \n "))
    assert "no text on it" in await trouble_with(answer("", status="204 No Content"))


# Manners.


async def test_what_robots_txt_forbids_is_not_asked_for():
    robots = answer("User-agent: *\nDisallow: /\nAllow: /open")
    async with site({"/robots.txt": robots, "/page": answer(TEXT), "/open": answer(TEXT)}) as value:
        async with value.fetcher() as fetcher:
            assert "robots.txt forbids" in (await fetcher.fetch(value.url("/page"))).trouble
            assert (await fetcher.fetch(value.url("/open"))).text == TEXT
        assert value.paths == ["/open"]
        assert len(value.requests) == 2, "robots.txt is asked for once"


async def test_the_rules_of_the_site_a_redirect_leads_to_hold_there():
    async with site({"/page": answer(TEXT)}) as value:
        value.pages["other.example/robots.txt"] = answer("User-agent: holdfast\nDisallow: /page")
        value.pages["/start"] = redirect(value.url("/page", "other.example"))
        async with value.fetcher() as fetcher:
            assert "robots.txt forbids" in (await fetcher.fetch(value.url("/start"))).trouble


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ("404 x", True),
        ("400 x", True),
        ("401 x", False),
        ("403 x", False),
        ("429 x", False),
        ("503 x", False),
    ],
)
async def test_missing_robots_txt_allows_and_inaccessible_robots_txt_forbids(status, allowed):
    source = await fetch_page({"/page": answer(TEXT), "/robots.txt": answer("", status=status)})
    assert (source.text == TEXT) == allowed
    assert allowed or f"robots.txt cannot be read ({status[:3]})" in source.trouble


async def test_fetches_are_sequential_per_site_and_limited_to_four_sites():
    free = asyncio.Event()

    async def waiting(writer):
        await free.wait()
        writer.write(answer(TEXT))

    async with site({"/page": waiting}) as value, value.fetcher() as fetcher:
        urls = [value.url("/page", f"site{number // 3}.example") for number in range(18)]
        tasks = [asyncio.create_task(fetcher.fetch(url)) for url in urls]
        await value.asked(4)
        free.set()
        sources = await asyncio.gather(*tasks)
    assert [source.text for source in sources] == [TEXT] * 18
    assert value.most == 4
    assert value.most_of_one == 1


async def test_whoever_waits_for_a_site_does_not_lose_time_by_it():
    async def slow(writer):
        await asyncio.sleep(0.8)
        writer.write(answer(TEXT))

    # All of them together take longer than each may; each alone has time left on a busy machine.
    async with site({"/page": slow}) as value, value.fetcher(limits=DownloadLimits(whole=3.0)) as fetcher:
        sources = await asyncio.gather(*(fetcher.fetch(value.url("/page")) for _ in range(4)))
    assert [source.trouble for source in sources] == [""] * 4


async def test_a_fetch_that_is_cancelled_leaves_the_site_free():
    async with site({"/slow": silence, "/page": answer(TEXT)}) as value, value.fetcher() as fetcher:
        task = asyncio.create_task(fetcher.fetch(value.url("/slow")))
        await value.asked(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await fetcher.fetch(value.url("/page"))).text == TEXT
