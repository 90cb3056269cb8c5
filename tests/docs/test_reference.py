"""docs/reference/ says what the program says; after a change `make reference` writes it anew."""

import pytest

from tests.docs.reference import FOLDER, PAGES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("docs")]


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_is_up_to_date(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "Run `make reference`."
