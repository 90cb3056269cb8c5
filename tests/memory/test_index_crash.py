"""A power cut while notes are put into the index: the notes are whole, and the index mends itself."""

import random
import subprocess
import sys

import pytest

from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import Index
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.messages import Scope
from holdfast.store import open_store

NOTES = 120
KILLS = 3
# Syncs without end, every time from nothing, and says when it has begun.
CHILD = """
import sys
from pathlib import Path
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import Index
from holdfast.memory.semantic import SemanticIndex
from holdfast.store import open_store

with open_store(sys.argv[1]) as store:
    index, embedder = Index(store, FolderWorkspace(Path(sys.argv[2]))), HashingEmbedder(16)
    meaning = SemanticIndex(store, lambda: embedder)
    print("begun", flush=True)
    while True:
        index.rebuild(lambda done, total: print(done, flush=True))
        meaning.catch_up()
"""


@pytest.mark.slow
def test_killed_again_and_again_it_is_whole_in_the_end(tmp_path):
    folder, location = tmp_path / "workspace", f"sqlite:///{tmp_path / 'holdfast.db'}"
    (folder / "default").mkdir(parents=True)
    texts = {f"default/{number}.md": f"Note on subject{number}.\n" for number in range(NOTES)}
    for path, text in texts.items():
        (folder / path).write_text(text)
    for _ in range(KILLS):
        command = [sys.executable, "-c", CHILD, location, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            # At another step every time: the child says one line a step.
            for _ in range(random.randint(1, 12)):
                assert child.stdout.readline()
            child.kill()
    assert {path: (folder / path).read_text() for path in texts} == texts
    with open_store(location) as store:
        embedder = HashingEmbedder(16)
        index = Index(store, FolderWorkspace(folder))
        search = Search(store, index, SemanticIndex(store, lambda: embedder), budget=60.0)
        assert index.sync().files == NOTES
        for number in range(0, NOTES, 20):
            answer = search.search(f"subject{number}", Scope())
            assert answer.hits[0].path == f"default/{number}.md"
            assert answer.degraded == ()
        hits = search.search("note on", Scope(), limit=2 * NOTES).hits
        assert sorted(hit.path for hit in hits) == sorted(texts)
