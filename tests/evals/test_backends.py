"""The measure of backends: it goes the product's way, compares fairly, and says what it could not measure."""

from dataclasses import replace

import pytest

from evals import backends
from evals.backends_run import Case, run

SEARCHES = 6


@pytest.fixture(scope="module")
def measurements(tmp_path_factory):
    """The embedded backend, and a local Qdrant beside it, with a few memories."""
    folder = tmp_path_factory.mktemp("backends")

    def case(name: str, vectors: str) -> Case:
        place = folder / name
        place.mkdir()
        return Case(
            name,
            store=f"sqlite:///{place / 'holdfast.db'}",
            notes=str(place / "notes"),
            folder=str(place),
            vectors=vectors,
            memories=80,
            searches=SEARCHES,
            embedder=str(folder / "vectors.npz"),
            hashing=True,
        )

    return [run(case("embedded", "auto")), run(case("qdrant", f"qdrant:{folder / 'collection'}"))]


def test_every_backend_finds_the_same_and_says_what_it_took(measurements):
    embedded, qdrant = backends.make_rows(measurements)
    assert [item.engine for item in measurements] == ["in process", "qdrant"]
    assert all(len(hits) == 10 for entry in measurements for hits in entry.found)
    assert (embedded["same"], embedded["as near"]) == (1.0, 1.0)
    assert qdrant["met"], qdrant
    assert all(len(value.searches) == len(value.near) == SEARCHES and value.rss > 1 for value in measurements)


def test_what_is_not_found_counts(measurements):
    embedded, qdrant = measurements
    half = [hits[:5] for hits in embedded.found]
    far = [[near - 1 for near in nearest] for nearest in embedded.nearest]
    _, poor = backends.make_rows([embedded, replace(qdrant, found=half, nearest=far)])
    assert (poor["same"], poor["as near"], poor["met"]) == (0.5, 0.0, False)


def test_the_page_tells_all_of_it(measurements):
    rows = backends.make_rows(
        [measurements[0], replace(measurements[1], nearest=[[] for _ in range(SEARCHES)])]
    )
    page = backends.page(rows, ["sqlite-vec: it cannot be loaded"], 80, SEARCHES)
    assert "| embedded | in process |" in page
    assert "**Not met: qdrant.**" in page
    assert "- sqlite-vec: it cannot be loaded" in page


def test_handwritten_conclusions_survive_new_measurements(tmp_path):
    file = tmp_path / "backends.md"
    assert backends.read_remarks(file) == ""
    file.write_text("Old numbers.\n\n## What stands out\nIt is slow.\n")
    assert backends.read_remarks(file) == "\n## What stands out\nIt is slow.\n"
