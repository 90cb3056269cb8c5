"""The wheel: built from the sources, looked into, and installed where nothing else is.

`make dist` checks what it has built with it: `python -m tests.deploy.wheel dist`.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

from holdfast import __version__
from tests.deploy.installed import find_needs

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
# Everything that is read at run time and is no module.
_DATA = (".html", ".css", ".js", ".svg", ".jinja", ".po", ".txt", ".typed")


def build(folder: Path) -> Path:
    """Sources and wheel in `folder`, the wheel made out of the sources."""
    command = [UV, "build", "--quiet", "--no-build-isolation", "--python", sys.executable, "-o", folder, ROOT]
    subprocess.run(command, check=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check(folder: Path) -> list[str]:
    """What is wrong with the sources and the wheel in a folder; nothing, if all is well."""
    (wheel,), (sources,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        (place,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(opened.read(place))
        scripts = opened.read(place.replace("METADATA", "entry_points.txt")).decode()
    wrong = [
        f"{name} is {metadata[name]!r}, not {value!r}" for name, value in _told() if metadata[name] != value
    ]
    if len(str(metadata.get_payload())) < 1_000:
        wrong.append("there is no description")
    if "holdfast = holdfast.cli:main" not in scripts:
        wrong.append("there is no command")
    here = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "holdfast").rglob("*")
        if path.suffix in (".py", *_DATA)
    }
    wrong += [f"{name} is missing" for name in sorted(here - names)]
    wrong += [
        f"{name} does not belong into it"
        for name in sorted(names)
        if not name.startswith(("holdfast/", f"holdfast-{__version__}.dist-info/")) or "__pycache__" in name
    ]
    with tarfile.open(sources) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    wrong += [
        f"{name} is not among the sources"
        for name in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py")
        if name not in inside
    ]
    return wrong


def _told() -> tuple[tuple[str, str], ...]:
    return (
        ("Name", "holdfast"),
        ("Version", __version__),
        ("License-Expression", "MIT"),
        ("Requires-Python", ">=3.11"),
    )


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel and what its metadata asks for, and nothing else: its `bin` folder.

    The packages are those that are installed here, linked file by file, so that nothing is fetched. The
    wheel itself is installed by an installer.
    """
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True, timeout=60)
    (target,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as opened:
        (place,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        wanted = message_from_bytes(opened.read(place)).get_all("Requires-Dist", [])
    for package in find_needs(wanted, extras=()).values():
        for file in package.files or ():
            # What lies outside are scripts, and manuals.
            if not file.parts or ".." in file.parts:
                continue
            link = target.joinpath(*file.parts)
            path = Path(os.fspath(package.locate_file(file)))
            if path.exists() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    run = [UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", folder, wheel]
    subprocess.run(run, check=True, timeout=60)
    subprocess.run([UV, "pip", "check", "--quiet", "--python", folder], check=True, timeout=60)
    return folder / "bin"


if __name__ == "__main__":
    troubles = check(Path(sys.argv[1]))
    for trouble in troubles:
        print(trouble)
    sys.exit(bool(troubles))
