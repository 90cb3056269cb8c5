"""A server starts anew with what was set on its page, and goes on with the old where that does not serve."""

import pytest

from tests.server.remembering import found


@pytest.mark.real
def test_what_is_set_holds_after_a_new_start_and_what_does_not_serve_is_not_taken(holdfast_serve, http):
    holdfast = holdfast_serve("embedded", HOLDFAST_EMBEDDER="off")

    def ready() -> str:
        return holdfast.process.stdout.readline().split()[-1]

    def setting(url: str, name: str):
        told = found(http.get(f"{url}/api/settings"))
        assert told["restart"]["possible"]
        return next(row for row in told["settings"] if row["name"] == name)

    first = holdfast.url
    found(http.put(f"{first}/api/settings", json={"unread": 5, "level_1": "40%"}))
    assert setting(first, "unread")["pending"]
    found(http.post(f"{first}/api/system/restart"), 202)
    second = ready()
    assert (setting(second, "unread")["pending"], setting(second, "level_1")["value"]) == (False, 0.4)
    preview = found(http.post(f"{second}/api/settings/preview", json={"window": 8192}))
    assert preview["windows"][0]["before"]["thresholds"]["prune"] == int((8192 - 2048) * 0.75 * 0.4)
    # With a password one could come in there; but no such address is ours.
    found(http.put(f"{second}/api/password", json={"password": "correct horse battery"}))
    found(http.put(f"{second}/api/settings", json={"host": "192.0.2.1"}))
    found(http.post(f"{second}/api/system/restart"), 202)
    third = ready()
    assert setting(third, "host")["pending"], "it goes on with the address it had"
    assert found(http.get(f"{third}/health"))["status"] == "ok"
