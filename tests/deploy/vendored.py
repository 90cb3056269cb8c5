"""The libraries inside the pages, fetched anew as the manifest names them: `python -m tests.deploy.vendored`.

`npm pack` gets the package, its integrity is compared, and the files that are listed are put in their places.
Nothing of this runs when Holdfast is installed or used: the files are part of its wheel.
"""

import base64
import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "src" / "holdfast" / "server" / "pages" / "static" / "vendor"
MANIFEST = FOLDER / "manifest.json"


def read_manifest() -> list[dict[str, Any]]:
    return list(json.loads(MANIFEST.read_text("utf-8"))["libraries"])


def hash_file(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fetch(library: dict[str, Any], folder: Path) -> None:
    """Fetch one library and write its files; the manifest's hashes are set to what was fetched."""
    package = f"{library['name']}@{library['version']}"
    names = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.split()
    archive = folder / names[-1]
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if library.setdefault("integrity", integrity) != integrity:
        raise SystemExit(f"{package} is not what it was: {integrity}")
    with tarfile.open(archive) as content:
        for path, entry in library["files"].items():
            member = content.extractfile(f"package/{entry['from']}")
            if member is None:
                raise SystemExit(f"{package} has no {entry['from']}")
            data = member.read()
            entry["sha256"] = hash_file(data)
            (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / path).write_bytes(data)


def main() -> None:
    libraries = read_manifest()
    with tempfile.TemporaryDirectory() as folder:
        for library in libraries:
            fetch(library, Path(folder))
    MANIFEST.write_text(json.dumps({"libraries": libraries}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
