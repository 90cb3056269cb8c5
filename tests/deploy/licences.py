"""The licences of all that is installed with Holdfast: `make licences` writes docs/licences.md anew."""

from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path

from tests.deploy.installed import runtime
from tests.deploy.vendored import read_manifest

PAGE = Path(__file__).parents[2] / "docs" / "licences.md"

# Under each of these Holdfast may be used, changed and passed on by anybody, MIT as it is.
ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "LGPL-2.1-or-later",
        "LGPL-3.0-only",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Zlib",
    }
)
# Older packages name their licence in other words.
_WORDS = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The BSD 2-Clause License": "BSD-2-Clause",
}
_ABOUT = """# Licences

Holdfast is MIT. It is installed together with these, each under its own licence; none is copied into
Holdfast's own wheel, but for the libraries of the pages at the end. psycopg (LGPL) comes only with the extra
`postgres`, obstore only with `s3`. tld is used under the LGPL.
`opentelemetry-api` is needed by the MCP SDK and does nothing by itself: no exporter is installed, and nothing
is reported to anybody. This page is written by `make licences` from the packages' own metadata; a test fails
when one is missing, or has a licence that is not among those we chose.

| package | licence |
|---|---|
"""
_INSIDE = """
Inside the wheel, for the pages in a browser, as their makers published them (`static/vendor`, where
each has its licence beside it and a checksum in `manifest.json`):

| library | licence |
|---|---|
"""


def licence_of(package: Distribution) -> str:
    """As an SPDX expression where the package gives one, else what its classifiers or its own words say."""
    # Typed as what importlib.metadata promises; it is a message of the email package.
    metadata: Message = package.metadata  # type: ignore[assignment]
    if expression := metadata.get("License-Expression"):
        return str(expression)
    kinds = [
        str(line).rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier", [])
        if str(line).startswith("License :: ")
    ]
    text = str(metadata.get("License") or "").strip().partition("\n")[0].strip()
    # "BSD License" is several licences; the package's own words say which.
    if text and text not in _WORDS and (not kinds or kinds == ["BSD License"]) and len(text) < 40:
        return text
    return " AND ".join(sorted({_WORDS.get(kind, kind) for kind in kinds or [text] if kind})) or "unknown"


def is_allowed(licence: str) -> bool:
    """Whether all of what must hold, or one of what may be chosen, is a licence we accept."""
    bare = licence.replace("(", " ").replace(")", " ")
    return any(
        all(part.strip() in ALLOWED for part in choice.replace(",", " AND ").split(" AND "))
        for choice in bare.split(" OR ")
    )


def page() -> str:
    rows = [
        f"| {package.name} | {licence_of(package)} |\n"
        for package in runtime().values()
        if package.name != "holdfast"
    ]
    inside = [
        f"| {library['name']} {library['version']} | {library['licence']} |\n" for library in read_manifest()
    ]
    return _ABOUT + "".join(rows) + _INSIDE + "".join(inside)


if __name__ == "__main__":
    PAGE.write_text(page())
