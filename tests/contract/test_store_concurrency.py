"""Threads and an event loop use one store at once: every acknowledged message is there, once, in order."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import text

from holdfast.errors import Conflict, NotFound, StoreError
from holdfast.store import open_store
from tests.contract.test_store import SCOPE, talk, user_messages, words


def append_with_patience(store, conversation: str, words: str) -> str:
    """What a client does: read the head, append, and begin again when somebody was faster."""
    while True:
        head = store.log.get(conversation).head
        try:
            return store.log.append(conversation, user_messages(words), parent=head, expect=head)[-1].id
        except Conflict:
            continue


def test_threads_that_append_to_one_conversation_lose_nothing(store):
    conversation = store.log.create(SCOPE)

    def client(number: int) -> list[str]:
        return [append_with_patience(store, conversation.id, f"{number}.{turn}") for turn in range(15)]

    with ThreadPoolExecutor(4) as pool:
        acknowledged = list(pool.map(client, range(4)))
    path = [message.id for message in store.log.path(store.log.get(conversation.id).head)]
    assert sorted(path) == sorted(name for names in acknowledged for name in names)
    for names in acknowledged:
        assert names == [name for name in path if name in names]
    assert store.log.get(conversation.id).version == 60


def test_threads_that_grow_one_branch_from_two_heads_do_not_collide(store):
    conversation, (root,) = talk(store, "root")
    forks = [store.log.fork(conversation.id, root.id) for _ in range(4)]

    def client(fork) -> list[str]:
        return [append_with_patience(store, fork.id, f"{turn}") for turn in range(5)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(client, forks))
    for fork in forks:
        assert words(store.log.path(store.log.get(fork.id).head)) == ["root", *"01234"]
    # The same words after the same words are the same messages, whoever says them first.
    assert len({store.log.get(fork.id).head for fork in forks}) == 1


def test_two_stores_on_one_database_take_turns(shared_location):
    with open_store(shared_location) as item, open_store(shared_location) as two:
        conversation = item.log.create(SCOPE)

        def client(store, name: str) -> list[str]:
            return [append_with_patience(store, conversation.id, f"{name}.{turn}") for turn in range(15)]

        with ThreadPoolExecutor(2) as pool:
            acknowledged = list(pool.map(client, (item, two), ("one", "two")))
        path = [message.id for message in two.log.path(item.log.get(conversation.id).head)]
        assert sorted(path) == sorted([*acknowledged[0], *acknowledged[1]])


def test_a_lease_goes_to_one_of_many_who_want_it(store):
    start = threading.Barrier(4)

    def want(owner: str) -> bool:
        start.wait()
        return store.leases.take("tidy", owner, 60.0)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(want, "abcd")) == 1


def test_a_dead_writers_answer_is_recovered_once(store):
    conversation, (question,) = talk(store, "question")
    for number in range(5):
        store.drafts.save(
            f"j_{number}", conversation.id, question.id, user_messages(f"{number}")[0].message, now=0.0
        )
    with ThreadPoolExecutor(3) as pool:
        recovered = [
            message
            for record in pool.map(lambda _: store.drafts.recover(10.0), range(3))
            for message in record
        ]
    assert sorted(words(recovered)) == list("01234")
    assert sorted(words(store.log.children(question.id))) == list("01234")


async def conversation_on_a_loop(store) -> list[str]:
    conversation = await store.run(store.log.create, SCOPE, title="async")
    head = None
    for turn in range(5):
        result = await store.run(
            store.log.append, conversation.id, user_messages(f"{turn}"), parent=head, expect=head
        )
        head = result[-1].id
    return words(await store.run(store.log.path, head))


def test_an_event_loop_uses_the_same_methods(store):
    async def many():
        return await asyncio.gather(*(conversation_on_a_loop(store) for _ in range(8)))

    assert asyncio.run(many()) == [list("01234")] * 8


def test_a_transaction_can_be_run_from_an_event_loop(store):
    def both() -> list[str]:
        store.settings.set("a", 1)
        store.settings.set("b", 2)
        return list(store.settings.all())

    async def main():
        return await store.run(store.atomically, both)

    assert asyncio.run(main()) == ["a", "b"]


def test_a_write_that_began_is_finished_when_its_caller_is_cancelled(store):
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        store.settings.set("kept", True)
        begun.set()
        go_on.wait()

    async def impatient() -> None:
        task = asyncio.create_task(store.run(store.atomically, slow))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(impatient())
    store.settings.set("next", True)
    assert store.settings.all() == {"kept": True, "next": True}


def test_all_writes_happen_on_one_thread(store):
    threads = set()

    def where(_):
        threads.add(threading.get_ident())

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: store.database.write(where), range(9)))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_reader_sees_one_moment_while_a_writer_goes_on(shared_location):
    count = text("SELECT count(*) FROM conversations")
    with open_store(shared_location) as store:

        def look(connection):
            before = connection.scalar(count)
            store.log.create(SCOPE)
            return before, connection.scalar(count)

        assert store.database.read(look) == (0, 0)
        assert store.database.read(lambda connection: connection.scalar(count)) == 1


def test_what_is_read_together_is_of_one_moment(shared_location):
    with open_store(shared_location) as store, open_store(shared_location) as other:
        conversation, _ = talk(store, "a")

        def twice():
            before = store.log.get(conversation.id)
            other.log.rename(conversation.id, "renamed meanwhile")
            return before, store.log.get(conversation.id)

        before, after = store.read_snapshot(twice)
        assert before == after
        assert store.log.get(conversation.id).title == "renamed meanwhile"


def test_a_closed_store_says_so(location):
    store = open_store(location)
    store.settings.set("a", 1)
    store.close()
    store.close()
    for call in (store.settings.all, lambda: store.settings.set("a", 2)):
        with pytest.raises(StoreError, match="closed"):
            call()
    with pytest.raises(StoreError, match="closed"):
        asyncio.run(store.run(store.settings.all))


async def along(store, trouble):
    """A conversation that gets another title along with whatever is written next."""
    conversation = await store.run(store.log.create, SCOPE)
    store.defer_write("titles", partial(store.log.rename, conversation.id, "later"), trouble.append)
    assert title(store, conversation) == "", "it waits for company"
    return conversation


def title(store, conversation):
    return store.log.get(conversation.id).title


MISSING = "c_00000000000000000000000000"


def test_what_goes_along_is_there_with_the_next_write(store):
    async def main():
        conversation = await along(store, trouble := [])
        other = await store.run(store.log.create, SCOPE)
        assert title(store, conversation) == "later"
        assert store.log.get(other.id) == other
        assert trouble == []

    asyncio.run(main())


def test_who_needs_it_sooner_can_have_it_written(store):
    async def main():
        conversation = await along(store, trouble := [])
        await store.flush("something else")
        assert title(store, conversation) == ""
        await store.flush("titles")
        assert title(store, conversation) == "later"
        await store.flush()
        assert trouble == []

    asyncio.run(main())


def test_what_goes_along_fails_alone(store):
    async def main():
        conversation = await along(store, trouble := [])
        store.defer_write("titles", partial(store.log.rename, MISSING, "nobody"), trouble.append)
        other = await store.run(store.log.create, SCOPE, title="unharmed")
        assert [type(error) for error in trouble] == [NotFound]
        assert title(store, conversation) == "later"
        assert title(store, other) == "unharmed"

    asyncio.run(main())


def test_when_the_others_fail_it_waits_for_the_next_write(store):
    async def main():
        conversation = await along(store, trouble := [])
        with pytest.raises(NotFound):
            await store.run(store.log.rename, MISSING, "nobody")
        assert title(store, conversation) == ""
        await store.flush("titles")
        assert title(store, conversation) == "later"
        assert trouble == []

    asyncio.run(main())
