"""A store, notes and memory of their own, small samples of each format, and a real PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.store import open_store
from holdfast.transfer.formats import open_source
from holdfast.transfer.imports import Importer
from holdfast.transfer.staging import DataFolder
from tests.contract.conftest import postgres  # noqa: F401  # a fixture

SAMPLES = Path(__file__).parent / "samples"
SCOPE = Scope("ada")


@pytest.fixture
def places(tmp_path):
    return DataFolder(tmp_path / "home", f"sqlite:///{tmp_path / 'home' / 'holdfast.db'}")


@pytest.fixture
def memory(places):
    """What memory is made of, on a store and notes that lie where a person's would."""
    with open_store(places.store) as store, closing(remembering_at(places, store)) as result:
        yield result


def remembering_at(places, store):
    embedder = ChosenEmbedder(EmbedderOptions("off", "", "", {}, 1.0, places.home / "embedder.log"))
    return MemoryService(store, FolderWorkspace(places.workspace), embedder)


@pytest.fixture
def bring_in(memory):
    """Imports samples; gives the report."""

    def bring(kind, *paths, scope=SCOPE, **options):
        dry_run = options.pop("dry_run", False)
        source = open_source([SAMPLES / path for path in paths], kind, **options)
        return Importer(memory.store, memory.library, scope, dry_run=dry_run).take(source)

    return bring


def ollama_prompt(path, sessions, rows=()):
    """A database as the tool makes it: of version 1, or of version 2 where there are rows of messages."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, context TEXT NOT NULL DEFAULT '',"
            " created_at TIMESTAMP, last_used TIMESTAMP, max_context_tokens INTEGER, history_json TEXT,"
            " metadata_json TEXT, model_name TEXT, system_prompt TEXT)"
        )
        for session in sessions:
            names = ", ".join(session)
            marks = ", ".join("?" * len(session))
            connection.execute(f"INSERT INTO sessions ({names}) VALUES ({marks})", [*session.values()])
        if rows:
            connection.execute(
                "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,"
                " content TEXT NOT NULL, tokens INTEGER NOT NULL, timestamp TEXT NOT NULL,"
                " is_summary BOOLEAN DEFAULT FALSE)"
            )
            connection.executemany(
                "INSERT INTO messages (session_id, role, content, tokens, timestamp, is_summary)"
                " VALUES (?, ?, ?, 1, ?, ?)",
                rows,
            )
        connection.commit()
    return path
