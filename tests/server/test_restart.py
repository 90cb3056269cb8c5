"""A server starts anew with what was set on its page, and goes on with the old where that does not serve."""

import tempfile
from pathlib import Path

import pytest

from holdfast.config import Config, Settings
from holdfast.errors import StoreError
from holdfast.messages import Message, Scope
from holdfast.server.app import serve_once
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from tests.privileges import without_privileges
from tests.server.conftest import running
from tests.server.memory_server import found


@pytest.mark.real
def test_settings_apply_after_restart_and_unusable_ones_are_rejected(holdfast_serve, http):
    holdfast = holdfast_serve("embedded", HOLDFAST_EMBEDDER="off")

    def setting(url: str, name: str):
        report = found(http.get(f"{url}/api/settings"))
        assert report["restart"]["possible"]
        return next(row for row in report["settings"] if row["name"] == name)

    first = holdfast.url
    found(http.put(f"{first}/api/settings", json={"unread": 5, "level_1": "40%"}))
    assert setting(first, "unread")["pending"]
    found(http.post(f"{first}/api/system/restart"), 202)
    second = holdfast.wait_until_ready(2)
    assert (setting(second, "unread")["pending"], setting(second, "level_1")["value"]) == (False, 0.4)
    preview = found(http.post(f"{second}/api/settings/preview", json={"window": 8192}))
    assert preview["windows"][0]["before"]["thresholds"]["prune"] == int((8192 - 2048) * 0.75 * 0.4)
    # With a password one could come in there; but no such address is ours.
    found(http.put(f"{second}/api/password", json={"password": "correct horse battery"}))
    found(http.put(f"{second}/api/settings", json={"host": "192.0.2.1"}))
    found(http.post(f"{second}/api/system/restart"), 202)
    third = holdfast.wait_until_ready(3)
    assert setting(third, "host")["pending"], "it goes on with the address it had"
    assert found(http.get(f"{third}/health"))["status"] == "ok"


def test_jobs_of_a_killed_server_end_when_it_starts_again(tmp_path):
    place = f"sqlite:///{tmp_path / 'holdfast.db'}"
    with open_store(place) as killed:
        side = killed.jobs.start(Scope(), kind="side")
        main = killed.jobs.start(Scope(), conversation=killed.log.create(Scope()).id)
        killed.drafts.save(main.id, main.conversation, None, Message.of("assistant", "Half"), "m")
    with running(tmp_path, ScriptedProvider()) as again:
        states = {job["id"]: job["status"] for job in again.client.get("/api/jobs").json()["jobs"]}
        assert states == {side.id: "cut", main.id: "cut"}
        # Beside a server that runs, another one leaves its jobs alone.
        busy = again.store.jobs.start(Scope(), kind="side")
        with running(tmp_path, ScriptedProvider()) as beside:
            assert beside.client.get(f"/api/jobs/{busy.id}").json()["status"] == "running"


def test_a_server_that_cannot_start_says_why():
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        open_store(f"sqlite:///{home / 'holdfast.db'}").close()
        for place, rights in ((home, 0o555), *((file, 0o444) for file in home.iterdir())):
            place.chmod(rights)
        settings = Settings(home=home, store=f"sqlite:///{home / 'holdfast.db'}", port=0, embedder="off")
        with without_privileges(), pytest.raises(StoreError, match="can only be read"):
            serve_once(Config(settings, {}), lambda _: None, None)
        home.chmod(0o755)
