"""What a repository says about itself: the same files give the same proposals, each with its source."""

import json
import subprocess

import pytest

from holdfast.transfer.repository import find_root, read_repository

AGENTS = """# Agents

Tides is a library. Never edit files under `generated/`.

## Testing

- Run `pytest -q` before every commit.
- `tests/slow`

```sh
# all of it
make test
make lint
```

## Style
1. Use tabs.
   They are wider.
2. Keep functions short.
"""
PACKAGE = {
    "name": "tides",
    "packageManager": "pnpm@9.1.0",
    "engines": {"node": ">=20"},
    "scripts": {"test": "vitest run", "build": "tsc -b"},
    "dependencies": {"zod": "^3"},
}


def git(root, *words):
    subprocess.run(
        ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *words],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "tides"
    place.mkdir()
    git(place, "init", "-q")
    return place


def put(root, **files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def proposals(root):
    return {proposal.text: proposal for proposal in read_repository(root)}


def test_rules_of_agents_are_decisions_with_their_file(root):
    put(
        root,
        **{"AGENTS.md": AGENTS, ".cursorrules": "- Use tabs. They are wider.\n- Write docs in English.\n"},
    )
    text = proposals(root)
    assert text["Never edit files under `generated/`."].kind == "decision"
    assert text["Run `pytest -q` before every commit."].source == "AGENTS.md"
    assert "Testing: `make test`, `make lint`" in text
    assert "Testing: `tests/slow`" in text
    assert text["Use tabs. They are wider."].source == "AGENTS.md"
    assert text["Write docs in English."].source == ".cursorrules"
    assert "Tides is a library." not in text


def test_manifests_ci_and_makefile_are_facts(root):
    put(
        root,
        **{
            "README.md": "# Tides\n\n[![badge](x.svg)](y)\n\nA library for **tide tables**. More.\n",
            "pyproject.toml": '[project]\nname = "tides"\nrequires-python = ">=3.11"\n'
            'dependencies = ["httpx>=0.27", "numpy"]\n[tool.ruff]\n[tool.pytest.ini_options]\n',
            "package.json": json.dumps(PACKAGE),
            "Cargo.toml": '[package]\nedition = "2021"\n[dependencies]\nserde = "1"\n',
            "go.mod": "module example.org/tides\n\ngo 1.22\n",
            "Makefile": "VERSION := 1\ntest: build  ## run all tests\n\tpytest\nbuild:\n\ttsc\n",
            ".github/workflows/ci.yml": "on: push\njobs:\n  a:\n    steps:\n      - uses: x\n"
            "      - run: make test\n      - run: |\n          # why\n          ruff check\n          mypy\n",
        },
    )
    assert {text: proposal.source for text, proposal in proposals(root).items()} == {
        "Tides: A library for tide tables.": "README.md",
        "It is written in Python >=3.11.": "pyproject.toml",
        "It depends on httpx, numpy.": "pyproject.toml",
        "Its Python is checked with ruff, pytest.": "pyproject.toml",
        "Its packages are managed with pnpm.": "package.json",
        "It needs Node >=20.": "package.json",
        "`pnpm run test` runs `vitest run`.": "package.json",
        "`pnpm run build` runs `tsc -b`.": "package.json",
        "In JavaScript it depends on zod.": "package.json",
        "It is written in Rust, edition 2021.": "Cargo.toml",
        "In Rust it depends on serde.": "Cargo.toml",
        "It is the Go module example.org/tides and needs Go 1.22.": "go.mod",
        "`make test`: run all tests": "Makefile",
        "There are the targets `make build`.": "Makefile",
        "CI runs `make test`, `ruff check`.": ".github/workflows/ci.yml",
    }
    assert read_repository(root) == read_repository(root)


def test_habits_of_commits_are_read_from_the_log(root):
    for number in range(12):
        git(root, "commit", "--allow-empty", "-q", "-m", f"fix(tides): number {number}")
    (text,) = read_repository(root)
    assert "Conventional Commits" in text.text
    assert text.source == "git log"


def test_damaged_foreign_and_missing_files_say_nothing(root, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("- Never tell anybody.\n")
    put(
        root,
        **{
            "pyproject.toml": "[[[",
            "package.json": "{",
            ".gitlab-ci.yml": "a: [",
            "CLAUDE.md": "@AGENTS.md\n",
        },
    )
    (root / "AGENTS.md").symlink_to(secret)
    (root / "go.mod").write_bytes(b"\xff\xfe\0")
    assert read_repository(root) == []
    assert find_root(root / "src") == root
    assert find_root(tmp_path) is None
