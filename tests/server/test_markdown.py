"""Answers as HTML: what is beyond CommonMark, what stays plain, and blocks that add up to the whole."""

import pytest

from holdfast.server.pages.markdown import MarkdownBlocks, render_html


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("It costs $5 and $10, or US$5 and 10$ here.", []),
        ("$HOME/bin and $PATH, `$x$` and \\$5", []),
        ("$x^2$ and \\(a+b\\)", ["x^2", "a+b"]),
        ("$$\na = b \\\\[2pt]\nc\n$$", ["a = b \\\\[2pt]\nc"]),
        ("- a\n\n  \\[\n  y\n  \\]", ["y"]),
        ("\\(never closed and \\[neither", []),
    ],
)
def test_formulas_are_told_from_money_and_escapes(text, formulas):
    html = render_html(text)
    assert html.count('class="math') == len(formulas)
    assert all(f">{formula}</" in html for formula in formulas)


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("See https://a.org/x_(y).", "https://a.org/x_(y)", "https://a.org/x_(y)"),
        ("(https://a.org/b?c=d&e=f)", "https://a.org/b?c=d&amp;e=f", "https://a.org/b?c=d&amp;e=f"),
        ("www.a.org, they say", "https://www.a.org", "www.a.org"),
    ],
)
def test_bare_links_end_where_people_end_them(text, address, shown):
    assert f'<a href="{address}" rel="noopener noreferrer nofollow">{shown}</a>' in render_html(text)


def test_links_stay_out_of_code_and_of_other_links():
    assert render_html("`https://a.org` [b](https://b.org)").count("<a ") == 1


def test_tables_tasks_and_footnotes_need_no_style():
    html = render_html("|a|b|\n|:-:|-:|\n|1|2|\n\n- [x] done\n- [ ] open\n\nNote[^n].\n\n[^n]: *Text*")
    assert '<td align="right">2</td>' in html
    assert '<li class="task done">done</li>' in html
    assert '<li class="task">open</li>' in html
    assert '<sup class="footnote">1</sup>' in html
    assert "<em>Text</em>" in html
    assert "style=" not in html


def test_a_footnote_that_nobody_wrote_stays_as_it_is():
    assert "[^gone]" in render_html("See[^gone].")


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n<think>\nhm **x** <b>\n\nmore\n</think>\n\nAnswer\n\n$$\nx\n$$\n\n- [ ] a\n",
        "```py\n<think>\n```\n\nDone.",
        "<think>\nnever closed",
        "Plain, then a list:\n\n1. one\n2. two\n\n> quote\n\n| a |\n|---|\n| b |\n",
    ],
)
def test_blocks_that_are_written_add_up_to_the_whole(text):
    blocks, shown = MarkdownBlocks(), {}
    for start in range(0, len(text), 3):
        shown.update(blocks.add(text[start : start + 3]))
    assert "".join(shown.values()) == render_html(text)


def test_thoughts_are_text_and_no_html():
    assert render_html("<think><img src=x></think>Yes.") == (
        '<div class="thought">&lt;img src=x&gt;</div>\n<p>Yes.</p>\n'
    )
