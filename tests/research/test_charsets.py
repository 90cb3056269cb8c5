"""Character sets: as they are, not as they are declared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.research.extract import decode_page

GERMAN = "Über die Größe der Straße"


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        (GERMAN.encode(), "utf-8"),
        (GERMAN.encode(), ""),
        (GERMAN.encode(), "iso-8859-1"),
        (GERMAN.encode("latin-1"), "utf-8"),
        (GERMAN.encode("latin-1"), ""),
        (GERMAN.encode("cp1252"), "iso-8859-1"),
        (GERMAN.encode("utf-16"), "utf-8"),
        (GERMAN.encode("utf-8-sig"), "latin-1"),
        (GERMAN.encode("utf-16-le"), "utf-16le"),
        (GERMAN.encode("latin-1"), "no-such-thing"),
        (GERMAN.encode("latin-1"), "idna"),
        (GERMAN.encode("latin-1"), "undefined"),
        (GERMAN.encode("latin-1"), "rot13"),
        (GERMAN.encode("latin-1"), "\0"),
    ],
)
def test_german_is_read_whatever_is_said_of_it(data, declared):
    assert decode_page(data, declared) == GERMAN


def test_the_page_may_say_it_itself():
    page = '<html><head><meta charset="koi8-r"></head>Привет'
    assert "Привет" in decode_page(page.encode("koi8-r"))
    xml = '<?xml version="1.0" encoding="Shift_JIS"?><a>天気</a>'
    assert "天気" in decode_page(xml.encode("shift_jis"))
    assert "天気" in decode_page("天気".encode("iso2022_jp"), "iso-2022-jp")


def test_quotes_of_windows_are_read_in_what_calls_itself_latin():
    assert decode_page("„so“".encode("cp1252"), "iso-8859-1") == "„so“"


def test_one_bad_byte_spoils_one_character():
    text = decode_page((GERMAN * 20).encode() + b"\xff" + GERMAN.encode(), "utf-8")
    assert text == GERMAN * 20 + "\ufffd" + GERMAN


@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_bytes_and_no_declaration_make_it_fail(data, declared):
    assert isinstance(decode_page(data, declared), str)
