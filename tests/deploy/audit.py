"""`make audit`: what a release is installed with, against the vulnerabilities that the package index knows.

An index that tells of single versions is asked for the locked one. Some tell of the newest version alone:
there, whatever is locked older than that is listed as not audited, and nothing is said to be safe.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

from tests.deploy.lock import read_lock

_INDEX = "https://pypi.org/pypi"
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Audit:
    """What the index says of one package: its known vulnerabilities, or None where it says nothing."""

    name: str
    version: str
    vulnerabilities: tuple[str, ...] | None

    def __str__(self) -> str:
        if self.vulnerabilities is None:
            return f"{self.name} {self.version}: not audited, the index tells of another version only"
        return f"{self.name} {self.version}: {'; '.join(self.vulnerabilities) or 'none known'}"


def audit_package(http: httpx.Client, name: str, version: str) -> Audit:
    answer = http.get(f"{_INDEX}/{name}/{version}/json")
    if answer.status_code == httpx.codes.NOT_FOUND:
        answer = http.get(f"{_INDEX}/{name}/json")
    answer.raise_for_status()
    page = answer.json()
    rows = page.get("vulnerabilities")
    if page["info"]["version"] != version or rows is None:
        return Audit(name, version, None)
    current = (row for row in rows if not row.get("withdrawn"))
    return Audit(name, version, tuple(_describe(row) for row in current))


def _describe(row: dict[str, Any]) -> str:
    mended = ", ".join(row.get("fixed_in") or ()) or "no version yet"
    return f"{row['id']} (mended in {mended})"


def audit_lock(http: httpx.Client) -> Iterator[Audit]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        packages = [(name, version) for name, (version, _) in read_lock().items()]
        yield from pool.map(lambda package: audit_package(http, *package), packages)


def main() -> int:
    with httpx.Client(timeout=60, follow_redirects=True) as http:
        audits = list(audit_lock(http))
    bad = [audit for audit in audits if audit.vulnerabilities]
    unknown = [audit for audit in audits if audit.vulnerabilities is None]
    for audit in (*bad, *unknown):
        print(audit)
    print(f"{len(audits)} packages: {len(bad)} with known vulnerabilities, {len(unknown)} not audited")
    return 1 if bad or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
