"""Full text over the log: nothing in the log is missed, nothing deleted is found, on every backend alike."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text as sql

from holdfast.i18n import banner
from holdfast.messages import Message, Scope, Text, Thinking, ToolCall, ToolResult
from holdfast.store import NewMessage, Store, open_store
from holdfast.store.texts import MessageIndex, index_rows
from holdfast.text import analyser
from tests.contract.test_store import SCOPE, count, talk, user_messages


def find_texts(store: Store, question: str, where: Scope | str = SCOPE, **options) -> list[str]:
    result = store.texts.find(where, analyser.terms(question), analyser.parts(question), **options)
    return [store.log.message(hit.message).message.text for hit in result.hits]


def test_message_is_searchable_as_soon_as_logged(store):
    conversation, (a,) = talk(store, "the landlord wants the deposit")
    assert find_texts(store, "deposit") == ["the landlord wants the deposit"]
    store.log.append(conversation.id, user_messages("the deposit was paid back"), parent=a.id, expect=a.id)
    assert set(find_texts(store, "deposit")) == {
        "the landlord wants the deposit",
        "the deposit was paid back",
    }


def test_what_was_there_before_the_index_is_found_too(store):
    talk(store, "first of all, apples")
    store.texts.catch_up()
    # What another version of the analyser made is thrown away and made anew.
    store.database.write(lambda connection: connection.execute(sql("UPDATE text_state SET value = 'old'")))
    again = MessageIndex(store.database)
    assert len(again.find(SCOPE, ["appl"]).hits) == 1
    assert count(store, "text_rows") == 1


def test_an_exchange_is_indexed_at_once_and_a_question_can_wait(store):
    _, (asked, told) = talk(store, "where is the harbour", "behind the church")
    assert store.texts.catch_up(where=SCOPE, without=told.id) == 1
    assert store.texts.catch_up(without=told.id) == 0
    store.atomically(store.texts.index_exchange, asked.tree)
    # A database on a server is locked for as long as that takes.
    assert count(store, "text_waiting") == (1 if store.database.on_server else 0)


def test_catching_up_goes_in_portions_and_says_how_many(store):
    talk(store, *(f"message {number}" for number in range(7)))
    assert store.texts.catch_up(3) == 3
    assert count(store, "text_waiting") == 4
    assert store.texts.catch_up() == 4
    assert store.texts.catch_up() == 0


def test_only_what_is_asked_about_is_caught_up(store):
    mine, _ = talk(store, "apples")
    talk(store, "pears", scope=Scope(user="other"))
    store.texts.catch_up(where=mine.tree)
    assert (count(store, "text_rows"), count(store, "text_waiting")) == (1, 1)
    store.texts.catch_up(where=Scope(user="other"))
    assert count(store, "text_waiting") == 0


@pytest.mark.parametrize(
    "other", [Scope(user="eve"), Scope(project="elsewhere"), Scope(kind="group"), Scope(user="default ")]
)
def test_nothing_is_found_across_a_scope(store, other):
    conversation, _ = talk(store, "the secret password is swordfish")
    talk(store, "swordfish is a fish", scope=other)
    assert find_texts(store, "swordfish") == ["the secret password is swordfish"]
    assert find_texts(store, "swordfish", other) == ["swordfish is a fish"]
    assert find_texts(store, "swordfish", conversation.tree) == ["the secret password is swordfish"]


def test_rarity_is_that_of_the_scope_alone(store):
    talk(store, "apples", "pears", "plums")
    before = store.texts.find(SCOPE, ["appl"])
    talk(store, "apples", "more apples", "still more apples", scope=Scope(user="other"))
    assert store.texts.find(SCOPE, ["appl"]) == before


def test_a_deleted_conversation_leaves_the_index_with_its_commit(store):
    conversation, _ = talk(store, "swordfish")
    waiting, _ = talk(store, "cod")
    store.texts.catch_up(where=conversation.tree)
    store.log.delete(conversation.id)
    store.log.delete(waiting.id)
    assert (count(store, "text_rows"), count(store, "text_waiting")) == (0, 0)
    assert find_texts(store, "swordfish cod") == []


def test_a_deleted_fork_takes_only_its_own_words(store):
    conversation, (_, b) = talk(store, "swordfish one", "swordfish two")
    fork = store.log.fork(conversation.id, b.id)
    store.log.append(fork.id, user_messages("swordfish three"), parent=b.id, expect=b.id)
    assert len(find_texts(store, "swordfish")) == 3
    store.log.delete(fork.id)
    assert sorted(find_texts(store, "swordfish")) == ["swordfish one", "swordfish two"]
    store.log.delete(conversation.id)
    assert find_texts(store, "swordfish") == []


def test_a_deletion_that_is_rolled_back_leaves_the_index_whole(store):
    conversation, _ = talk(store, "swordfish")
    store.texts.catch_up()

    def fails() -> None:
        store.log.delete(conversation.id)
        raise KeyError("changed my mind")

    with pytest.raises(KeyError):
        store.atomically(fails)
    assert find_texts(store, "swordfish") == ["swordfish"]


def test_edited_message_is_found_unless_search_is_limited_to_head(store):
    conversation, (a, _) = talk(store, "plums", "swordfish, first try")
    (c,) = store.log.append(
        conversation.id, user_messages("swordfish, second try"), parent=a.id, expect=conversation.head
    )
    assert len(find_texts(store, "swordfish")) == 2
    assert find_texts(store, "swordfish", conversation.tree, head=c.id) == ["swordfish, second try"]
    assert find_texts(store, "swordfish", conversation.tree, head=a.id) == []
    assert find_texts(store, "plums", conversation.tree, head=c.id) == ["plums"]


def test_named_messages_can_be_left_out(store):
    _, (a, _) = talk(store, "swordfish one", "swordfish two")
    assert find_texts(store, "swordfish", without={a.id}) == ["swordfish two"]


def test_words_of_tools_are_found_and_thinking_is_not(store):
    conversation = store.log.create(SCOPE)
    call = ToolCall("read_file", '{"path": "src/app/main.py"}', "1")
    new = [
        NewMessage(Message("assistant", (Thinking("unspeakable"), call))),
        NewMessage(Message("tool", (ToolResult((Text("def landlord(): ..."),), call_id="1"),))),
    ]
    store.log.append(conversation.id, new, parent=None, expect=None)
    assert len(find_texts(store, "main.py")) == 1
    assert len(find_texts(store, "landlord")) == 1
    assert find_texts(store, "unspeakable") == []


def test_compounds_and_their_parts_match_and_whole_words_rank_first(store):
    talk(store, "Morgen ist die Datenbankwahl", "Zur Wahl der Datenbank später mehr", "Ein Apfel am Tag")
    whole = "Zur Wahl der Datenbank später mehr"
    assert find_texts(store, "Wahl der Datenbank") == [whole, "Morgen ist die Datenbankwahl"]
    assert find_texts(store, "Datenbankwahl") == ["Morgen ist die Datenbankwahl", whole]


@pytest.mark.parametrize(
    "name",
    ["a828e60", "src/x-y/z.py", "O'Brien", "50%", "user_id", "ab&cd|ef", "~tilde", "@mention", "#1234"],
)
def test_signs_in_names_mean_nothing_to_the_engine(store, name):
    talk(store, f"look at {name} again", "nothing of the kind")
    assert find_texts(store, name) == [f"look at {name} again"]


@pytest.mark.parametrize(
    "question", ["", "?!... --", "the and of", "\ud800", "NEAR(a b) OR *", '"', "x" * 100_000]
)
def test_odd_questions_find_nothing_and_do_no_harm(store, question):
    talk(store, "apples and pears")
    assert find_texts(store, question) == []


def test_a_question_as_long_as_a_book_is_answered(store):
    talk(store, "apples", "pears")
    book = "apples " + " ".join(f"word{number}" for number in range(20_000))
    assert find_texts(store, book) == ["apples"]


@pytest.mark.slow
def test_very_long_message_is_searchable_to_last_word_and_deleted_completely(store):
    book = " ".join(f"{random.Random(n).getrandbits(80):x}" for n in range(30_000)) + " swordfish"
    conversation, _ = talk(store, book)
    assert len(find_texts(store, "swordfish")) == 1
    assert count(store, "text_rows") > 1
    store.log.delete(conversation.id)
    assert count(store, "text_rows") == 0


def corpus(seed: int) -> list[str]:
    chance = random.Random(seed)
    vocabulary = [f"w{number}x" for number in range(300)]
    weights = [1 / (rank + 1) for rank in range(300)]
    return [
        " ".join(chance.choices(vocabulary, weights, k=chance.randint(1, 60))) + f" n{number}"
        for number in range(900)
    ]


@pytest.mark.slow
def test_every_engine_ranks_alike(store):
    texts = corpus(7)
    talk(store, *texts)
    with open_store("sqlite://") as plain:
        talk(plain, *texts)
        reference = MessageIndex(plain.database, plain=True)
        # Rare words, words of every second message, and both together.
        for question in (["w250x", "w0x"], ["w0x", "w1x", "w2x"], ["w0x"], ["w40x", "w100x", "w3x", "w4x"]):
            ours, theirs = store.texts.find(SCOPE, question), reference.find(SCOPE, question)
            assert ours.hits
            # The same order, and the same scores up to the last digits of a sum.
            assert [hit.depth for hit in ours.hits] == [hit.depth for hit in theirs.hits]
            assert [hit.score for hit in ours.hits] == pytest.approx([hit.score for hit in theirs.hits])
            assert [hit.matched for hit in ours.hits] == [hit.matched for hit in theirs.hits]
            assert ours.rarity == pytest.approx(theirs.rarity)
        assert theirs.engine == "scan"


def test_the_engine_says_its_name(store, location):
    assert store.texts.engine == ("tsvector" if location.startswith("postgres") else "fts5")


def test_without_full_text_everything_is_still_found(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/holdfast.db") as store:
        plain = MessageIndex(store.database, plain=True)
        conversation, _ = talk(store, "the landlord's deposit", "apples")
        assert plain.engine == "scan"
        assert [hit.depth for hit in plain.find(SCOPE, analyser.terms("deposit")).hits] == [0]
        store.log.delete(conversation.id)
        assert plain.find(SCOPE, ["deposit"]).hits == ()


def test_the_index_of_sqlite_has_exactly_what_its_rows_have(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/holdfast.db") as store:
        conversation, (a, _) = talk(store, "swordfish one", "swordfish two")
        talk(store, "swordfish three")
        fork = store.log.fork(conversation.id, a.id)
        store.log.append(fork.id, user_messages("swordfish four"), parent=a.id, expect=a.id)
        store.texts.catch_up()
        store.log.delete(conversation.id)
        # It compares every token with the rows, and fails where one is missing or left over.
        check = sql("INSERT INTO text_index (text_index, rank) VALUES ('integrity-check', 1)")
        store.database.write(lambda connection: connection.execute(check))
        left = sql("SELECT count(*) FROM text_index WHERE text_index MATCH 'swordfish'")
        assert store.database.read(lambda connection: connection.scalar(left)) == 3


def test_a_table_of_messages_made_anew_without_its_triggers_is_noticed(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/holdfast.db") as store:
        conversation, (a,) = talk(store, "apples")
        store.texts.catch_up()
        store.database.write(lambda connection: connection.execute(sql("DROP TRIGGER text_said")))
        store.log.append(conversation.id, user_messages("pears"), parent=a.id, expect=a.id)
        assert len(MessageIndex(store.database).find(SCOPE, ["pear"]).hits) == 1


def test_concurrent_deletion_and_indexing_leave_no_orphans_or_deadlocks(shared_location):
    with (
        open_store(shared_location) as store,
        open_store(shared_location) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        for _ in range(5):
            conversation, _ = talk(store, *(f"swordfish {number}" for number in range(120)))
            indexing = pool.submit(other.texts.catch_up)
            store.texts.catch_up(40)
            store.log.delete(conversation.id)
            indexing.result()
            assert (
                count(store, "text_rows"),
                count(store, "text_waiting"),
                count(store, "text_containers"),
            ) == (
                0,
                0,
                0,
            )


def test_two_processes_do_not_index_a_message_twice(shared_location):
    with open_store(shared_location) as store, open_store(shared_location) as other:
        talk(store, *(f"message {number}" for number in range(5)))
        store.texts.catch_up(2)
        waiting = other.texts._waiting(None, 10)
        store.texts.catch_up()
        # The other one had read what waits before it was indexed.
        other.texts._index([row for message in waiting for row in index_rows(*message)], waiting)
        assert count(store, "text_rows") == 5


def test_what_we_told_people_in_an_answer_is_not_found(store):
    text = f"{banner('the model thought until its limit')}\n\nThe zebra lives in Quakenbrück."
    conversation, (asked,) = talk(store, "Where does the zebra live?")
    new = [NewMessage(Message.of("assistant", text))]
    store.log.append(conversation.id, new, parent=asked.id, expect=asked.id)
    assert find_texts(store, "Holdfast limit thought") == []
    assert find_texts(store, "Quakenbrück") == [text]


def test_what_a_model_thought_in_its_text_is_not_found(store):
    text = "<think>Perhaps in Osnabrück.</think>\n\nThe zebra lives in Quakenbrück."
    conversation, (asked,) = talk(store, "Where does the zebra live?")
    new = [NewMessage(Message.of("assistant", text))]
    store.log.append(conversation.id, new, parent=asked.id, expect=asked.id)
    assert find_texts(store, "Osnabrück") == []
    assert find_texts(store, "Quakenbrück") == [text]


def test_an_answer_that_is_nothing_else_is_caught_up_once(store):
    conversation, (asked,) = talk(store, "Where does the zebra live?")
    new = [NewMessage(Message.of("assistant", banner("the model thought until its limit")))]
    store.log.append(conversation.id, new, parent=asked.id, expect=asked.id)
    assert store.texts.catch_up() == 2
    assert store.texts.catch_up() == 0
