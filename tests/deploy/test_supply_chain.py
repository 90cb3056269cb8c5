"""What a release is installed with is pinned by hashes, listed part by part, and can be verified."""

import hashlib
import json
import re

import httpx
import pytest

from holdfast import __version__
from tests.deploy.audit import audit_package
from tests.deploy.installed import plain, runtime
from tests.deploy.lock import ROOT, read_lock
from tests.deploy.sbom import SUMS, build_sbom, write_beside


def read_pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {plain(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_the_lock_has_hashes_for_every_package_and_the_pinned_versions():
    locked, pins = read_lock(), read_pins()
    assert set(runtime()) - {"holdfast"} <= set(locked)
    for name, (version, hashes) in locked.items():
        assert pins.get(name, version) == version, name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), name


def test_the_parts_of_a_release_are_listed_with_their_versions():
    sbom, packages = build_sbom(), runtime()
    parts = {row["name"]: row["version"] for row in sbom["components"]}
    assert {name: package.version for name, package in packages.items() if name != "holdfast"}.items() <= (
        parts.items()
    )
    assert "katex" in parts
    known = {row["bom-ref"] for row in sbom["components"]} | {sbom["metadata"]["component"]["bom-ref"]}
    assert {row["ref"] for row in sbom["dependencies"]} <= known
    (own,) = (row for row in sbom["dependencies"] if row["ref"].startswith("pkg:pypi/holdfast@"))
    assert any(ref.startswith("pkg:pypi/fastapi@") for ref in own["dependsOn"])
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")


def test_checksums_of_all_files_stand_beside_them(tmp_path):
    (tmp_path / "holdfast-1.whl").write_bytes(b"a wheel")
    write_beside(tmp_path)
    rows = dict(reversed(line.split("  ")) for line in (tmp_path / SUMS).read_text().splitlines())
    assert set(rows) == {"holdfast-1.whl", "requirements.lock", f"holdfast-{__version__}.cdx.json"}
    for name, digest in rows.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    json.loads((tmp_path / f"holdfast-{__version__}.cdx.json").read_text())


@pytest.mark.parametrize(
    ("locked", "vulnerabilities"),
    [
        pytest.param("1.0", ("PYSEC-1 (mended in 1.1)",), id="told of by itself"),
        pytest.param("2.0", (), id="the newest"),
        pytest.param("1.5", None, id="nothing is told of it"),
    ],
)
def test_an_audit_says_what_the_index_knows(locked, vulnerabilities):
    hole = {"id": "PYSEC-1", "fixed_in": ["1.1"], "withdrawn": None}
    mistake = {**hole, "id": "PYSEC-2", "withdrawn": "2026-01-01"}
    pages = {
        "/pypi/some/1.0/json": {"info": {"version": "1.0"}, "vulnerabilities": [hole, mistake]},
        "/pypi/some/json": {"info": {"version": "2.0"}, "vulnerabilities": []},
    }

    def answer(request):
        page = pages.get(request.url.path)
        return httpx.Response(200, json=page) if page else httpx.Response(404)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        assert audit_package(http, "some", locked).vulnerabilities == vulnerabilities
