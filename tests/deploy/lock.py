"""`make lock`: every package of a release with the hashes of its files, in requirements.lock.

Versions are those of constraints.txt, for every system and every extra. An installer that is told
`--require-hashes` takes no other file than those that were looked at here.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
_UV = Path(sys.executable).with_name("uv")
_HEAD = """# Written by `make lock` from pyproject.toml and constraints.txt: what a release is installed with.
# pip install --require-hashes --only-binary :all: --requirement requirements.lock
"""


def write_lock(path: Path = LOCK) -> None:
    command = [
        _UV, "pip", "compile", "--universal", "--python-version", "3.11", "--all-extras",
        "--generate-hashes", "--no-header", "--no-annotate", "--constraint", "constraints.txt",
        "pyproject.toml",
    ]  # fmt: skip
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=600)
    # The index marks what its makers took back, for a hole in it or another fault.
    if withdrawn := [line for line in answer.stderr.splitlines() if "yanked" in line]:
        raise SystemExit("\n".join(withdrawn))
    path.write_text(_HEAD + answer.stdout)


def read_lock(path: Path = LOCK) -> dict[str, tuple[str, list[str]]]:
    """The packages of a lock: of each its version and the hashes of its files."""
    packages: dict[str, tuple[str, list[str]]] = {}
    name = ""
    for line in path.read_text().splitlines():
        if "==" in line and not line.startswith((" ", "#")):
            name, _, rest = line.partition("==")
            packages[name] = rest.partition(";")[0].strip(" \\"), []
        elif "--hash=" in line:
            packages[name][1].append(line.strip(" \\").removeprefix("--hash="))
    return packages


if __name__ == "__main__":
    write_lock()
    print(f"{len(read_lock())} packages in {LOCK.name}")
