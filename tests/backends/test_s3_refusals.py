"""What servers answer that refuse, are busy, or are no good: a small one here says it all, word for word."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from holdfast.backends.s3 import OLDEST, ObjectCache, S3Client, S3Workspace, address
from holdfast.config import HIDDEN, Config, Settings
from holdfast.errors import ConfigError, StoreError
from holdfast.memory.folder import FolderWorkspace, S3Options, build_workspace, notes_location, open_workspace

PLACE = "s3://bucket/prefix"
OBJECT = "<Contents><Key>prefix/{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size>"
OBJECT += '<ETag>"1"</ETag><StorageClass>STANDARD</StorageClass></Contents>'


def refusal(status, code):
    return status, f"<Error><Code>{code}</Code><Message>In its own words.</Message></Error>"


def listing(*names):
    objects = "".join(OBJECT.format(name) for name in names)
    return 200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{objects}</ListBucketResult>"


class Server(ThreadingHTTPServer):
    """Gives the answers it was told, the last of them for ever."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [listing()]
        self.asked = []

    @property
    def options(self):
        return S3Options(f"http://127.0.0.1:{self.server_port}", key="k", secret="s")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {self.headers['Host']}{self.path.partition('?')[0]}")
        answers = self.server.answers
        status, text = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_DELETE = answer  # noqa: N815

    def log_message(self, *_):
        """Nobody reads it."""


@pytest.fixture(scope="module")
def running():
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def server(running):
    running.asked.clear()
    return running


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (403, "RequestTimeTooSkewed", "clock of this machine.*Set the clock"),
        (403, "AccessDenied", "does not reach so far.*read, write and list"),
        (403, "ExpiredToken", "no longer valid"),
        (400, "AuthorizationHeaderMalformed", "another region.*Set s3_region"),
        (507, "XMinioStorageFull", "disk of the server is full.*Make room"),
        (418, "Teapot", "answered Teapot.*log says more"),
    ],
)
def test_a_refusal_says_what_to_do(server, status, code, words):
    server.answers = [refusal(status, code)]
    for call in (lambda: open_workspace(PLACE, server.options).entries(), lambda: write_file(server)):
        with pytest.raises(StoreError, match=f"s3://bucket/prefix cannot be reached.*{words}"):
            call()


def write_file(server):
    return open_workspace(PLACE, server.options).write("a.md", "x")


def test_a_busy_server_is_asked_again(server):
    server.answers = [refusal(503, "SlowDown"), refusal(503, "SlowDown"), listing("a.md")]
    assert [str(entry.path) for entry in open_workspace(PLACE, server.options).entries()] == ["a.md"]


def test_one_that_stays_busy_is_given_up_and_nothing_is_lost(server):
    server.answers = [refusal(503, "SlowDown")]
    with pytest.raises(StoreError, match=r"asks for fewer requests\. Nothing is lost"):
        open_workspace(PLACE, server.options).entries()
    assert len(server.asked) > 1


def test_a_server_that_does_not_compare_tags_is_not_written_to(server):
    server.answers = [(200, "")]
    workspace = open_workspace(PLACE, server.options)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"lets writers write over each other.*Update it"):
            workspace.write("a.md", "x")
    assert not any("a.md" in asked for asked in server.asked)
    assert server.asked[-1].startswith("DELETE")


def test_invalid_object_name_is_reported_and_known_entries_stay(server):
    now = 0.0
    server.answers = [listing("default/a.md"), listing("default/a.md", "default/odd&#10;name.md")]
    workspace = S3Workspace(S3Client(PLACE, server.options), ObjectCache(None), lambda: now)
    assert [str(entry.path) for entry in workspace.entries()] == ["default/a.md"]
    now += OLDEST + 1
    known, word = workspace.entries("default")
    assert str(known.path) == "default/a.md"
    assert "odd" in word.trouble
    with pytest.raises(StoreError, match=r"name is no path.*Rename it or move it"):
        open_workspace(PLACE, server.options).entries()


def test_a_server_that_failed_is_left_alone_for_a_while(server):
    server.answers = [refusal(503, "SlowDown")]
    workspace = open_workspace(PLACE, server.options)
    for _ in range(3):
        with pytest.raises(StoreError):
            workspace.entries()
        asked = len(server.asked)
    with pytest.raises(StoreError):
        workspace.read("a.md")
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("location", "options", "words"),
    [
        ("s3://", S3Options(), "names no bucket.*s3://bucket/prefix"),
        ("s3://key:secret@bucket/x", S3Options(), "names no bucket"),
        (PLACE, S3Options("http://127.0.0.1:9000"), "both s3_key and s3_secret"),
        (PLACE, S3Options(key="k"), "both s3_key and s3_secret"),
        (PLACE, S3Options("127.0.0.1:9000", key="k", secret="s"), "s3_endpoint is '127.0.0.1:9000'"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(location, options, words):
    with pytest.raises(ConfigError, match=words):
        open_workspace(location, options)


def test_the_secret_is_never_shown():
    options = S3Options("http://127.0.0.1:9", key="k", secret="hush")
    shown = {row["name"]: row["value"] for row in Config.of(Settings(s3_key="k", s3_secret="hush")).shown()}
    assert (shown["s3_key"], shown["s3_secret"]) == (HIDDEN, HIDDEN)
    assert "hush" not in repr(options)


def test_settings_choose_the_place(tmp_path, server):
    for report, folder in (
        ("", tmp_path / "workspace"),
        ("mine", tmp_path / "mine"),
        ("/srv/notes", "/srv/notes"),
    ):
        settings = Settings(home=tmp_path, workspace=report)
        assert notes_location(settings) == str(folder)
        assert isinstance(build_workspace(settings), FolderWorkspace)
    server.answers = [listing("a.md")]
    given = {"s3_endpoint": server.options.endpoint, "s3_key": "k", "s3_secret": "s"}
    workspace = build_workspace(Settings(home=tmp_path, workspace=PLACE, **given))
    assert [str(entry.path) for entry in workspace.entries()] == ["a.md"]
    assert server.asked == [f"GET 127.0.0.1:{server.server_port}/bucket"]


@pytest.mark.parametrize(("path_style", "host"), [(True, "s3.test:9000"), (False, "bucket.s3.test:9000")])
def test_the_bucket_may_stand_in_front_of_the_server(path_style, host):
    options = S3Options("https://s3.test:9000/", key="k", secret="s", path_style=path_style)
    assert address("bucket", options) == f"https://{host}"


def test_without_the_library_it_is_named(monkeypatch):
    for name in list(sys.modules):
        if name == "holdfast.backends.s3":
            monkeypatch.delitem(sys.modules, name)
        if name.partition(".")[0] == "obstore":
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r"pip install 'holdfast\[s3\]'"):
        open_workspace(PLACE, S3Options())
