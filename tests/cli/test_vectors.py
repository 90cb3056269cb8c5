"""Who compares vectors, from the command line: what is told of it, when it is well and when it is not."""

import json

import pytest

from holdfast.backends.qdrant import QdrantFolder
from holdfast.testing.embedders import FakeOpenAI


@pytest.fixture
def in_qdrant(home, tmp_path, monkeypatch):
    """A memory, an embedder that takes no time, and a Qdrant in a folder."""
    (home / "workspace" / "default").mkdir(parents=True)
    memories = "- The heron has number 7.\n- The stork has number 8.\n"
    (home / "workspace" / "default" / "MEMORY.md").write_text(f"# Memory\n\n{memories}")
    with FakeOpenAI().served() as url:
        monkeypatch.setenv("HOLDFAST_EMBEDDER", f"openai+{url}")
        monkeypatch.setenv("HOLDFAST_VECTORS", f"qdrant:{tmp_path / 'qdrant'}")
        yield tmp_path / "qdrant"


def test_answers_name_vector_engine_and_hits_name_their_finder(hold, in_qdrant):
    state = json.loads(hold("memory", "reindex", "--json"))["vectors"]["engine"]
    assert (state["engine"], state["behind"], state["trouble"]) == ("qdrant", 0, None)
    answer = json.loads(hold("memory", "search", "heron", "--json"))
    assert (answer["compared"], answer["degraded"]) == ("qdrant", [])
    assert answer["hits"][0]["engines"] == ["fts5", "vectors qdrant"]
    report = {item["about"]: item for item in json.loads(hold("doctor", "--json", whole=True).stdout)}
    assert report["vectors"]["state"] == "ok"
    forgotten = next(hit["id"] for hit in answer["hits"] if "heron" in hit["snippet"])
    hold("memory", "forget", forgotten, "--yes")
    hold("memory", "search", "stork")
    wire = QdrantFolder(in_qdrant)
    left = wire.call("POST", "/collections/memories/points/scroll", {"limit": 9, "with_vector": False})
    wire.close()
    assert [point["payload"]["content"] for point in left["points"][1:]] == ["The stork has number 8."]
    assert f"qdrant {in_qdrant} (memories)" in report["vectors"]["found"]


def test_unavailable_vector_server_is_reported_by_search_stats_and_doctor(hold, in_qdrant, monkeypatch):
    monkeypatch.setenv("HOLDFAST_VECTORS", "qdrant+http://127.0.0.1:1")
    assert "Vectors were compared in process" in json.loads(hold("memory", "reindex", "--json"))["trouble"]
    answer = json.loads(hold("memory", "search", "heron", "--json"))
    assert (len(answer["hits"]), answer["compared"]) == (2, "in process")
    assert "Qdrant at http://127.0.0.1:1 does not answer" in answer["degraded"][0]
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    report = {item["about"]: item for item in json.loads(hold("doctor", "--json", whole=True).stdout)}
    assert report["Vektoren"]["remedy"] == "Bis dahin vergleicht sie dieser Prozess."


def test_deleted_user_leaves_vector_engine_and_failures_are_reported(hold, home, in_qdrant, monkeypatch):
    (home / "workspace" / "ada").mkdir()
    (home / "workspace" / "ada" / "MEMORY.md").write_text("- The Quimblefrotz has number 9.\n")
    hold("memory", "reindex")
    named = {"HOLDFAST_VECTORS": "qdrant+http://127.0.0.1:1", "HOLDFAST_EMBEDDER": "off"}
    assert json.loads(hold("users", "delete", "ada", "--yes", "--json"))["elsewhere"] is None
    files = [file for file in in_qdrant.rglob("*") if file.is_file()]
    assert files
    assert not any(b"Quimblefrotz" in file.read_bytes() for file in files)
    for name, value in named.items():
        (home / "workspace" / "ada").mkdir()
        (home / "workspace" / "ada" / "MEMORY.md").write_text("- Again.\n")
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert json.loads(hold("users", "delete", "ada", "--yes", "--json"))["elsewhere"]


def test_a_location_that_is_none_is_refused(hold, in_qdrant, monkeypatch):
    monkeypatch.setenv("HOLDFAST_VECTORS", "pgvector")
    refused = hold("memory", "search", "heron", whole=True)
    assert refused.exit_code != 0
    assert "the store is no PostgreSQL" in str(refused.exception)
