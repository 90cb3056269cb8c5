"""Python: what a digest tells of a source, what it falls back on, and how a part of it is reached."""

import textwrap
import warnings

import pytest

from holdfast.files.digests import build_digest, find_element, list_elements

SOURCE = '''
"""Keeps boxes.

More about it.
"""
import os
from collections.abc import Iterator

__all__ = ["Box", "_open", "passed_on"]

LIMIT = 5
sizes: dict[str, int] = {}

# Not part of anything.
@decorated(
    "x"
)
class Box(Base, metaclass=Meta):
    """A box. It holds."""

    width: int = 3

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def area(self) -> float:
        """How large it is."""
        def helper(x):
            return x

        return helper(1.0)

    class Lid:
        async def close(self, softly: bool = True) -> None:
            """Closes."""
            await sleep("""
def not_a_function():
""")

# About the next one.
async def fetch(first, /, url: str, *parts: int, timeout=3.0, **more) -> bytes:
    """Gets it."""
    return b""

def _hidden():
    pass

def _open():
    pass
'''.lstrip()
LONG = SOURCE + "\n".join(f"def _p{number}():\n    return {'x' * 40}\n" for number in range(60))


def test_a_roomy_digest_has_heads_and_first_lines_of_documentation():
    text = build_digest("box.py", LONG).text
    lines = text.split("\n")
    assert lines[0] == "Keeps boxes."
    assert "imports: os, collections.abc" in lines
    assert "LIMIT = 5" in lines
    assert "class Box(Base, Meta)  # A box. It holds." in lines
    assert "  def area(self) -> float  # How large it is." in lines
    assert "    async def close(self, softly: bool=…) -> None  # Closes." in lines
    assert "async def fetch(first, /, url: str, *parts: int, timeout=…, **more) -> bytes  # Gets it." in lines
    assert "passed_on" in text
    assert "_open" in text
    assert "not_a_function" not in text
    assert "_p7" not in text
    assert lines[-1].startswith("[left out of 229 lines: bodies, 63 private names and fields")


def test_names_go_last_and_never():
    classes = "".join(
        f"class Thing{number}:\n"
        + "".join(f"    def does_{number}_{part}(self, argument: int): pass\n" for part in range(20))
        for number in range(40)
    )
    text = build_digest("many.py", classes).text
    assert all(f"does_{number}_{part}" in text for number in range(40) for part in range(20))
    assert "class Thing7: does_7_0, does_7_1, " in text


@pytest.mark.parametrize(
    "broken",
    [
        "def f(:\n    pass\n",
        "class A\n    pass\n",
        "print 'hello'\nexec code in space\n",
        "x = '''never closed\n",
        "except Error, e:\n    raise E, 'x'\n",
        "x = 0777L\n\0\n",
    ],
)
def test_what_cannot_be_parsed_still_has_its_definitions(broken):
    text = broken if broken.startswith("x = '''") else ""
    text = (
        "class Old:\n    def method(self, a, (b, c)):\n        print a\n\ndef run():\n    print 1\n" * 20
        + broken
        + text
    )
    digest = build_digest("old.py", text)
    assert digest.kind == "python"
    assert all(name in digest.text for name in ("Old", "method", "run"))
    assert find_element("old.py", text, "Old.method").text.startswith("    def method(self, a, (b, c)):")


def test_odd_escapes_warn_nobody_and_hide_nothing():
    text = '"""A \\d."""\nPATTERN = "\\d"\n' + "def f():\n    return 1234567890\n" * 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "PATTERN" in build_digest("a.py", text).text


def test_element_includes_its_decorators_but_not_surrounding_code():
    box = find_element("box.py", SOURCE, "Box")
    assert box.text.startswith('@decorated(\n    "x"\n)\nclass Box(')
    assert box.text.endswith('def not_a_function():\n""")')
    assert SOURCE.split("\n")[box.first - 1 : box.last] == box.text.split("\n")
    area = find_element("box.py", SOURCE, "Box.area")
    assert area.text.startswith("    @property\n    def area(self)")
    assert area.text.endswith("return helper(1.0)")
    assert find_element("box.py", SOURCE, "area") == area
    assert (
        find_element("box.py", SOURCE, "Box.area.helper").text
        == "        def helper(x):\n            return x"
    )
    assert find_element("box.py", SOURCE, "fetch").text.endswith('return b""')
    assert find_element("box.py", SOURCE, "box.LID.close").text.lstrip().startswith("async def close")
    assert find_element("box.py", SOURCE, "LIMIT").text == "LIMIT = 5"
    assert find_element("box.py", SOURCE, "nothing") is None
    assert find_element("box.py", SOURCE, "not_a_function") is None


def test_the_elements_are_listed_once_each_in_their_order():
    twice = SOURCE + "\ndef fetch():\n    pass\n"
    assert list_elements("box.py", twice) == [
        "__all__", "LIMIT", "sizes", "Box", "Box.__init__", "Box.area", "Box.area.helper", "Box.Lid",
        "Box.Lid.close", "fetch", "_hidden", "_open",
    ]  # fmt: skip
    assert "async def fetch" in find_element("box.py", twice, "fetch").text


def test_tabs_and_windows_line_ends_do_not_matter():
    text = textwrap.dedent("""
        class A:
        \tdef b(self):
        \t\treturn \\
        1

        \tdef c(self): pass
    """).replace("\n", "\r\n")
    assert list_elements("a.py", text) == ["A", "A.b", "A.c"]
    assert "return" in find_element("a.py", text, "A.b").text
