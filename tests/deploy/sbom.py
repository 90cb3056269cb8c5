"""What a release is made of, as a CycloneDX list of its parts, and the checksums of its files.

`make dist` writes both beside the wheel: `python -m tests.deploy.sbom dist`. The same sources give the same
bytes, so there is no time in it.
"""

import hashlib
import json
import shutil
import sys
import uuid
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from holdfast import __version__
from tests.deploy.installed import EXTRAS, plain, runtime, select_requirements
from tests.deploy.licences import licence_of
from tests.deploy.lock import LOCK
from tests.deploy.vendored import read_manifest

SUMS = "SHA256SUMS"


def build_sbom() -> dict[str, Any]:
    """Every package that is installed with Holdfast, what each needs, and what is inside its own wheel."""
    packages = runtime()
    packages.pop("holdfast", None)
    libraries = [_describe_library(row) for row in read_manifest()]
    root = {**_describe("holdfast", __version__, "MIT"), "type": "application"}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root['purl'])}",
        "version": 1,
        "metadata": {"component": root},
        "components": [*(_describe_package(package) for package in packages.values()), *libraries],
        "dependencies": [
            {
                "ref": root["purl"],
                "dependsOn": sorted(
                    [*_needs(distribution("holdfast"), packages), *(row["purl"] for row in libraries)]
                ),
            },
            *(
                {"ref": _describe_package(package)["purl"], "dependsOn": _needs(package, packages)}
                for package in packages.values()
            ),
        ],
    }


def _describe(name: str, version: str, licence: str, kind: str = "pypi") -> dict[str, Any]:
    purl = f"pkg:{kind}/{name.replace('@', '%40')}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"license": {"name": licence}}],
    }


def _describe_package(package: Distribution) -> dict[str, Any]:
    return _describe(plain(package.name), package.version, licence_of(package))


def _describe_library(row: dict[str, Any]) -> dict[str, Any]:
    described = _describe(row["name"], row["version"], row["licence"], "npm")
    files = [
        {
            "type": "file",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": file["sha256"]}],
        }
        for name, file in row["files"].items()
    ]
    return {**described, "components": files}


def _needs(package: Distribution, packages: dict[str, Distribution]) -> list[str]:
    names = {plain(wanted.name) for wanted in select_requirements(package.requires or (), EXTRAS)}
    return sorted(_describe_package(packages[name])["purl"] for name in names if name in packages)


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_beside(folder: Path) -> None:
    """Put the list of parts and the lock beside what was built, and the checksums of all of them."""
    text = json.dumps(build_sbom(), indent=1, ensure_ascii=False)
    (folder / f"holdfast-{__version__}.cdx.json").write_text(f"{text}\n")
    shutil.copyfile(LOCK, folder / LOCK.name)
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.name not in (SUMS, ".gitignore")
    )
    (folder / SUMS).write_text("".join(f"{hash_of(path)}  {path.name}\n" for path in files))


if __name__ == "__main__":
    write_beside(Path(sys.argv[1]))
