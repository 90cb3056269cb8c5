"""Settings over REST: told with their source, changed as a whole or not at all, above the file only."""

import json
from dataclasses import fields

import httpx
import pytest

from holdfast.config import Settings, load
from holdfast.server.app import create_app
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.wiring import build_engine
from tests.server.conftest import running as started
from tests.server.memory_server import found, refused, remembering

GERMAN = {"accept-language": "de-DE"}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with started(tmp_path_factory.mktemp("settings"), ScriptedProvider(), heartbeat=3.0) as result:
        yield result


@pytest.fixture
def client(running):
    found(running.client.put("/api/settings", json=dict.fromkeys(_set(running.client))))
    return running.client


def rows(client, **headers):
    return {row["name"]: row for row in found(client.get("/api/settings", headers=headers))["settings"]}


def _set(client):
    return [name for name, row in rows(client).items() if row["source"] == "page"]


def test_every_setting_has_kind_and_help_in_both_languages(client):
    english, german = rows(client), rows(client, **GERMAN)
    assert set(english) == {item.name for item in fields(Settings)}
    assert english["port"]["kind"] == "whole"
    assert english["level_1"]["kind"] == "share"
    assert english["preset"]["choices"][0] == "balanced"
    assert english["memory"]["help"].startswith("Whether")
    assert german["memory"]["help"].startswith("Ob ")
    assert all(row["group"] for row in english.values())


def test_changed_settings_apply_after_restart_and_can_be_reset(client):
    changed = found(client.put("/api/settings", json={"preset": "arasul", "reserve": 900, "level_3": "75%"}))
    assert changed["restart"]["needed"] is True
    row = rows(client)["preset"]
    assert (row["value"], row["source"], row["pending"], row["in_force"]) == (
        "save-tokens", "page", True, "balanced",
    )  # fmt: skip
    assert rows(client)["level_3"]["value"] == 0.75
    back = found(client.put("/api/settings", json={"preset": None, "reserve": None, "level_3": None}))
    assert back["restart"]["needed"] is False
    assert rows(client)["preset"]["source"] == "default"


def test_what_commands_read_by_themselves_waits_for_no_start(client):
    found(client.put("/api/settings", json={"language": "de"}))
    row = rows(client)["language"]
    assert (row["takes_effect"], row["pending"]) == ("now", False)


def test_one_wrong_value_and_nothing_is_changed(client):
    response = client.put("/api/settings", json={"reserve": 900, "port": "many", "prot": 1, "language": "fr"})
    assert response.status_code == 400
    assert set(response.json()["wrong"]) == {"port", "prot", "language"}
    assert "whole number" in response.json()["wrong"]["port"]
    assert _set(client) == []


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ({"level_1": 0.9}, "level_1"),
        ({"memory_gate": "nonsense"}, "memory_gate"),
        ({"upstream": "gopher://x"}, "upstream"),
        ({"upstreams": "a=http://127.0.0.1:1, a=http://127.0.0.1:2"}, "upstreams"),
        ({"upstream_keys": "b=1", "upstreams": "a=http://127.0.0.1:1"}, "upstreams"),
        ({"upstream_parallel": "a=b"}, "upstream_parallel"),
        ({"embedder_headers": "what"}, "embedder_headers"),
        ({"cors_origins": "*"}, "cors_origins"),
        ({"research_private": "everything"}, "research_private"),
        ({"searxng": "localhost"}, "searxng"),
        ({"host": "0.0.0.0"}, "host"),
        ({"require_key": True}, "require_key"),
        ({"key": "a key of mine"}, "key"),
    ],
)
def test_what_would_keep_the_server_from_starting_is_refused(client, wanted, named):
    response = client.put("/api/settings", json=wanted)
    assert response.status_code == 400
    assert named in response.json()["wrong"]
    assert _set(client) == []


def test_secrets_are_masked_and_masked_values_are_rejected(client):
    found(client.put("/api/settings", json={"upstream_key": "hush-hush", "upstream": "http://u:pw@10.0.0.5"}))
    assert "hush" not in client.get("/api/settings").text
    assert "pw@" not in client.get("/api/settings").text
    hidden = rows(client)["upstream"]["value"]
    assert (
        "in place of a secret"
        in client.put("/api/settings", json={"upstream": hidden}).json()["wrong"]["upstream"]
    )
    assert rows(client)["upstream_key"]["value"] == "••••"


def test_what_the_command_line_says_stands_above_the_page(client):
    row = rows(client)["heartbeat"]
    assert (row["read_only"], row["set_by"], row["value"]) == (True, "command line", 3.0)
    assert "heartbeat" in client.put("/api/settings", json={"heartbeat": 1}).json()["wrong"]


def test_where_the_data_lies_is_not_for_the_page(client):
    assert rows(client)["store"]["read_only"]
    wanted = {"store": "sqlite:///x.db", "home": "/tmp", "qmd_command": "sh -c id"}
    response = client.put("/api/settings", json=wanted)
    assert set(response.json()["wrong"]) == set(wanted)


def test_only_administrators_see_them_and_no_key_opens_folders(client, running):
    _, plain = running.store.keys.create(Key())
    _, admin = running.store.keys.create(Key(admin=True))
    report = client.get("/api/settings", headers={"authorization": f"Bearer {plain}"})
    refused(report, 403, "administrator")
    refused(client.put("/api/settings", json={}, headers={"authorization": f"Bearer {plain}"}), 403)
    opened = client.put(
        "/api/settings", json={"file_roots": "/"}, headers={"authorization": f"Bearer {admin}"}
    )
    assert "file_roots" in opened.json()["wrong"]


def test_the_environment_the_file_and_the_page_are_told_apart(tmp_path):
    (tmp_path / "holdfast.toml").write_text("reserve = 700\nunread = 5\n")
    environ = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_PORT": "4711", "HOLDFAST_EMBEDDER": "off"}
    config = load({"upstream": "embedded"}, environ)
    with (
        serve_app(create_app(build_engine(config.settings), config.settings, config)) as url,
        httpx.Client(base_url=url, trust_env=False) as client,
    ):
        found(client.put("/api/settings", json={"unread": 7, "parallel": 2}))
        report = rows(client)
    assert (report["port"]["set_by"], report["port"]["read_only"]) == ("HOLDFAST_PORT", True)
    assert report["reserve"]["set_by"] == str(tmp_path / "holdfast.toml")
    assert (report["reserve"]["source"], report["reserve"]["read_only"]) == ("file", False)
    again = load({"upstream": "embedded"}, environ)
    assert (again.settings.unread, again.sources["unread"]) == (7.0, "page")
    assert (again.settings.parallel, again.settings.reserve, again.settings.port) == (2, 700, 4711)
    assert json.loads((tmp_path / "page.json").read_text()) == {"unread": 7.0, "parallel": 2}
    assert (tmp_path / "page.json").stat().st_mode & 0o077 == 0


def test_presets_are_told_in_words_and_compared_in_tokens(client):
    report = found(client.get("/api/settings/presets", headers=GERMAN))
    assert report["current"] == "balanced"
    assert "Kürzt" in report["presets"][0]["description"]
    seen = found(client.post("/api/settings/preview", json={"preset": "openclaw"}))
    assert [row["window"] for row in seen["windows"]] == [4096, 8192, 16384, 32768]
    small = seen["windows"][1]
    assert small["before"]["reserve"] == 2048
    assert small["before"]["thresholds"]["prune"] == (8192 - 2048 - small["before"]["recalled"]) // 2
    assert small["after"]["thresholds"]["prune"] is None
    large = seen["windows"][3]
    assert large["after"]["reserve"] == 32768 // 4 > large["before"]["reserve"]
    assert _set(client) == []


def test_preview_accepts_single_values_and_rejects_non_increasing_levels(client):
    (seen,) = found(client.post("/api/settings/preview", json={"reserve": 500, "window": 8192}))["windows"]
    assert (seen["before"]["reserve"], seen["after"]["reserve"]) == (2048, 500)
    refused(client.post("/api/settings/preview", json={"level_1": 0.9}), 400, "level_2")
    refused(client.post("/api/settings/preview", json={"preset": "best"}), 400)


def test_the_company_is_a_view_on_the_profile(tmp_path):
    with remembering(tmp_path) as door:
        profile, company = "/api/memory/profile", "/api/settings/company-context"
        found(door.client.put(profile, json={"text": "# mine\nname: Anna\nfirma: Muster GmbH\n"}))
        assert found(door.client.get(company))["companyName"] == "Muster GmbH"
        report = found(door.client.put(company, json={"companyName": "Neu AG", "products": ["Pumpen"]}))
        assert (report["companyName"], report["products"], report["industry"]) == ("Neu AG", ["Pumpen"], None)
        text = found(door.client.get(profile))["text"]
        assert "# mine" in text
        assert "firma: Neu AG" in text
        found(door.client.put(company, json={"companyName": None}))
        assert found(door.client.get(company)) == {
            "companyName": None, "industry": None, "teamSize": None, "products": ["Pumpen"],
        }  # fmt: skip
        assert "Anna" in found(door.client.get(profile))["text"]
