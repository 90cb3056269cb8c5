"""Texts out of pages: what a reader came for, from any bytes, in a time that nobody can stretch."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import FetchFailed
from holdfast.research.extract import extract_text, find_title, strip_tags
from holdfast.research.repository import limit_text
from tests.processes import readers

PAGE = """<!doctype html><html><head><title>Wetter in Kassel - Wetterdienst</title>
<style>p {color: red}</style></head>
<body><nav><ul><li><a href="/">Startseite</a></li><li><a href="/impressum">Impressum</a></li></ul></nav>
<article><h1>Wetter in Kassel</h1>
<p>Am Wochenende regnet es in Kassel bei höchstens zwölf Grad, sagt der Wetterdienst am Freitag voraus.</p>
<p>Am Sonntag klart es auf, und die Sonne scheint bis zum Abend; in der Nacht wird es dann kalt.</p>
<table><tr><th>Tag</th><th>Grad</th></tr><tr><td>Samstag</td><td>12</td></tr></table></article>
<footer>Alle Rechte vorbehalten</footer><script>alert("nein")</script></body></html>"""


def extract_page(data, kind="html", **options):
    return asyncio.run(extract_text(data if isinstance(data, bytes) else data.encode(), kind, **options))


def test_the_article_is_taken_and_what_stands_around_it_left():
    # As many servers do, this one calls it plain text.
    text = extract_page(PAGE, "text")
    assert "Wetter in Kassel" in text.title
    assert "höchstens zwölf Grad" in text.text
    assert "Samstag" in text.text
    for noise in ("Impressum", "Rechte", "alert", "color"):
        assert noise not in text.text


def test_a_page_without_an_article_gives_all_its_words():
    text = extract_page(
        "<html><head><title>A &amp; B</title></head><body><div>17</div><b>x</b></body></html>"
    )
    assert text.title == "A & B"
    assert text.text.split() == ["17", "x"]


def test_a_page_that_takes_too_long_is_done_without_the_reader():
    text = extract_page(PAGE, seconds=0.01)
    assert text.title == "Wetter in Kassel - Wetterdienst"
    assert "höchstens zwölf Grad" in text.text
    assert "alert" not in text.text
    assert "color" not in text.text


def test_thousands_of_spans_are_no_trouble():
    assert extract_page("<article><p>" + "<span class=x>Wort</span> " * 30_000).text.count("Wort") > 5_000


@pytest.mark.parametrize("page", ["<div>" * 50_000, "<script>" * 50_000], ids=["div", "script"])
def test_a_page_without_any_text_is_said_to_be_one(page):
    with pytest.raises(FetchFailed, match="no text"):
        extract_page(page)


@pytest.mark.parametrize(
    "piece", ["<", "<a", "<p a=b ", "<!--", "<script>", "<![CDATA[", "&amp", "]]>", "<title>", "--", "\0"]
)
def test_tags_are_taken_off_a_large_page_of_rubbish_at_once(piece):
    # With time in the square of the size this would take an hour.
    page = piece * (400_000 // len(piece))
    strip_tags(page)
    find_title(page)


@pytest.mark.anyio
async def test_no_reader_is_left_behind_when_nobody_waits_for_it():
    task = asyncio.create_task(extract_text(PAGE.encode(), "html"))
    while not readers():
        assert not task.done()
        await asyncio.sleep(0.005)
    # It will not end by itself, and is waited for.
    readers()[0].suspend()
    for _ in range(100):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=60)
    assert task.cancelled()
    assert readers() == []


def test_a_long_text_is_cut_and_says_so():
    text = extract_page("Wort " * 20_000, "text").text
    assert text.endswith("\n[cut: 39,999 more characters]")
    # When it is kept it is cut once more, and stays as it is.
    assert limit_text(text) == text
    assert len(text) < 60_100


def test_a_pdf_is_read_whatever_it_calls_itself():
    text = pdf("Am Wochenende regnet es in Kassel.")
    assert "regnet es in Kassel" in extract_page(text, "html").text


def test_a_broken_pdf_is_said_to_be_one():
    with pytest.raises(FetchFailed, match="PDF cannot be read"):
        extract_page(b"%PDF-1.7\nnothing that makes sense", "pdf")


@given(st.text("<>/!-abp scriptyle\"'=&;[]?", max_size=200))
def test_markup_of_any_kind_can_be_taken_off(markup):
    strip_tags(markup)
    find_title(markup)
    assert "<b>" not in strip_tags(f"a<b>{markup}")


def test_hidden_parts_end_where_they_end():
    assert strip_tags("a<!-- <b> -->c<script>if (a < b) {}</script>d<br>e &lt;f&gt;") == "acd\ne <f>"
    assert strip_tags("a<style>b<p>c") == "a"
    assert strip_tags("<p>one<p>two<i>three</i>") == "one\ntwothree"


def pdf(text: str) -> bytes:
    """A document of one page."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    result, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(result))
        result += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(result)
    return result + b"xref\n0 6\n0000000000 65535 f \n" + table + end
