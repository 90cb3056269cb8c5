"""Settings come from five places in rising order, say where each came from, and refuse nonsense clearly."""

from dataclasses import fields
from pathlib import Path

import pytest

from holdfast.config import GROUPS, Settings, keep_page, load, replace_config
from holdfast.errors import ConfigError


def environ(home: Path, **values: str) -> dict[str, str]:
    return {
        "HOLDFAST_HOME": str(home),
        **{f"HOLDFAST_{name.upper()}": value for name, value in values.items()},
    }


def test_without_anything_said_the_defaults_hold(tmp_path):
    config = load(environ=environ(tmp_path))
    assert config.settings.host == "127.0.0.1"
    assert config.settings.port == 11435
    assert config.settings.store == f"sqlite:///{tmp_path / 'holdfast.db'}"
    assert config.settings.models_dir == tmp_path / "models"
    assert config.sources["port"] == "default"
    assert config.sources["home"] == "environment"


def test_each_source_wins_over_the_one_before(tmp_path):
    (tmp_path / "holdfast.toml").write_text('port = 1\nhost = "file"\nmodel = "file"\n')
    config = load({"model": "line", "key": None}, environ(tmp_path, host="env", model="env"))
    assert (config.settings.port, config.sources["port"]) == (1, "file")
    assert (config.settings.host, config.sources["host"]) == ("env", "environment")
    assert (config.settings.model, config.sources["model"]) == ("line", "command line")
    assert config.sources["key"] == "default"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("port = ", "cannot be read"),
        ("prot = 1", "Did you mean port?"),
        ('port = "many"', "whole number"),
        ("port = 1.5", "whole number"),
        ("port = -1", "whole number"),
        ("port = true", "whole number"),
        ("port = [1]", "whole number"),
        ("host = 1", "text"),
        ("models_dir = 1", "path"),
        ("stall_timeout = inf", "a number"),
        ('language = "fr"', "auto, en, de"),
    ],
)
def test_a_file_with_nonsense_is_refused_with_the_next_step(tmp_path, text, says):
    (tmp_path / "holdfast.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(environ=environ(tmp_path))
    assert says in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "holdfast.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(environ=environ(tmp_path))


def test_secrets_are_not_shown(tmp_path):
    config = load(environ=environ(tmp_path, key="very-secret"))
    rows = {row["name"]: row for row in config.shown()}
    assert rows["key"]["value"] == "••••"
    assert "very-secret" not in str(config.shown())
    assert all(row["help"] for row in rows.values())


def test_browser_settings_override_file_but_not_environment(tmp_path):
    (tmp_path / "holdfast.toml").write_text('port = 1\nmodel = "file"\nhost = "file"\n')
    keep_page(tmp_path, {"port": 2, "model": "pägé \x7f\n", "host": "page"})
    config = load(environ=environ(tmp_path, host="env"))
    assert (config.settings.port, config.sources["port"]) == (2, "page")
    assert config.settings.model == "pägé \x7f\n"
    assert (config.settings.host, config.sources["host"]) == ("env", "environment")
    assert config.with_page({}).sources["port"] == "file"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("text", ["{", "[1]", '{"prot": 1}', '{"port": "many"}'])
def test_a_broken_file_of_the_page_is_told(tmp_path, text):
    (tmp_path / "page.json").write_text(text)
    with pytest.raises(ConfigError, match=r"page"):
        load(environ=environ(tmp_path))


def test_every_setting_belongs_to_one_group():
    names = [item.name for item in fields(Settings)]
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(names)


def test_config_is_replaced_whole_or_not_at_all(tmp_path):
    file = tmp_path / "folder" / "client.json"
    replace_config(file, b"{}")
    replace_config(file, b'{"a": 1}', 0o640)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b'{"a": 1}', 0o640)
    blocked = tmp_path / "blocked"
    (blocked / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="blocked"):
        replace_config(blocked, b"{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocked", "folder"]
