"""The scripts and stylesheets of the pages: types, lint and format, checked by Deno's TypeScript."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deno.json"
STATIC = ROOT / "src" / "holdfast" / "server" / "pages" / "static"


@pytest.fixture(scope="module")
def deno(tmp_path_factory):
    """Returns a function that runs `deno` with arguments, with a cache of the test's own."""
    program = shutil.which("deno", path=str(Path(sys.executable).parent))
    if program is None:
        missing = "deno is not installed in this environment; `make test` installs it where there is a wheel"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    quiet = {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_DIR": str(tmp_path_factory.mktemp("deno"))}

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **quiet},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_scripts_pass_the_type_check(deno):
    result = deno("check", "--no-remote", "--config", CONFIG, STATIC)
    assert result.returncode == 0, result.stderr


def test_scripts_pass_the_linter(deno):
    result = deno("lint", "--config", CONFIG)
    assert result.returncode == 0, result.stderr


def test_scripts_and_stylesheets_are_formatted(deno):
    result = deno("fmt", "--check", "--config", CONFIG)
    assert result.returncode == 0, f"`make format` does it\n{result.stderr}"


def test_the_type_check_finds_a_misspelt_name_and_a_wrong_argument(deno, tmp_path):
    (tmp_path / "core.js").write_text(
        "/** @param {string} text */\nexport const show = (text) => text.trim();\n"
    )
    wrong = tmp_path / "page.js"
    wrong.write_text('import { show } from "./core.js";\nshow(3);\nshwo("");\n')
    result = deno("check", "--no-remote", "--config", CONFIG, wrong)
    assert result.returncode != 0
    assert "TS2345" in result.stderr
    assert "shwo" in result.stderr
