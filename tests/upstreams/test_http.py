"""One server over HTTP: tries, waits, and what each failure is called."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from holdfast.errors import ConfigError, CutOff, ModelMissing, Overflow, Unreachable, UpstreamError
from holdfast.upstreams.http import Connection, Patience, parse_retry_after, redact_url
from tests.upstreams.hostile import END, SILENCE, begin_response, hostile, piece, response

pytestmark = pytest.mark.anyio

OK = response(b'{"ok":true}')
# Nobody can listen on port 1 of loopback but root, and nobody does.
NOWHERE = "http://127.0.0.1:1"


class Pauses:
    """Notes how long somebody wanted to sleep, and lets them go on at once."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
async def to(pauses):
    result = []

    def connection(url, **options):
        patience = Patience(**{"connect": 10.0, "answer": 30.0, "stall": 30.0, **options.pop("patience", {})})
        result.append(Connection(url, patience=patience, sleep=pauses, **options))
        return result[-1]

    yield connection
    for item in result:
        await item.aclose()


async def read(connection, path="/stream"):
    async with connection.stream(path, {"x": 1}, model="m") as incoming:
        return b"".join([data async for data in incoming.stream])


async def test_absent_server_is_unreachable_after_retries_with_backoff(to, pauses):
    with pytest.raises(Unreachable, match="no model server answers"):
        await to(NOWHERE, patience={"tries": 4, "pause": 0.2}).get("/")
    assert len(pauses.seconds) == 3
    for attempt, seconds in enumerate(pauses.seconds):
        assert 0.1 * 2**attempt <= seconds <= 0.2 * 2**attempt


async def test_pauses_never_grow_beyond_the_longest(to, pauses):
    with pytest.raises(Unreachable):
        await to(NOWHERE, patience={"tries": 8, "pause": 1.0, "longest_pause": 2.0}).get("/")
    assert max(pauses.seconds) <= 2.0


@pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
async def test_a_busy_server_is_asked_again(to, pauses, status):
    with hostile([response(b"{}", status)], [response(b"{}", status)], [OK]) as server:
        assert await to(server.url).get("/") == {"ok": True}
    assert len(server.requests) == 3
    assert len(pauses.seconds) == 2


async def test_asking_again_has_an_end(to):
    with (
        hostile([response(b'{"error":"loading"}', "503 Service Unavailable")]) as server,
        pytest.raises(UpstreamError, match="loading") as caught,
    ):
        await to(server.url).get("/")
    assert caught.value.status == 503
    assert len(server.requests) == 3


async def test_too_many_requests_waits_as_long_as_the_server_says(to, pauses):
    with hostile([response(b"{}", "429 Too Many Requests", Retry_After="3")], [OK]) as server:
        assert await read(to(server.url)) == b'{"ok":true}'
    assert pauses.seconds == [3.0]


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "3600"}, {"Retry_After": "tomorrow"}])
async def test_rate_limit_without_reasonable_retry_time_fails_immediately(to, pauses, headers):
    with (
        hostile([response(b'{"error":"slow down"}', "429 Too Many Requests", **headers)]) as server,
        pytest.raises(UpstreamError, match="slow down"),
    ):
        await read(to(server.url))
    assert pauses.seconds == []


async def test_a_busy_server_may_name_the_date_of_the_next_try(to, pauses):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    with hostile([response(b"{}", "503 Service Unavailable", Retry_After=soon)], [OK]) as server:
        assert await to(server.url, patience={"longest_pause": 100.0}).get("/") == {"ok": True}
    # The pause of its own would be less than a second.
    assert 1 < pauses.seconds[0] <= 100


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_excessive_retry_after_is_reported_with_the_refusal(to, pauses, status):
    with (
        hostile([response(b'{"error":"later"}', status, Retry_After="60")]) as server,
        pytest.raises(UpstreamError, match="later") as caught,
    ):
        await read(to(server.url))
    assert (pauses.seconds, caught.value.retry_after) == ([], 60.0)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 -0000", 0.0),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("tomorrow", None),
    ],
)
def test_retry_after_is_parsed_as_seconds_or_date(header, seconds):
    assert parse_retry_after(header) == seconds


async def test_chat_is_retried_when_connection_closes_before_first_byte(to):
    with hostile([], [OK]) as server:
        assert await read(to(server.url)) == b'{"ok":true}'
    assert len(server.requests) == 2


async def test_a_refused_request_is_not_sent_again(to):
    with (
        hostile([response(b'{"error":"no"}', "400 Bad Request")]) as server,
        pytest.raises(UpstreamError),
    ):
        await to(server.url).post("/", {})
    assert len(server.requests) == 1


async def test_forwarded_request_is_sent_once_despite_error_status(to):
    with hostile([response(b"busy", "503 Service Unavailable", "text/plain")]) as server:
        forwarded = await to(server.url).forward("POST", "/api/pull", {}, b"{}")
        assert (forwarded.status, b"".join([data async for data in forwarded.stream])) == (503, b"busy")
    assert len(server.requests) == 1


async def test_forwarded_write_is_not_retried_after_sending(to):
    with hostile([]) as server, pytest.raises(Unreachable, match="hung up"):
        await to(server.url).forward("POST", "/api/delete", {}, b"{}")
    assert len(server.requests) == 1


@pytest.mark.parametrize("path", ["/api/chat", "/v1/embeddings", "/api/show"])
async def test_forwarded_read_is_retried_after_dropped_connection(to, path):
    with hostile([], [response(b"busy", "503 Service Unavailable")]) as server:
        forwarded = await to(server.url).forward("POST", path, {}, b"{}")
        assert forwarded.status == 503
        await forwarded.close()
    assert len(server.requests) == 2


async def test_a_body_that_was_streamed_is_not_sent_again(to):
    async def body():
        yield b"{}"

    with hostile([]) as server, pytest.raises(Unreachable):
        await to(server.url).forward("POST", "/api/chat", {}, body())
    assert len(server.requests) == 1


async def test_silence_before_the_answer_is_unreachable_and_not_tried_again(to):
    with hostile([SILENCE]) as server, pytest.raises(Unreachable, match="silent"):
        await read(to(server.url, patience={"stall": 0.2}))
    assert len(server.requests) == 1


async def test_slow_headers_are_unreachable(to):
    with (
        hostile([b"HTTP/1.1 200 OK\r\nContent-Ty", SILENCE]) as server,
        pytest.raises(Unreachable, match="silent"),
    ):
        await to(server.url, patience={"answer": 0.2}).get("/")


async def test_silence_in_the_middle_of_an_answer_is_a_cut(to):
    with (
        hostile([begin_response("application/x-ndjson"), piece(b"one"), SILENCE]) as server,
        pytest.raises(CutOff, match="stopped sending"),
    ):
        # Long enough that the beginning comes in time on a busy machine.
        await read(to(server.url, patience={"stall": 1.5}))


async def test_a_connection_that_breaks_in_the_middle_is_a_cut(to):
    with (
        hostile([begin_response("application/x-ndjson"), piece(b"one")]) as server,
        pytest.raises(CutOff, match="broke"),
    ):
        await read(to(server.url))


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe", b'{"half":', b'{"number": NaN}'])
async def test_an_answer_that_is_no_json_is_not_taken_for_one(to, body):
    with (
        hostile([response(body)]) as server,
        pytest.raises(UpstreamError, match="no answer of a model server") as caught,
    ):
        await to(server.url).get("/")
    assert caught.value.status == 502


async def test_something_that_is_no_http_is_unreachable(to):
    with hostile([b"220 smtp.example ready\r\n"]) as server, pytest.raises(Unreachable):
        await to(server.url).get("/")


async def test_an_error_with_status_200_is_an_error(to):
    with (
        hostile([response(b'{"error":"Unexpected endpoint or method. (GET /api/v1/models)"}')]) as server,
        pytest.raises(UpstreamError, match="Unexpected endpoint") as caught,
    ):
        await to(server.url).get("/api/v1/models")
    assert caught.value.status == 404


async def test_a_missing_model_is_told_from_a_missing_route(to):
    missing = response(b'{"error":"model \\"m\\" not found, try pulling it first"}', "404 Not Found")
    with hostile([missing], [response(b"404 page not found", "404 Not Found", "text/plain")]) as server:
        connection = to(server.url)
        with pytest.raises(ModelMissing) as caught:
            await connection.post("/api/show", {}, model="m")
        assert caught.value.model == "m"
        with pytest.raises(UpstreamError) as other:
            await connection.post("/api/show", {}, model="m")
        assert other.value.status == 404


async def test_an_overflow_comes_with_the_numbers_of_the_server(to):
    body = {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 5031, "n_ctx": 2048}}
    with (
        hostile([response(json.dumps(body).encode(), "400 Bad Request")]) as server,
        pytest.raises(Overflow) as caught,
    ):
        await read(to(server.url))
    assert (caught.value.prompt_tokens, caught.value.window) == (5031, 2048)


async def test_redirect_is_not_followed_to_protect_the_key(to):
    moved = response(b"", "307 Temporary Redirect", Location="http://127.0.0.1:1/")
    with hostile([moved]) as server, pytest.raises(UpstreamError, match="elsewhere"):
        await to(server.url, key="secret").get("/")
    assert len(server.requests) == 1


async def test_an_endless_error_page_is_not_read_to_its_end(to):
    page = begin_response("text/html").replace(b"200 OK", b"500 Internal Server Error") + piece(
        b"x" * 100_000
    )
    with hostile([page, SILENCE]) as server, pytest.raises(UpstreamError):
        await to(server.url).get("/")


@pytest.mark.parametrize("ask", [lambda to: to.get("/x"), read], ids=["list", "answer"])
async def test_response_beyond_the_size_limit_is_cut_off(to, ask):
    # No length is announced, and its end never comes.
    def play(_request):
        return [begin_response("application/json"), *[piece(b"[" * 10_000)] * 1_000]

    with hostile(play) as server:
        connection = to(server.url, patience={"largest": 1_000_000, "tries": 1})
        with pytest.raises(CutOff, match="more than 1 MB"):
            await ask(connection)


async def test_the_key_and_the_extra_headers_go_with_every_request(to):
    with hostile([OK]) as server:
        await to(server.url, key="sesame", headers={"X-Team": "blue"}).get("/")
    head = server.requests[0].lower()
    assert b"authorization: bearer sesame\r\n" in head
    assert b"x-team: blue\r\n" in head


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
def test_a_key_that_http_cannot_carry_is_told_without_showing_it(key):
    with pytest.raises(ConfigError, match="characters") as caught:
        Connection("http://127.0.0.1:1", key=key)
    assert key not in str(caught.value)


async def test_a_client_that_takes_compressed_answers_may_have_them(to):
    with hostile([OK]) as server:
        forwarded = await to(server.url).forward("GET", "/", {"Accept-Encoding": "gzip, br"})
        await forwarded.close()
    assert server.requests[0].lower().count(b"accept-encoding") == 1
    assert b"gzip, br" in server.requests[0]


async def test_forwarded_body_is_unchanged_and_client_credentials_are_removed(to):
    with hostile([response(b"\x1f\x8bnot really gzip", content_type="application/x-thing")]) as server:
        headers = {
            "Authorization": "Bearer for-holdfast",
            "X-Holdfast": "off",
            "X-Own": "1",
            "Host": "holdfast",
        }
        forwarded = await to(server.url).forward("PUT", "/v1/thing?a=b", headers, b"\x00\xff")
        assert b"".join([data async for data in forwarded.stream]) == b"\x1f\x8bnot really gzip"
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"PUT /v1/thing?a=b HTTP/1.1")
    assert body == b"\x00\xff"
    assert b"x-own: 1" in head.lower()
    assert b"for-holdfast" not in head
    assert b"x-holdfast" not in head.lower()
    assert ("content-type", "application/x-thing") in forwarded.headers
    assert "connection" not in dict(forwarded.headers)


async def test_upstream_cors_headers_are_not_forwarded(to):
    open_to_all = response(
        b"{}", Access_Control_Allow_Origin="*", Access_Control_Allow_Headers="*", X_Own="1"
    )
    with hostile([open_to_all]) as server:
        forwarded = await to(server.url).forward("GET", "/", {})
        await forwarded.close()
    names = {name for name, _ in forwarded.headers}
    assert "x-own" in names
    assert not any(name.startswith("access-control-") for name in names)


async def test_a_passed_on_answer_can_be_given_up_unread(to):
    with hostile([begin_response("text/plain"), piece(b"one"), SILENCE]) as server:
        forwarded = await to(server.url).forward("GET", "/", {})
        await forwarded.close()


async def test_a_streamed_body_is_passed_on_as_it_comes(to):
    async def parts():
        yield b"one "
        yield b"two"

    with hostile([OK]) as server:
        forwarded = await to(server.url).forward("POST", "/", {"Content-Length": "7"}, parts())
        await forwarded.close()
        assert b"transfer-encoding: chunked" in server.requests[0].lower()


async def test_proxies_of_the_environment_are_not_used(to, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", NOWHERE)
    monkeypatch.setenv("ALL_PROXY", NOWHERE)
    with hostile([OK]) as server:
        assert await to(server.url).get("/") == {"ok": True}


async def test_an_address_that_is_none_says_how_to_write_one(to):
    with pytest.raises(Unreachable, match="no address"):
        await to("ftp://example.org").get("/")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://anna:secret@host:1/v1", "http://host:1/v1"),
        ("http://host:1", "http://host:1"),
    ],
)
def test_passwords_in_addresses_are_never_shown(url, told):
    assert redact_url(url) == told
    assert Connection(url).location == told


async def test_a_password_in_the_address_is_not_in_the_error(to):
    with pytest.raises(Unreachable) as caught:
        await to("http://anna:secret@127.0.0.1:1").get("/")
    assert "secret" not in str(caught.value)


async def test_end_marks_of_the_transport_are_no_part_of_the_answer(to):
    with hostile([begin_response("text/plain") + piece(b"one") + piece(b"two") + END]) as server:
        assert await read(to(server.url)) == b"onetwo"
