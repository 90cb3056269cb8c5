"""The libraries of others that the pages load: what their makers published, under licences we chose."""

import re

from tests.deploy.licences import PAGE, is_allowed
from tests.deploy.vendored import FOLDER, MANIFEST, hash_file, read_manifest

# Bytes of all of them together: they are part of every wheel.
LARGEST = 900_000


def test_every_file_is_what_the_manifest_says():
    listed = {
        path: entry["sha256"] for library in read_manifest() for path, entry in library["files"].items()
    }
    value = {
        path.relative_to(FOLDER).as_posix(): hash_file(path.read_bytes())
        for path in FOLDER.rglob("*")
        if path.is_file() and path != MANIFEST
    }
    assert value == listed


def test_every_library_has_a_licence_that_was_chosen_and_is_listed():
    rows = dict(re.findall(r"^\| (\S+ \S+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    for library in read_manifest():
        assert is_allowed(library["licence"])
        assert rows[f"{library['name']} {library['version']}"] == library["licence"]
        assert any(path.endswith("/LICENSE") for path in library["files"])


def test_the_libraries_stay_small_and_load_nothing_from_elsewhere():
    contents = {path: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    assert sum(map(len, contents.values())) < LARGEST
    styles = b"".join(content for path, content in contents.items() if path.suffix == ".css")
    assert not re.search(rb"url\(['\"]?(?:https?:)?//", styles)
