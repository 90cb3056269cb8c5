"""Files that requests point at: only with a key that may, only in the folders that were named."""

import pytest

from holdfast.config import Settings
from holdfast.server.files import roots_in
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider

PLACE = "The treasure is under the oak."


@pytest.fixture
def notes(tmp_path_factory):
    # Not in the data folder of the server: that one is closed.
    beside = tmp_path_factory.mktemp("beside")
    folder = beside / "notes"
    folder.mkdir()
    (folder / "place.txt").write_text(PLACE)
    (folder / ".env").write_text("TOKEN=s3cret")
    (beside / "beside.txt").write_text("not yours")
    return folder


def bearer(holdfast, **wanted):
    return {"Authorization": f"Bearer {holdfast.store.keys.create(Key(**wanted))[1]}"}


def sent(holdfast, text, **headers) -> str:
    """What the model was shown for a question."""
    body = {"model": "scripted", "messages": [{"role": "user", "content": text}], "stream": False}
    response = holdfast.client.post("/api/chat", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return holdfast.provider.requests[-1].messages[-1].text


def test_file_reference_is_read_only_with_permitted_key(serve, notes):
    holdfast = serve(ScriptedProvider(["Yes."] * 3), file_roots=str(notes))
    question = "Where is it, says @./place.txt?"
    assert PLACE in sent(holdfast, question, **bearer(holdfast, files=True))
    assert sent(holdfast, question, **bearer(holdfast, user="ada")) == question
    assert sent(holdfast, question) == question


def test_without_a_key_it_is_a_setting(serve, notes):
    holdfast = serve(ScriptedProvider(["Yes."]), file_roots=str(notes), file_references=True)
    assert PLACE in sent(holdfast, "See @place.txt.")


def test_without_folders_no_key_reaches_anything(serve, notes):
    holdfast = serve(ScriptedProvider(["Yes."]), file_references=True)
    question = f"See @{notes}/place.txt."
    assert sent(holdfast, question, **bearer(holdfast, files=True)) == question


def test_nothing_outside_and_no_secret_is_read_even_in_full(serve, notes):
    holdfast = serve(ScriptedProvider(["Yes."]), file_roots=str(notes))
    shown = sent(
        holdfast, "@../beside.txt:full @./.env:full @/etc/hosts:full", **bearer(holdfast, files=True)
    )
    assert "not yours" not in shown
    assert "s3cret" not in shown
    assert "localhost" not in shown
    assert "[../beside.txt: not available]" in shown


def test_our_own_data_is_closed(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "holdfast.toml").write_text("key = 'k'")
    roots = roots_in(Settings(home=tmp_path / "home", file_roots=str(tmp_path)))
    assert roots is not None
    assert not roots.exists("./home/holdfast.toml")
    assert roots_in(Settings(home=tmp_path)) is None


def test_the_switch_is_made_and_shown_over_rest(serve):
    holdfast = serve()
    _, secret = holdfast.store.keys.create(Key(admin=True))
    admin = {"authorization": f"Bearer {secret}"}
    answer = holdfast.client.post("/api/keys", json={"name": "editor", "files": True}, headers=admin).json()
    assert answer["key"]["files"] is True
    _, listed = holdfast.client.get("/api/keys").json()["keys"]
    assert listed["files"] is True
    assert holdfast.client.post("/api/keys", json={}, headers=admin).json()["key"]["files"] is False


def test_what_a_message_brought_is_listed_over_rest(serve, notes):
    holdfast = serve(ScriptedProvider(["Yes."]), file_roots=str(notes), file_references=True)
    sent(holdfast, "See @place.txt.")
    chat = holdfast.client.get("/api/chats").json()["chats"][0]["id"]
    (row,) = holdfast.client.get(f"/api/chats/{chat}/files").json()["files"]
    assert (row["name"], row["mode"], row["state"]) == ("place.txt", "full", "whole")
    assert row["tokens"] > 0
    assert row["message"].startswith("m_")
