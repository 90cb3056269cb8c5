"""From the bytes of a page to its text: the character set it really has, which is not always what it says.

Never fails: what cannot be read becomes the sign for that.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before those of UTF-16, which begin alike.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# As far into a page as it has to say so.
_HEAD = 4_096
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
# Python knows codecs that are no character sets of pages, some of which fail on any bytes.
_OF_PAGES = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-[bl]e)?|iso8859-\d+|cp\d{3,5}|koi8-[rut]|gb2312|gbk|gb18030|big5(?:hkscs)?"
    r"|euc_(?:jp|kr)|shift_jis|iso2022_(?:jp|kr)|mac-\w+|johab|hz|tis-620"
)
# These are what pages mean who say one of those.
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-9": "cp1254",
}
_UNREADABLE = "\ufffd"


def decode_page(data: bytes, declared: str = "") -> str:
    """The text of a page. `declared` is the character set in the header, which the page may contradict."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, errors="replace")
    names = [name for label in (declared, _find_charset(data)) if (name := _normalise_charset(label))]
    wide = [name for name in names if name.startswith(("utf-16", "utf-32"))]
    if wide and b"\0" in data[:_HEAD]:
        return data.decode(wide[0], errors="replace")
    seven_bits = [name for name in names if name.startswith("iso2022") or name == "hz"]
    if seven_bits and data.isascii():
        return data.decode(seven_bits[0], errors="replace")
    try:
        # What can be read so was hardly ever written otherwise, whatever it says.
        return data.decode()
    except UnicodeDecodeError:
        return _decode_fallback(data, names)


def _decode_fallback(data: bytes, names: list[str]) -> str:
    others = [name for name in names if not name.startswith("utf-")]
    if not others:
        text = data.decode(errors="replace")
        # A few bad bytes in a page of UTF-8 spoil those characters only.
        if text.count(_UNREADABLE) * 20 <= sum(sign > "\x7f" for sign in text):
            return text
    return data.decode(others[0] if others else "cp1252", errors="replace")


def _find_charset(data: bytes) -> str:
    found = _DECLARED.search(data[:_HEAD])
    return found[1].decode("ascii", errors="replace") if found else ""


def _normalise_charset(label: str) -> str:
    try:
        name = codecs.lookup(label.strip()).name if label.isascii() and "\0" not in label else ""
    except LookupError:
        return ""
    return _MEANT.get(name, name) if _OF_PAGES.fullmatch(name) else ""
