"""What holds for all pages alike: small, nothing from elsewhere, both languages, no complaints of scripts."""

import pytest

from tests.browser.accessible import faults

# In bytes, with all that a page loads before anybody has done anything.
FIRST_LOAD = 150_000


@pytest.mark.parametrize("path", ["/", "/settings/memory", "/research", "/statistics", "/settings", "/setup"])
def test_a_page_is_small_and_speaks_the_language_that_was_chosen(page, path):
    window = page(language="de")
    sizes: dict[str, int] = {}
    window.on("response", lambda got: sizes.update({got.url: len(got.body())}) if _is_part(got) else None)
    window.goto(path, wait_until="load")
    assert sum(sizes.values()) < FIRST_LOAD, sizes
    assert window.locator("html").get_attribute("lang") == "de"
    assert window.locator("h1").count() == 1


def _is_part(response) -> bool:
    return response.ok and response.request.resource_type in ("document", "script", "stylesheet", "image")


def test_the_check_for_what_keeps_people_from_using_a_page_finds_it(page):
    window = page()
    window.set_content(
        "<html lang=en><title>Bad</title><main><h1>One</h1><h3 id=a>Three</h3><button id=a></button><input>"
        "<img src=data:,><p style='color:#aaa;background:#fff'>Pale</p><label for=gone>Who</label>"
        "<div aria-hidden=true><a href=x>Hidden</a></div><p style='width:3000px'>Wide</p></main>"
    )
    told = "\n".join(faults(window))
    for fault in (
        "id used 2 times",
        "level 3 after one of level 1",
        "no name",
        "no label",
        "no text instead",
        "contrast",
        "leads nowhere",
        "hidden but reachable",
        "wider than the window",
    ):
        assert fault in told
