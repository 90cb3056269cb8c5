"""What Holdfast needs at run time, as far as it is installed here: read from the metadata of each package."""

import re
from collections.abc import Collection, Iterable
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement

# Extras of ours whose packages are shipped in the image, too.
EXTRAS = frozenset({"postgres", "s3"})


def find_needs(requirements: Iterable[str], extras: Collection[str] = EXTRAS) -> dict[str, Distribution]:
    """The packages that these requirements lead to on this system, by their plain names."""
    results: dict[str, Distribution] = {}
    done: set[tuple[str, str]] = set()
    todo = select_requirements(requirements, extras)
    while todo:
        wanted = todo.pop()
        for extra in ("", *sorted(wanted.extras)):
            if (wanted.name, extra) not in done:
                done.add((wanted.name, extra))
                package = distribution(wanted.name)
                results[plain(package.name)] = package
                todo += select_requirements(package.requires or (), {extra})
    return dict(sorted(results.items()))


def runtime() -> dict[str, Distribution]:
    return find_needs(distribution("holdfast").requires or ())


def plain(name: str) -> str:
    """Names differ in spelling between an index, a file and a requirement."""
    return re.sub(r"[-_.]+", "-", name).lower()


def select_requirements(requirements: Iterable[str], extras: Collection[str]) -> list[Requirement]:
    """The requirements that hold on this system, with these extras."""
    read = [Requirement(requirement) for requirement in requirements]
    return [
        item
        for item in read
        if item.marker is None or any(item.marker.evaluate({"extra": name}) for name in extras or [""])
    ]
