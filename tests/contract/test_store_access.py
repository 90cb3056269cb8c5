"""Keys, passwords and sessions on every backend: found by what was given, and nothing of it is kept."""

import pytest
from sqlalchemy import select

from holdfast.errors import BadRequest, NotFound
from holdfast.store import Key
from holdfast.store.access import is_password, is_stale, is_token, password_digest
from holdfast.store.schema import keys, passwords, sessions

KEY = Key(name="laptop", user="ada", project="garden", forwarder=True, memory=False, rate=30)


def everything(store) -> str:
    """All that the database holds of this, as text."""

    def read(connection):
        return [connection.execute(select(table)).all() for table in (keys, passwords, sessions)]

    return str(store.database.read(read))


def test_key_is_found_by_secret_with_its_permissions(store):
    result, secret = store.keys.create(KEY, now=5.0)
    assert is_token(secret)
    holder = store.keys.holder(secret)
    assert holder == result
    assert (holder.name, holder.user, holder.project, holder.rate) == ("laptop", "ada", "garden", 30)
    assert (holder.forwarder, holder.memory, holder.admin, holder.off) == (True, False, False, False)
    assert not holder.files
    assert store.keys.holder(store.keys.create(Key(files=True))[1]).files
    assert holder.created_at == 5.0
    assert store.keys.any()


def test_no_other_words_are_the_key(store):
    result, secret = store.keys.create(KEY)
    _, other = store.keys.create(KEY)
    id_, rest = result.id, secret.split("_", 2)[2]
    swapped = f"hf_{id_}_{other.split('_', 2)[2]}"
    for wrong in (
        "",
        "hf_",
        rest,
        secret[:-1],
        secret + "a",
        secret.upper(),
        swapped,
        f"hf_{id_}_",
        "ä" * 60,
    ):
        assert store.keys.holder(wrong) is None


def test_a_revoked_key_is_gone_and_the_others_stay(store):
    first, gone = store.keys.create(KEY, now=1.0)
    second, record = store.keys.create(Key(admin=True), now=2.0)
    assert [key.id for key in store.keys.all()] == [first.id, second.id]
    assert store.keys.revoke(first.id).name == "laptop"
    assert store.keys.holder(gone) is None
    assert store.keys.holder(record) == second
    with pytest.raises(NotFound):
        store.keys.revoke(first.id)


def test_that_a_key_is_used_is_written_down_now_and_then(store):
    result, secret = store.keys.create(KEY)
    assert is_stale(result, 100.0)
    store.keys.record_use(result, now=100.0)
    holder = store.keys.holder(secret)
    assert holder.used_at == 100.0
    assert not is_stale(holder, 200.0)
    assert is_stale(holder, 100.0 + 3_601)


@pytest.mark.parametrize(
    "wrong",
    [{"user": ""}, {"user": "a:b"}, {"user": "../up"}, {"project": "a/b"}, {"rate": -1}],
)
def test_a_key_needs_names_that_can_be_names(store, wrong):
    with pytest.raises(BadRequest):
        store.keys.create(Key(**wrong))
    assert not store.keys.any()


def test_session_lasts_until_expiry_logout_or_password_change(store):
    store.sessions.set_password("ada", "digest")
    first = store.sessions.open("ada", 60, now=100.0)
    second = store.sessions.open("ada", 60, now=100.0)
    assert store.sessions.holder(first, now=159.0) == "ada"
    assert store.sessions.holder(first, now=160.0) is None
    assert store.sessions.holder("something else", now=100.0) is None
    store.sessions.close(first)
    assert store.sessions.holder(first, now=101.0) is None
    assert store.sessions.holder(second, now=101.0) == "ada"
    store.sessions.set_password("ada", "another")
    assert store.sessions.holder(second, now=101.0) is None
    assert store.sessions.password("ada") == "another"
    store.sessions.set_password("ada", None)
    assert store.sessions.password("ada") is None


def test_nothing_that_is_kept_lets_anybody_in(store):
    _, secret = store.keys.create(KEY)
    token = store.sessions.open("ada", 60)
    store.sessions.set_password("bob", password_digest("correct horse"))
    record = everything(store)
    assert "laptop" in record
    for report in (secret, secret.split("_", 2)[2], token, "correct horse"):
        assert report not in record


def test_a_password_is_known_again_and_salted():
    record = password_digest("correct horse")
    assert is_password("correct horse", record)
    assert not is_password("correct hors", record)
    assert password_digest("correct horse") != record
