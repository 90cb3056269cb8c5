"""A server that speaks Ollama's protocol and answers as it is told.

    with FakeOllama(lambda call: "Hello.", models=[FakeModel("tiny", num_ctx=2048)]).served() as url: ...

It cuts long prompts silently, reloads a model when its window changes and reuses the prefix it has seen, as
the real one does.
"""

import asyncio
import base64
import binascii
import hashlib
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from holdfast.errors import BadRequest
from holdfast.messages import JsonObject, canonical
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import expect, parse_json, parse_object
from holdfast.testing.provider import serve_app
from tests.fakes.ollama_runner import (
    NUM_KEEP,
    AnswerFunction,
    AnswerPiece,
    DoesNotFit,
    FakeModel,
    Generation,
    ModelCall,
    ModelLoad,
    PromptLimits,
    Runner,
    Tokenize,
    chat_tokens,
    cut_prompt,
    echo,
    render_text,
    split_words,
)

# Pulling this never ends, as large models seem to.
ENDLESS = "endless"

_Handler = Callable[[dict[str, Any]], Response]

_LOAD_NS, _QUICK_NS, _TOKEN_NS = 500_000_000, 10_000_000, 1_000_000
_MODIFIED = "2026-01-01T00:00:00Z"
_DIMENSIONS = 16
_UNLOAD = (0, "0", "0s")


class ModelManager:
    """`blobs` are the sizes of what was uploaded; `abandoned` is set when somebody leaves during progress."""

    def __init__(self, runner: Runner, abandoned: threading.Event) -> None:
        self.blobs: dict[str, int] = {}
        self._runner = runner
        self._abandoned = abandoned

    def routes(self) -> list[Route]:
        return [
            Route("/api/pull", self._json(self.pull), methods=["POST"]),
            Route("/api/push", self._json(self.push), methods=["POST"]),
            Route("/api/create", self._json(self.create), methods=["POST"]),
            Route("/api/copy", self._json(self.copy), methods=["POST"]),
            Route("/api/delete", self._json(self.delete), methods=["DELETE"]),
            Route("/api/blobs/{digest}", self.has_blob, methods=["HEAD"]),
            Route("/api/blobs/{digest}", self.take_blob, methods=["POST"]),
        ]

    def _json(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                return handler(parse_object(await request.body()))
            except BadRequest as refused:
                return JSONResponse({"error": str(refused)}, 400)

        return endpoint

    def pull(self, body: dict[str, Any]) -> Response:
        name = model_name(body)
        digest = hashlib.sha256(name.encode()).hexdigest()
        steps = [{"status": "pulling manifest"}]
        if name != ENDLESS:
            self._add(name)
            steps += [{"status": "verifying sha256 digest"}, {"status": "writing manifest"}]
        part = {"status": f"pulling {digest[:12]}", "digest": f"sha256:{digest}", "total": 1_000_000}
        return self._progress(body, steps, endless=part if name == ENDLESS else None)

    def push(self, body: dict[str, Any]) -> Response:
        if self._runner.find(model_name(body)) is None:
            return self._progress(body, [], error="file does not exist")
        return self._progress(body, [{"status": "retrieving manifest"}, {"status": "pushing manifest"}])

    def create(self, body: dict[str, Any]) -> Response:
        name = model_name(body)
        if not body.get("from") and not body.get("files"):
            return JSONResponse({"error": "neither 'from' or 'files' was specified"}, 400)
        self._add(name)
        return self._progress(body, [{"status": "using existing layer"}, {"status": "writing manifest"}])

    def copy(self, body: dict[str, Any]) -> Response:
        source = self._runner.find(str(body.get("source")))
        if source is None:
            return JSONResponse({"error": f'model "{body.get("source")}" not found'}, 404)
        name = add_tag(str(body.get("destination")))
        self._runner.models[name] = replace(source, name=name)
        return Response()

    def delete(self, body: dict[str, Any]) -> Response:
        known = self._runner.find(model_name(body))
        if known is None:
            return JSONResponse({"error": f"model '{model_name(body)}' not found"}, 404)
        self._runner.unload(known)
        del self._runner.models[known.name]
        return Response()

    async def has_blob(self, request: Request) -> Response:
        return Response(status_code=200 if request.path_params["digest"] in self.blobs else 404)

    async def take_blob(self, request: Request) -> Response:
        digest, size, wanted = hashlib.sha256(), 0, request.path_params["digest"]
        async for data in request.stream():
            digest.update(data)
            size += len(data)
        if wanted != f"sha256:{digest.hexdigest()}":
            return JSONResponse({"error": "digest mismatch"}, 400)
        self.blobs[wanted] = size
        return Response(status_code=201)

    def _add(self, name: str) -> None:
        self._runner.models[add_tag(name)] = FakeModel(add_tag(name))

    def _progress(
        self,
        body: dict[str, Any],
        steps: Sequence[dict[str, Any]],
        *,
        endless: dict[str, Any] | None = None,
        error: str = "",
    ) -> Response:
        if body.get("stream") is False:
            return JSONResponse({"error": error}, 500) if error else JSONResponse({"status": "success"})
        last = {"error": error} if error else {"status": "success"}
        return StreamingResponse(self._lines([*steps, last], endless), media_type="application/x-ndjson")

    async def _lines(
        self, steps: Sequence[dict[str, Any]], endless: dict[str, Any] | None
    ) -> AsyncIterator[str]:
        done = 0
        try:
            while endless is not None:
                done += 1
                yield f"{canonical(endless | {'completed': done})}\n"
                await asyncio.sleep(0.001)
        except (asyncio.CancelledError, GeneratorExit):
            self._abandoned.set()
            raise
        for step in steps:
            yield f"{canonical(step)}\n"


def model_name(body: dict[str, Any]) -> str:
    """The model; older clients call it `name`."""
    name = body.get("model") or body.get("name")
    if not isinstance(name, str):
        raise BadRequest("model is required")
    return name


def add_tag(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


class FakeWriter(Protocol):
    media_type: str

    def piece(self, piece: AnswerPiece) -> bytes: ...

    def error(self, message: str) -> bytes: ...

    def end(self, generation: Generation) -> bytes: ...

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]: ...


def timestamp() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def join_pieces(pieces: Iterable[AnswerPiece]) -> tuple[str, str, list[tuple[str, Mapping[str, Any]]]]:
    all_pieces = list(pieces)
    text = "".join(piece.text for piece in all_pieces)
    thinking = "".join(piece.thinking for piece in all_pieces)
    return text, thinking, [piece.call for piece in all_pieces if piece.call is not None]


class NativeWriter:
    """Lines of JSON for `/api/chat` or `/api/generate`; newer servers tell how much was `cached`."""

    media_type = "application/x-ndjson"

    def __init__(
        self, model: str, *, generate: bool = False, context: Sequence[int] = (), cached: bool = True
    ) -> None:
        self._model = model
        self._generate = generate
        self._context = context
        self._cached = cached

    def line(self, pieces: Sequence[AnswerPiece] = (), **rest: Any) -> dict[str, Any]:
        text, thinking, calls = join_pieces(pieces)
        message: dict[str, Any] = {"thinking": thinking} if thinking else {}
        if calls:
            message["tool_calls"] = [
                {"function": {"name": name, "arguments": dict(arguments)}} for name, arguments in calls
            ]
        line: dict[str, Any] = {"model": self._model, "created_at": timestamp()}
        if self._generate:
            return line | {"response": text, **message, **rest}
        return line | {"message": {"role": "assistant", "content": text, **message}, **rest}

    def piece(self, piece: AnswerPiece) -> bytes:
        return json_line(self.line([piece], done=False, **piece.fields))

    def error(self, message: str) -> bytes:
        return json_line({"error": message})

    def end(self, generation: Generation) -> bytes:
        return json_line(self.line(**self._metrics(generation)))

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]:
        parts = list(pieces)
        # Lists like `logprobs` go on from piece to piece.
        lists: dict[str, Any] = {}
        for name, value in (item for piece in parts for item in piece.fields.items()):
            lists[name] = [*lists.get(name, ()), *value]
        return self.line(parts, **self._metrics(generation), **lists)

    def _metrics(self, generation: Generation) -> dict[str, Any]:
        load = _LOAD_NS if generation.loaded else _QUICK_NS
        read = _TOKEN_NS * (generation.prompt - generation.cached)
        write = _TOKEN_NS * generation.count
        return {
            "done_reason": generation.reason,
            "done": True,
            **({"context": list(self._context)} if self._context else {}),
            "total_duration": load + read + write,
            "load_duration": load,
            "prompt_eval_count": generation.prompt,
            **({"prompt_eval_cached_count": generation.cached} if self._cached else {}),
            "prompt_eval_duration": read,
            "eval_count": generation.count,
            "eval_duration": write,
        }


class OpenAIStyleWriter:
    """Events for `/v1/chat/completions`."""

    media_type = "text/event-stream"

    def __init__(self, model: str, *, include_usage: bool) -> None:
        self._include_usage = include_usage
        self._base = {
            "id": "chatcmpl-326",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": "fp_ollama",
        }
        self._called = False

    def piece(self, piece: AnswerPiece) -> bytes:
        return self._event(self._message([piece]), None)

    def error(self, message: str) -> bytes:
        return f"data: {canonical(openai_error(message))}\n\n".encode()

    def end(self, generation: Generation) -> bytes:
        events = self._event({"role": "assistant", "content": ""}, self._reason(generation))
        if self._include_usage:
            usage = {**self._base, "choices": [], "usage": count_usage(generation)}
            events += f"data: {canonical(usage)}\n\n".encode()
        return events + b"data: [DONE]\n\n"

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]:
        message = self._message(list(pieces))
        choice = {"index": 0, "message": message, "finish_reason": self._reason(generation)}
        return {
            **self._base,
            "object": "chat.completion",
            "choices": [choice],
            "usage": count_usage(generation),
        }

    def _event(self, delta: dict[str, Any], reason: str | None) -> bytes:
        event = {**self._base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        return f"data: {canonical(event)}\n\n".encode()

    def _reason(self, generation: Generation) -> str:
        return "tool_calls" if self._called and generation.reason == "stop" else generation.reason

    def _message(self, pieces: Sequence[AnswerPiece]) -> dict[str, Any]:
        text, thinking, calls = join_pieces(pieces)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thinking:
            message["reasoning"] = thinking
        if calls:
            self._called = True
            message["tool_calls"] = [
                {
                    "id": f"call_{index}",
                    "index": index,
                    "type": "function",
                    "function": {"name": name, "arguments": canonical(arguments)},
                }
                for index, (name, arguments) in enumerate(calls)
            ]
        return message


def openai_error(message: str) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": message, "type": "api_error", "param": None, "code": None}}


def count_usage(generation: Generation) -> dict[str, int]:
    prompt, completion = generation.prompt, generation.count
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def json_line(value: Mapping[str, Any]) -> bytes:
    return f"{canonical(value)}\n".encode()


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _HangUp(Exception):
    """Ends an answer in the middle: uvicorn hangs up when an app stops before it is done."""


class FakeOllama:
    """`requests` is what came in, `loads` and `calls` what was made of it.

    `old` behaves like the versions from before llama-server, 0.9 for one.
    """

    def __init__(
        self,
        answer: AnswerFunction = echo,
        *,
        models: Sequence[FakeModel] = (FakeModel(),),
        tokenize: Tokenize = split_words,
        default_num_ctx: int = 4096,
        old: bool = False,
    ) -> None:
        self.requests: list[tuple[str, JsonObject]] = []
        # Set when somebody hung up before the end of an answer.
        self.abandoned = threading.Event()
        self._old = old
        # What a chat is told of a model that is not there.
        self._missing = 'model "{}" not found, try pulling it first' if old else "model '{}' not found"
        self._runner = Runner(models, answer, tokenize, default_num_ctx)
        self._managing = ModelManager(self._runner, self.abandoned)
        self._app = Starlette(
            routes=[
                Route("/", lambda _: PlainTextResponse("Ollama is running")),
                Route("/api/version", lambda _: JSONResponse({"version": "0.9.6" if old else "0.30.0"})),
                Route("/api/tags", self.tags),
                Route("/api/ps", self.ps),
                self._post("/api/show", self.show),
                self._post("/api/chat", self.chat),
                self._post("/api/generate", self.generate),
                self._post("/api/embed", self.embed),
                self._post("/api/embeddings", self.embeddings),
                self._post("/api/experimental/web_search", self.search_web),
                *self._managing.routes(),
                Route("/v1/models", self.v1_models),
                Route("/v1/models/{model:path}", self.v1_model),
                self._post("/v1/chat/completions", self.v1_chat, openai_error),
            ],
            exception_handlers={404: no_page, 405: no_page},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(_HangUp):
            await self._app(scope, receive, send)

    def served(self) -> AbstractContextManager[str]:
        """Runs it on a free port; the value of the context is its address."""
        return serve_app(self)

    @property
    def loads(self) -> list[ModelLoad]:
        """Every time a model was loaded: one more than expected means that its cache was lost."""
        return self._runner.loads

    @property
    def blobs(self) -> dict[str, int]:
        """The size of every blob that was uploaded, by its digest."""
        return self._managing.blobs

    @property
    def calls(self) -> list[ModelCall]:
        """Every generation, with the prompt that was left after all cuts."""
        return self._runner.calls

    def _post(
        self,
        path: str,
        handler: Callable[[dict[str, Any]], Response],
        error: Callable[[str], dict[str, Any]] = lambda message: {"error": message},
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            content = await request.body()
            try:
                body = _object(content)
                self.requests.append((path, body))
                return handler(body)
            except _Refusal as refused:
                return JSONResponse(error(str(refused)), refused.status)
            except (BadRequest, DoesNotFit) as refused:
                return JSONResponse(error(str(refused)), 400)

        return Route(path, endpoint, methods=["POST"])

    def tags(self, _: Request) -> Response:
        return JSONResponse({"models": [list_entry(model) for model in self._runner.models.values()]})

    def ps(self, _: Request) -> Response:
        models = []
        for name, load in self._runner.running.items():
            item = list_entry(self._runner.models[name]) | {"expires_at": timestamp(), "size_vram": 0}
            del item["modified_at"]
            models.append(item if self._old else item | {"context_length": load.num_ctx})
        return JSONResponse({"models": models})

    def search_web(self, body: dict[str, Any]) -> Response:
        page = {"title": body.get("query"), "url": "https://example.org", "content": "A page.", "score": 0.5}
        return JSONResponse({"results": [page]})

    def v1_models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [openai_model(name) for name in self._runner.models]})

    def v1_model(self, request: Request) -> Response:
        name = request.path_params["model"]
        if self._runner.find(name) is None:
            return JSONResponse(openai_error(f"model '{name}' not found"), 404)
        return JSONResponse(openai_model(name))

    def show(self, body: dict[str, Any]) -> Response:
        model = self._model(body, "model '{}' not found")
        facts: dict[str, Any] = {
            "general.architecture": model.family,
            f"{model.family}.context_length": model.trained_window,
            **model.facts,
        }
        if not body.get("verbose"):
            # Vocabularies are long: by default only their names are told.
            facts = {name: None if isinstance(value, list) else value for name, value in facts.items()}
        parameters = {"parameters": f"num_ctx{' ' * 24}{model.num_ctx}"} if model.num_ctx else {}
        return JSONResponse(
            {
                "modelfile": f"FROM {model.name}",
                **parameters,
                "template": "{{ range .Messages }}<{{ .Role }}>{{ .Content }}<end>{{ end }}<assistant>",
                "details": model_details(model),
                "model_info": facts,
                "capabilities": list(model.capabilities),
                "modified_at": _MODIFIED,
            }
        )

    def chat(self, body: dict[str, Any]) -> Response:
        model = self._model(body, self._missing)
        writer = NativeWriter(body["model"], cached=not self._old)
        messages = body.get("messages") or []
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise _Refusal(400, "json: cannot unmarshal into Go struct field ChatRequest.messages")
        if not messages:
            return JSONResponse(writer.line(**self._only_loaded(model, body)))
        if body.get("_debug_render_only") and not self._old:
            text = render_text(visible_messages(model, messages), body.get("tools") or [])
            return JSONResponse({"model": body["model"], "_debug_info": {"rendered_template": text}})
        return self._respond(self._answer(model, body, messages), writer, body)

    def generate(self, body: dict[str, Any]) -> Response:
        model = self._model(body, "model '{}' not found")
        prompt = expect(body.get("prompt") or "", str, "prompt")
        if not prompt:
            line = NativeWriter(body["model"], generate=True).line(**self._only_loaded(model, body))
            return JSONResponse(line)
        if body.get("suffix"):
            require_capability(model, "insert")
        generation = self._answer(model, body, [])
        context = [] if body.get("raw") else list(range(generation.prompt))
        writer = NativeWriter(body["model"], generate=True, context=context, cached=not self._old)
        return self._respond(generation, writer, body)

    def v1_chat(self, body: dict[str, Any]) -> Response:
        """Ollama translates into its own request; there is no place for a window or for `truncate` in it."""
        if body.get("messages") == []:
            raise _Refusal(400, "[] is too short - 'messages'")
        own = ollama.serialize_request(openai_chat.parse_request(body))
        model = self._model(own, self._missing)
        usage = (body.get("stream_options") or {}).get("include_usage") is True
        generation = self._answer(model, own, own["messages"])
        return self._respond(generation, OpenAIStyleWriter(body["model"], include_usage=usage), own)

    def embed(self, body: dict[str, Any]) -> Response:
        model = self._model(body, 'model "{}" not found, try pulling it first')
        given = body.get("input") or []
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _Refusal(400, "invalid input type")
        window = self._runner.window(model, _options(body).get("num_ctx"))
        running = self._runner.running.get(model.name)
        self._runner.load(model, window, shift=running is None or running.shift)
        tokens = [self._runner.tokenize(text) for text in texts]
        if body.get("truncate") is False and any(len(part) > window for part in tokens):
            reason = "exceeds maximum context length" if self._old else "exceeds the context length"
            raise _Refusal(400, f"the input length {reason}")
        tokens = [part[:window] for part in tokens]
        answer = {"model": body["model"], "embeddings": [hash_vector(part) for part in tokens]}
        if texts:
            count = sum(map(len, tokens))
            answer |= {"total_duration": 1, "load_duration": 1, "prompt_eval_count": count}
        return JSONResponse(answer)

    def embeddings(self, body: dict[str, Any]) -> Response:
        """The older way: one text, one vector."""
        self._model(body, 'model "{}" not found, try pulling it first')
        prompt = expect(body.get("prompt") or "", str, "prompt")
        return JSONResponse({"embedding": hash_vector(self._runner.tokenize(prompt)) if prompt else []})

    def _model(self, body: dict[str, Any], missing: str) -> FakeModel:
        name = expect(body.get("model") or "", str, "model")
        if not name:
            raise _Refusal(400, "model is required")
        model = self._runner.find(name)
        if model is None:
            raise _Refusal(404, missing.format(name))
        return model

    def _only_loaded(self, model: FakeModel, body: dict[str, Any]) -> dict[str, Any]:
        """A request without words loads a model, or lets go of it."""
        if body.get("keep_alive") in _UNLOAD:
            self._runner.unload(model)
            return {"done_reason": "unload", "done": True}
        window = self._runner.window(model, _options(body).get("num_ctx"))
        self._runner.load(model, window, shift=self._shift(body))
        return {"done_reason": "load", "done": True}

    def _shift(self, body: dict[str, Any]) -> bool:
        return self._old or body.get("shift") is not False

    def _answer(
        self, model: FakeModel, body: dict[str, Any], messages: Sequence[dict[str, Any]]
    ) -> Generation:
        tools, options = body.get("tools") or [], _options(body)
        if tools:
            require_capability(model, "tools")
        if body.get("think"):
            require_capability(model, "thinking")
        shift = self._shift(body)
        window = self._runner.window(model, options.get("num_ctx"))
        limits = PromptLimits(
            window,
            truncate=body.get("truncate") is not False,
            keep=options.get("num_keep", NUM_KEEP),
            before_llama_server=self._old,
        )
        loaded = self._runner.load(model, window, shift=shift)
        if messages:
            prompt = chat_tokens(visible_messages(model, messages), tools, self._runner.tokenize, limits)
        else:
            prompt = cut_prompt(self._runner.tokenize(f"{body.get('system') or ''} {body['prompt']}"), limits)
        ends = [options.get("num_predict") or -1, -1 if shift else window - len(prompt)]
        limit = min((end for end in ends if end >= 0), default=None)
        return self._runner.generate(ModelCall(model.name, prompt, body), loaded=loaded, limit=limit)

    def _respond(self, generation: Generation, writer: FakeWriter, body: dict[str, Any]) -> Response:
        if body.get("stream") is not False:
            return _ClosingStream(self._stream(generation, writer), media_type=writer.media_type)
        whole = writer.whole(list(generation), generation)
        if generation.reply.error:
            raise _Refusal(500, generation.reply.error)
        return JSONResponse(whole)

    async def _stream(self, generation: Generation, writer: FakeWriter) -> AsyncIterator[bytes]:
        try:
            for piece in generation:
                yield writer.piece(piece)
                # Slow enough that no test reaches the end of the window.
                await asyncio.sleep(0.001 if generation.reply.endless else 0)
        except (asyncio.CancelledError, GeneratorExit):
            self.abandoned.set()
            raise
        if generation.reply.error:
            yield writer.error(generation.reply.error)
        elif generation.reply.breaks:
            raise _HangUp
        else:
            yield writer.end(generation)


class _ClosingStream(StreamingResponse):
    """Closes its source when it ends, for whatever reason."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self.body_iterator, AsyncGenerator):
                await self.body_iterator.aclose()


async def no_page(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("404 page not found", 404)


def _object(content: bytes) -> dict[str, Any]:
    if not content:
        raise _Refusal(400, "missing request body")
    body = parse_json(content)
    if not isinstance(body, dict):
        raise _Refusal(400, "json: cannot unmarshal into a Go struct")
    return body


def _options(body: dict[str, Any]) -> dict[str, Any]:
    options = expect(body.get("options") or {}, dict, "options")
    for name in ("num_ctx", "num_keep", "num_predict"):
        if not isinstance(options.get(name, 0), int | float):
            raise _Refusal(400, f'option "{name}" must be of type integer')
    return options


def require_capability(model: FakeModel, capability: str) -> None:
    if capability not in model.capabilities:
        raise _Refusal(400, f"registry.ollama.ai/library/{model.name} does not support {capability}")


def visible_messages(model: FakeModel, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as the model gets them: one that cannot see is not told that there were pictures."""
    for data in (image for message in messages for image in message.get("images") or ()):
        try:
            base64.b64decode(data, validate=True)
        except (binascii.Error, TypeError):
            raise _Refusal(400, "illegal base64 data at input byte 0") from None
    if "vision" in model.capabilities:
        return list(messages)
    return [{name: value for name, value in message.items() if name != "images"} for message in messages]


def model_details(model: FakeModel) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": model.parameter_size,
        "quantization_level": model.quantization,
    }


def list_entry(model: FakeModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _MODIFIED,
        "size": 1_000_000,
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),
        "details": model_details(model),
    }


def openai_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "library"}


def hash_vector(tokens: Sequence[str]) -> list[float]:
    """The same for the same tokens in any order, of length one, unlike for unlike ones."""
    sums = [0.0] * _DIMENSIONS
    for token in tokens:
        for index, byte in enumerate(hashlib.sha256(token.lower().encode()).digest()[:_DIMENSIONS]):
            sums[index] += byte - 127.5
    length = sum(value * value for value in sums) ** 0.5 or 1.0
    return [value / length for value in sums]
