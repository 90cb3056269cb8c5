"""What compares vectors elsewhere is told of what came and went while nobody waits."""

import pytest

from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.remote_vectors import RemoteVectorIndex
from holdfast.messages import Scope
from tests.context.memory_engine import remembering
from tests.context.test_background_jobs import Chosen, RequestScripts, afterwards
from tests.memory.test_remote_vectors import Shelf, said

pytestmark = pytest.mark.anyio


async def test_what_is_remembered_and_forgotten_reaches_it_when_nobody_asks(tmp_path):
    shelf = Shelf()

    def followed(store, identity):
        return RemoteVectorIndex(store, identity, shelf)

    async with remembering(
        RequestScripts(), tmp_path, embedder=Chosen(HashingEmbedder()), vectors=followed
    ) as engine:
        memories = [
            engine.remembering.library.add(Scope(), text).memory
            for text in ("My sister is called Ottilie.", "The gate is locked at nine.")
        ]
        async with afterwards(engine) as later:
            assert said(shelf) == {memory.text for memory in memories}
            engine.remembering.library.forget(Scope(), memories[0].id)
            later.after_notes_change()
            await later.idle.wait_until_idle()
            assert said(shelf) == {memories[1].text}
