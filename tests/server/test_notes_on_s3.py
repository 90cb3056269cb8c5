"""A server whose notes are in a bucket: the same doors, and conversations go on while it is away."""

import pytest

from holdfast.memory.folder import S3Options, open_workspace
from tests.buckets import IN_ONE_WORKER, Relay
from tests.server.memory_server import found, refused, remembering

pytestmark = [pytest.mark.real, IN_ONE_WORKER]

NOTE = "/api/notes/default/MEMORY.md"


def asked(client, text):
    report = [{"role": "user", "content": text}]
    return client.post("/api/chat", json={"model": "scripted", "messages": report, "stream": False})


def test_notes_pass_through_the_doors_and_outages_are_told(s3_server, tmp_path):
    place, options = s3_server.new_place(), s3_server.options
    relay = Relay(options.endpoint)
    ways = S3Options(relay.endpoint, key=options.key, secret=options.secret)
    with remembering(tmp_path, workspace=open_workspace(place, ways)) as door:
        client = door.client
        response = client.put(NOTE, content="- The gate is green.\n")
        assert response.status_code == 201
        stale = client.put(NOTE, content="x", headers={"if-match": '"another"'})
        assert stale.status_code == 412
        tag = client.get(NOTE).headers["etag"]
        assert client.put(NOTE, content="- The gate is blue.\n", headers={"if-match": tag}).status_code == 200
        (note,) = found(client.get("/api/notes"))["notes"]
        assert note["path"] == "default/MEMORY.md"
        hits = found(client.get("/api/memory/search", params={"q": "gate"}))
        assert "blue" in hits["hits"][0]["snippet"]
    relay.cut()
    # A server that starts while the bucket is away has an index, and says what it cannot see.
    with remembering(tmp_path, workspace=open_workspace(place, ways)) as door:
        client = door.client
        refused(client.get("/api/notes"), 503, "cannot be reached", "s3_endpoint")
        hits = found(client.get("/api/memory/search", params={"q": "gate"}))
        assert "blue" in hits["hits"][0]["snippet"]
        assert "cannot be reached" in " ".join(hits["degraded"])
        assert asked(client, "Which colour has the gate?").status_code == 200
    relay.close()
