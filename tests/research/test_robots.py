"""robots.txt, read as sites mean it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.research.fetch import DISALLOW_ALL, RobotsRules


def allows(text, path, robot="holdfast"):
    return RobotsRules(text, robot).allows(path)


def test_without_rules_everything_may_be_read():
    for text in ("", "# nothing", "User-agent: *\nDisallow:", "garbage", "Disallow: /", "Sitemap: x"):
        assert allows(text, "/a")
    assert not DISALLOW_ALL.allows("/")


def test_robots_group_for_our_agent_takes_precedence_over_wildcard():
    text = "User-agent: *\nDisallow: /\n\nUser-Agent: HoldFast/1.0\nDisallow: /private\n"
    assert allows(text, "/open")
    assert not allows(text, "/private/x")
    assert not allows(text, "/open", robot="another")


def test_robots_agents_can_share_groups_and_have_multiple_groups():
    text = "User-agent: other\nUser-agent: holdfast\nDisallow: /a\n\nUser-agent: holdfast\nDisallow: /b"
    assert not allows(text, "/a")
    assert not allows(text, "/b")
    assert allows(text, "/c")


def test_a_robot_that_is_only_called_alike_is_somebody_else():
    assert allows("User-agent: hold\nDisallow: /", "/")
    assert allows("User-agent: holdfast-news\nDisallow: /", "/")


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a", "/abc", False),
        ("Disallow: /a", "/b", True),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a/b\nDisallow: /a", "/a/c", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /*?", "/x?y=1", False),
        ("Disallow: /*?", "/x", True),
        ("Disallow: /a*b*c", "/axxbxxc", False),
        ("Disallow: /a*b*c", "/axxcxxb", True),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /ä", "/%C3%A4", False),
        ("Disallow: /%7Ejoe", "/~joe", False),
        ("Disallow: /a # because", "/a", False),
        ("disallow:/a", "/a", False),
    ],
)
def test_the_longest_rule_that_fits_decides(rules, path, allowed):
    assert allows(f"User-agent: *\n{rules}\n", path) == allowed


@given(st.text(max_size=200), st.text(max_size=40))
def test_whatever_a_site_says_there_is_an_answer(text, path):
    allows(text, f"/{path}")
    allows(f"User-agent: *\nDisallow: {text}", f"/{path}")


@given(st.text("ab/", max_size=12), st.text("ab/", max_size=8))
def test_a_rule_without_signs_is_a_beginning(path, rule):
    assert allows(f"User-agent: *\nDisallow: /{rule}", f"/{path}") != f"/{path}".startswith(f"/{rule}")


def test_a_rule_full_of_stars_is_decided_at_once():
    assert allows(f"User-agent: *\nDisallow: /{'a*' * 900}b", "/" + "a" * 5_000)


def test_a_site_that_names_thousands_of_robots_is_read_at_once():
    spellings = ("User-agent: a{}", "user agent b{}", "USERAGENT:\tc{}", "User-Agent\td{}", "user-agente{}:")
    names = [spelling.format(number) for number in range(4_000) for spelling in spellings]
    text = "\n".join([*names, "User-agent: holdfast", *["Disallow: /a"] * 8_000])
    assert not allows(text, "/a")
    assert allows(text, "/b")


def test_a_path_with_two_slashes_is_a_path():
    assert not allows("User-agent: *\nDisallow: //[", "//[a")
    assert allows("User-agent: *\nDisallow: /a", "//a")
