"""From bytes to text: encodings, documents, and what is refused with a reason."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadRequest, TooLarge
from holdfast.files import reader
from holdfast.files.documents import detect_document, extract_text
from holdfast.files.formats import extract_pdf, html_to_text

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str, *, head: str = "", part: str = "word/document.xml") -> bytes:
    document = (
        f'<?xml version="1.0"?>{head}<w:document xmlns:w="{NAMESPACE}"><w:body>{body}</w:body></w:document>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(part, document)
    return packed.getvalue()


def paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def text_or_hint(name: str, data: bytes, instead: str = "") -> str:
    """The text, or `instead` where the bytes are refused as they should be, with a next step."""
    try:
        # In this process: it is not for its time that it is read here.
        kind = detect_document(name, data)
        return reader.read(kind, name, data)[1] if kind else extract_text(name, data).text
    except BadRequest as refused:
        return instead if refused.hint else "no hint\r"


def pdf(*pages: str, cut_off: int | None = None) -> bytes:
    """A PDF with one line of text a page, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    written, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    written += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    written += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{written.index('xref')}\n%%EOF"
    )
    return written.encode("latin-1")[:cut_off]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_texts_are_read_however_they_are_written(encoding):
    text = "Größe: 5 €\nSecond line of the file\n"
    assert extract_text("a.txt", text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Сегодня хорошая погода, и мы идём гулять в парк.", "cp1251"),
        ("Сегодня хорошая погода, и мы идём гулять в парк.", "koi8-r"),
        ("今日は天気がいいので、公園へ散歩に行きます。", "shift_jis"),
        ("今天天气很好，我们去公园散步。", "gb18030"),
        ("äöü", "cp1252"),
        ("für", "cp1252"),
        ("½", "cp1252"),
    ],
)
def test_old_encodings_are_detected_but_western_texts_stay_western(text, encoding):
    assert extract_text("a.txt", text.encode(encoding)).text == text


@given(st.text("abc äöüßÄÖÜé€„“", max_size=12))
def test_a_text_with_umlauts_is_never_taken_for_another_script(text):
    text = f"Es geht um eine Straße in Köln, und dazu noch um: {text}"
    assert extract_text("a.txt", text.encode("cp1252")).text == text


def test_lines_end_with_a_line_feed_whatever_they_ended_with():
    assert extract_text("a.txt", b"one\r\ntwo\rthree\n").text == "one\ntwo\nthree\n"


def test_a_few_damaged_bytes_do_not_change_the_rest():
    data = "Größe, Übermut, Straße und Äpfel sind Wörter. ".encode() * 20
    assert extract_text("a.txt", data[:1] + b"\xff" + data[1:]).text.count("Übermut") == 20


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "a PNG picture"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 60, "a program"),
        (b"PK\x03\x04" + b"\0" * 60, "a ZIP archive"),
        (bytes(range(256)) * 8, "binary"),
        (b"SQLite format 3\0" + b"\0" * 60, "an SQLite database"),
    ],
)
def test_what_is_no_text_is_refused_and_named(data, said):
    with pytest.raises(BadRequest, match=said) as caught:
        extract_text("thing.txt", data)
    assert "thing.txt" in caught.value.message
    assert caught.value.hint


def test_colours_of_a_terminal_and_one_stray_zero_are_text():
    assert extract_text("a.log", b"\x1b[31mred\x1b[0m and \0 more" * 2).kind == "text"
    assert extract_text("a.txt", b"MZ is how this letter begins").text == "MZ is how this letter begins"


def test_a_word_document_is_its_paragraphs_headings_and_tables():
    row = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b &amp; c"))
    body = paragraph("Anfang", "berschrift1") + paragraph("Text.") + f"<w:tbl><w:tr>{row}</w:tr></w:tbl>"
    results = extract_text("a.docx", word(body + paragraph("Deeper", "Heading2") + paragraph("")))
    assert results.kind == "docx"
    assert results.text == "# Anfang\n\nText.\n\n| a | b & c |\n\n## Deeper"
    assert extract_text("attachment", word(paragraph("by its bytes"))).text == "by its bytes"


def test_a_word_document_that_defines_entities_is_not_read():
    head = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    with pytest.raises(BadRequest, match="document type"):
        extract_text("a.docx", word(paragraph("&b;"), head=head))


def test_a_word_document_that_unpacks_without_end_is_stopped():
    with pytest.raises(TooLarge, match="40 MB"):
        extract_text("a.docx", word(" " * 41_000_000))


@pytest.mark.parametrize(
    "data",
    [word("x")[:60], word("x", part="other.xml"), word("<w:p>"), b"PK\x03\x04nonsense"],
    ids=["cut off", "no text in it", "broken", "nonsense"],
)
def test_a_broken_word_document_is_refused_with_a_hint(data):
    with pytest.raises(BadRequest) as caught:
        extract_text("a.docx", data)
    assert caught.value.hint


def test_a_pdf_is_its_pages_each_with_a_heading():
    text = extract_text("a.pdf", pdf("First page.", "", "Third page."))
    assert text.kind == "pdf"
    assert (
        text.text
        == "## Page 1\n\nFirst page.\n\n## Page 2\n\n[no text on this page]\n\n## Page 3\n\nThird page."
    )


def test_slow_pdf_yields_as_many_pages_as_time_allows():
    text = extract_pdf("a.pdf", pdf("First page.", "Second page.", "Third page."), seconds=0)
    assert text == "## Page 1\n\nFirst page.\n\n[2 of 3 pages left out]"


def test_a_pdf_of_pictures_says_that_it_has_no_text():
    with pytest.raises(BadRequest, match="no text") as caught:
        extract_text("scan.pdf", pdf("", ""))
    assert "OCR" in caught.value.hint


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_damaged_pdf_is_read_or_refused(data):
    whole = pdf("First page.", "Second page.")
    end = data.draw(st.integers(20, len(whole)))
    place = data.draw(st.integers(9, end - 1))
    damaged = whole[:place] + data.draw(st.binary(max_size=6)) + whole[place + 3 : end]
    assert text_or_hint("a.pdf", damaged, instead="## Page 1").startswith("## Page 1")


@settings(max_examples=30, deadline=None)
@given(name=st.sampled_from(["a.txt", "a.docx", "a.html", ""]), data=st.binary(max_size=300))
def test_any_bytes_are_a_text_or_refused(name, data):
    assert "\r" not in text_or_hint(name, data)


def test_a_page_keeps_its_source_and_can_be_read_as_words():
    head = "<html><head><title>A &amp; B</title><style>p {}</style></head>"
    page = f"{head}<body><h1>Top</h1><p>One<br>two</p></body>"
    text = extract_text("a.html", page.encode())
    assert (text.kind, text.text) == ("html", page)
    assert html_to_text(page) == "A & B\n\n# Top\n\nOne\ntwo"
    assert extract_text("no name", page.encode()).kind == "html"
