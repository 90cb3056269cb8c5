"""A folder that may be read from, with something beside it that may not."""

import pytest

from holdfast.files.roots import Roots


@pytest.fixture
def allowed(tmp_path):
    folder = tmp_path / "allowed"
    folder.mkdir()
    return folder


@pytest.fixture
def beside(tmp_path):
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "other.txt").write_text("not yours\n")
    return folder


@pytest.fixture
def roots(allowed):
    """As behind the proxy: one folder, no secrets."""
    return Roots((allowed,))


@pytest.fixture
def own(allowed):
    """As in a person's own shell: everywhere, from this folder."""
    return Roots((allowed.__class__(allowed.anchor),), allowed, secrets=True)
