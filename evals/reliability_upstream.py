"""A model server that does wrong on purpose: the faults of `evals.reliability_faults`, and who plays them.

A fault is what is sent as bytes when a chat is asked for; all else is answered as a good server does. Each is
there for a server that speaks as Ollama does and for one that speaks as OpenAI does.
"""

import gzip
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tests.upstreams.hostile import END, RESET, SILENCE, begin_response, hostile, piece, response

Dialect = Literal["ollama", "openai"]
DIALECTS: tuple[Dialect, ...] = ("ollama", "openai")
MODEL, GOOD, TEXT = "fake", "All is well.", "Half of it."
_STREAM = {"ollama": "application/x-ndjson", "openai": "text/event-stream"}

Script = Iterable[bytes | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """`play` makes the bytes; `answer` is the text that a client must get nevertheless, None if it need not.

    With `passes` the server's own refusal may be passed on as it is.
    """

    name: str
    play: Callable[[Dialect], Script]
    answer: str | None = None
    passes: bool = False


def delta(dialect: Dialect, text: str = "", **fields: object) -> bytes:
    """One line or event with some text, or with other fields of the message."""
    if dialect == "ollama":
        message = {"role": "assistant", "content": text, **fields}
        return json.dumps({"model": MODEL, "message": message, "done": False}).encode() + b"\n"
    choice = {"index": 0, "delta": {"content": text, **fields}, "finish_reason": None}
    return _event({"id": "x", "choices": [choice]})


def stop(dialect: Dialect, counts: str = "3") -> bytes:
    """The end of an answer, with a count as JSON text of any kind."""
    if dialect == "ollama":
        return (
            f'{{"model":"{MODEL}","message":{{"role":"assistant","content":""}},"done":true,'
            f'"done_reason":"stop","prompt_eval_count":{counts},"eval_count":{counts},'
            f'"total_duration":{counts}}}\n'
        ).encode()
    return (
        'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":'
        f'{{"prompt_tokens":{counts},"completion_tokens":{counts},"total_tokens":{counts}}}}}\n\n'
        "data: [DONE]\n\n"
    ).encode()


def _event(value: object) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def stream(dialect: Dialect, *parts: bytes | None, kind: str | None = None) -> list[bytes | None]:
    """A whole response in chunks; None is silence."""
    pieces = [SILENCE if part is SILENCE else piece(part) for part in parts]
    return [begin_response(_STREAM[dialect] if kind is None else kind), *pieces, END]


def raw(dialect: Dialect, *parts: bytes | None) -> list[bytes | None]:
    """The head of a stream, then bytes as they are."""
    return [begin_response(_STREAM[dialect]), *parts]


def answer_parts(dialect: Dialect, text: str = GOOD) -> list[bytes | None]:
    return stream(dialect, delta(dialect, text), stop(dialect))


def _odd_counts() -> Iterator[Fault]:
    values = {
        "as text": '"many"', "negative": "-5", "NaN": "NaN", "infinite": "1e999", "a fraction": "1.5",
        "null": "null", "true": "true", "a list": "[1]", "an object": "{}", "of 400 digits": "9" * 400,
    }  # fmt: skip
    for name, value in values.items():
        yield Fault(
            f"counts: {name}",
            lambda d, value=value: stream(d, delta(d, TEXT), stop(d, value)),  # type: ignore[misc]
            TEXT,
        )


def _refusals() -> Iterator[Fault]:
    waits = {
        "none": None, "in years": "2301457855", "negative": "-5",
        "a past date": "Mon, 01 Jan 2001 00:00:00 GMT",
        "a far date": "Fri, 31 Dec 9999 23:59:59 GMT",
        "a fraction": "1.5", "words": "soon", "no date": "Mon, 99 Foo 20x6 99:99:99 GMT",
        "of 5,000 digits": "9" * 5000,
    }  # fmt: skip
    for name, wait in waits.items():
        headers = {} if wait is None else {"Retry_After": wait}
        answer = response(b'{"error":"slow down"}', "429 Too Many Requests", **headers)
        yield Fault(f"429, Retry-After: {name}", lambda _, answer=answer: [answer], passes=True)  # type: ignore[misc]
    for status in (
        "301 Moved", "302 Found", "307 Temporary Redirect", "400 Bad Request", "401 Unauthorized",
        "403 Forbidden", "404 Not Found", "413 Too Large", "418 Teapot", "500 Oh", "502 Bad Gateway",
        "503 Busy", "504 Late", "599 What", "204 No Content", "304 Not Modified", "299 Fine",
    ):  # fmt: skip
        to = {"Location": "http://127.0.0.1:9/other"} if status.startswith("3") else {}
        for kind, body in (("JSON", b'{"error":"no"}'), ("a page", b"<html>no</html>"), ("nothing", b"")):
            answer = response(body, status, **to)
            yield Fault(f"status {status} with {kind}", lambda _, answer=answer: [answer], passes=True)  # type: ignore[misc]
    deep = response(b'{"error":' * 500, "400 No")
    yield Fault("an error of 500 levels", lambda _: [deep], passes=True)
    yield Fault("an endless error 500", lambda _: [response(b"[" * 100_000, "500 Oh"), SILENCE], passes=True)


def _transport() -> Iterator[Fault]:
    def slowly(d: Dialect) -> Iterator[bytes | None]:
        for step in answer_parts(d, TEXT):
            for at in range(0, len(step or b""), 7):
                time.sleep(0.002)
                yield (step or b"")[at : at + 7]

    def pack(d: Dialect, body: bytes, encoding: str = "gzip") -> list[bytes | None]:
        return [response(body, content_type=_STREAM[d], Content_Encoding=encoding)]

    def whole(d: Dialect) -> bytes:
        return delta(d, TEXT) + stop(d)

    yield Fault("slow, seven bytes at a time", slowly, TEXT)
    yield Fault("hung up before an answer", lambda _: [])
    yield Fault("reset before an answer", lambda _: [RESET])
    yield Fault("reset in the middle", lambda d: raw(d, piece(delta(d, TEXT)), RESET))
    yield Fault("silent", lambda _: [SILENCE])
    yield Fault("silent after the head", lambda d: raw(d, SILENCE))
    yield Fault("silent in the middle", lambda d: raw(d, piece(delta(d, TEXT)), SILENCE))
    yield Fault("gzip that is none", lambda d: pack(d, b"\x1f\x8b garbage" * 9))
    yield Fault("gzip unasked", lambda d: pack(d, gzip.compress(whole(d))), TEXT)
    yield Fault("gzip cut off", lambda d: pack(d, gzip.compress(whole(d))[:-12]))
    yield Fault("a gzip bomb", lambda d: pack(d, gzip.compress(bytes(50_000_000))))
    yield Fault("an unknown encoding", lambda d: pack(d, whole(d), "rot13"))
    for number, bad in enumerate(
        (b"zz\r\n", b"-1\r\nabc", b"5\r\nab\r\n", b"\xff\xfe\r\n", b"f" * 18 + b"\r\n")
    ):
        yield Fault(f"bad chunk {number}", lambda d, bad=bad: raw(d, piece(delta(d, TEXT)), bad))  # type: ignore[misc]
    yield Fault("no last chunk", lambda d: raw(d, piece(whole(d))), TEXT)
    yield Fault("cut in a chunk", lambda d: raw(d, piece(delta(d, TEXT) * 9)[:-30]))
    yield Fault("shorter than it said", lambda d: [response(whole(d), content_type=_STREAM[d])[:-40]])
    yield Fault(
        "two lengths",
        lambda d: [response(whole(d), content_type=_STREAM[d], content_length="7")],
    )
    yield Fault("no HTTP", lambda _: [b"SSH-2.0-OpenSSH_9.2\r\n"])
    yield Fault("a bad status line", lambda _: [b"HTTP/1.1 abc\r\n\r\n"])
    yield Fault("a header of 300 KB", lambda _: [response(b"{}", X_Long="a" * 300_000)])
    yield Fault("100,000 headers", lambda _: [b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000 + b"\r\n"])
    yield Fault("a line break in a header", lambda _: [b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n{}"])
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    yield Fault("early hints", lambda d: [hints, response(whole(d), content_type=_STREAM[d])], TEXT)


def _contents() -> Iterator[Fault]:
    yield from _nonsense()
    yield Fault("empty", lambda d: stream(d))
    yield Fault("stopped without a word", lambda d: stream(d, stop(d)))
    yield Fault("ended without an end", lambda d: stream(d, delta(d, TEXT)))
    yield Fault("only thinking", lambda d: stream(d, _think(d, "Hm, so"), stop(d)))
    yield Fault("thinking without an end", lambda d: stream(d, delta(d, "<think>Hm, so"), stop(d)))
    markup = '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}</tool_call>'
    yield Fault("tool markup as text", lambda d: stream(d, delta(d, markup), stop(d)))
    for name, calls in {
        "nobody asked for": [{"id": "c1", "index": 0, "function": {"name": "shell", "arguments": "{}"}}],
        "without a name": [{"function": {}}], "of numbers": [1, 2], "as text": "call it", "as an object": {},
        "with deep arguments": [{"function": {"name": "a", "arguments": "[" * 2_000}}],
    }.items():  # fmt: skip
        yield Fault(
            f"tool calls {name}",
            lambda d, calls=calls: stream(d, delta(d, "", tool_calls=calls), stop(d)),  # type: ignore[misc]
        )
    yield Fault(
        "text after the end",
        lambda d: stream(d, delta(d, TEXT), stop(d), delta(d, "More."), stop(d)),
        TEXT,
    )
    yield Fault("another model's name", lambda d: stream(d, *_renamed(d)), TEXT)
    yield Fault("an error in the middle", lambda d: stream(d, delta(d, TEXT), _error(d)), passes=True)
    yield Fault("an error as the answer", lambda d: stream(d, _error(d)), passes=True)
    yield Fault(
        "text that is no UTF-8", lambda d: stream(d, delta(d, "A@").replace(b"@", b"\xff\xfe"), stop(d))
    )
    yield Fault("half a surrogate", lambda d: stream(d, delta(d, "A@").replace(b"@", b"\\ud800"), stop(d)))
    yield Fault("a NUL", lambda d: stream(d, delta(d, "A@").replace(b"@", b"\\u0000"), stop(d)))
    yield Fault("a byte order mark", lambda d: stream(d, b"\xef\xbb\xbf" + delta(d, TEXT), stop(d)))
    split = delta("ollama", "Grüße").replace(b"\\u00fc", "ü".encode()).replace(b"\\u00df", "ß".encode())
    yield Fault("letters cut in two", lambda d: stream(d, *_bytewise(d, split)), "Grüße")
    for kind in ("text/plain", "application/json", "", "text/html", "a/b;;;=", "application/octet-stream"):
        yield Fault(
            f"content type '{kind}'",
            lambda d, kind=kind: stream(d, delta(d, TEXT), stop(d), kind=kind),  # type: ignore[misc]
        )


def _nonsense() -> Iterator[Fault]:
    for name, body in {
        "a page": b"<html>hi</html>", "words": b"not JSON", "null": b"null", "a list": b"[]",
        "a number": b"7", "an empty object": b"{}", "deep JSON": b"[" * 100_000,
        "a deep object": b'{"a":' * 50_000,
    }.items():  # fmt: skip
        for kind in ("application/json", "text/html"):
            answer = response(body, content_type=kind)
            yield Fault(f"{name} as {kind}", lambda _, answer=answer: [answer])  # type: ignore[misc]
        yield Fault(
            f"{name} in the stream",
            lambda d, body=body: stream(d, delta(d, TEXT), _framed(d, body)),  # type: ignore[misc]
        )
    for name, content in (("a number", 7), ("a list", ["a"]), ("an object", {"a": 1}), ("null", None)):
        yield Fault(
            f"text that is {name}",
            lambda d, content=content: stream(d, delta(d, content), stop(d)),  # type: ignore[misc]
        )


def _endless() -> Iterator[Fault]:
    def again(d: Dialect, data: bytes, first: bytes = b"") -> Iterator[bytes | None]:
        yield from raw(d, piece(first or data))
        # Far more than the answer may have, in pieces of 50 KB.
        block = piece(data * max(1, 50_000 // len(data)))
        for _ in range(2_000):
            yield block

    yield Fault("endless", lambda d: again(d, delta(d, "word ")))
    yield Fault("endless thinking", lambda d: again(d, _think(d, "hm ")))
    yield Fault("a line without an end", lambda d: again(d, b"a" * 1000, delta(d, TEXT)[:-3]))
    yield Fault("empty lines without an end", lambda d: again(d, b"\n"))


def _framed(dialect: Dialect, body: bytes) -> bytes:
    return body + b"\n" if dialect == "ollama" else b"data: " + body + b"\n\n"


def _think(dialect: Dialect, text: str) -> bytes:
    return delta(dialect, "", **{"thinking" if dialect == "ollama" else "reasoning_content": text})


def _error(dialect: Dialect) -> bytes:
    return _framed(dialect, b'{"error":"the model runner has stopped"}')


def _renamed(dialect: Dialect) -> Sequence[bytes]:
    other = b'"model": "other"'
    return [
        part.replace(b'"model": "fake"', other).replace(b'"id": "x"', b'"id": "x", ' + other)
        for part in (delta(dialect, TEXT), stop(dialect))
    ]


def _bytewise(dialect: Dialect, line: bytes) -> Iterator[bytes]:
    """An answer whose text comes byte by byte."""
    if dialect == "openai":
        line = delta("openai", "@").replace(b"@", "Grüße".encode())
    yield from (line[at : at + 1] for at in range(len(line)))
    yield stop(dialect)


FAULTS: tuple[Fault, ...] = (*_odd_counts(), *_refusals(), *_transport(), *_contents(), *_endless())


class Stage:
    """The server; `fault` is what it does with the next chats, None answers them."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect, self.fault, self.url = dialect, None, ""  # type: tuple[Dialect, Fault | None, str]

    def play(self, request: bytes) -> Script:
        head = request.split(b"\r\n", 1)[0]
        if b"/chat" in head or b"/generate" in head or b"/completions" in head:
            return self.fault.play(self.dialect) if self.fault else answer_parts(self.dialect)
        return [response(json.dumps(self._describe(head)).encode())]

    def _describe(self, head: bytes) -> object:
        """Return what a good server says about itself and its models."""
        if self.dialect == "openai":
            return {"data": [{"id": MODEL, "object": "model"}]} if b"/v1/models" in head else {"error": "no"}
        if b"/api/version" in head:
            return {"version": "0.30.0"}
        if b"/api/show" in head:
            return {"model_info": {"general.architecture": "llama", "llama.context_length": 8192}}
        return {"models": [{"name": MODEL, "model": MODEL}] if b"/api/tags" in head else []}

    @contextmanager
    def served(self) -> Iterator[str]:
        with hostile(self.play) as server:
            yield f"{self.dialect}+{server.url}" + ("/v1" if self.dialect == "openai" else "")
