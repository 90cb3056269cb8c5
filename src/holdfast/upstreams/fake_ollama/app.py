"""The fake Ollama as an ASGI app: its routes, its checks, and what it remembers.

Knows the protocol; how answers come about and how they are written is in the modules beside it.
"""

import asyncio
import base64
import binascii
import hashlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from holdfast.errors import BadRequest
from holdfast.messages import JsonObject
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import expect, parse_json
from holdfast.upstreams.fake_ollama import wire
from holdfast.upstreams.fake_ollama.managing import ModelManager
from holdfast.upstreams.fake_ollama.prompt import (
    NUM_KEEP,
    DoesNotFit,
    PromptLimits,
    Tokenize,
    chat_tokens,
    cut_prompt,
    render_text,
    split_words,
)
from holdfast.upstreams.fake_ollama.runner import (
    AnswerFunction,
    FakeModel,
    Generation,
    ModelCall,
    ModelLoad,
    Runner,
    echo,
)
from holdfast.upstreams.serving import serve_app

_MODIFIED = "2026-01-01T00:00:00Z"
_DIMENSIONS = 16
_UNLOAD = (0, "0", "0s")


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
        self._runner = Runner(models, answer, tokenize, default_num_ctx)
        self._managing = ModelManager(self._runner, self.abandoned)
        self._app = Starlette(
            routes=[
                Route("/", lambda _: PlainTextResponse("Ollama is running")),
                Route("/api/version", lambda _: JSONResponse({"version": "0.9.6" if old else "0.30.0"})),
                Route("/api/tags", self._tags),
                Route("/api/ps", self._ps),
                self._post("/api/show", self._show),
                self._post("/api/chat", self._chat),
                self._post("/api/generate", self._generate),
                self._post("/api/embed", self._embed),
                self._post("/api/embeddings", self._embeddings),
                *self._managing.routes(),
                Route("/v1/models", self._v1_models),
                Route("/v1/models/{model:path}", self._v1_model),
                self._post("/v1/chat/completions", self._v1_chat, wire.openai_error),
            ],
            exception_handlers={404: _no_page, 405: _no_page},
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

    def _tags(self, _: Request) -> Response:
        return JSONResponse({"models": [_list_entry(model) for model in self._runner.models.values()]})

    def _ps(self, _: Request) -> Response:
        models = []
        for name, load in self._runner.running.items():
            item = _list_entry(self._runner.models[name]) | {"expires_at": wire.timestamp(), "size_vram": 0}
            del item["modified_at"]
            models.append(item if self._old else item | {"context_length": load.num_ctx})
        return JSONResponse({"models": models})

    def _v1_models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_v1(name) for name in self._runner.models]})

    def _v1_model(self, request: Request) -> Response:
        name = request.path_params["model"]
        if self._runner.find(name) is None:
            return JSONResponse(wire.openai_error(f"model '{name}' not found"), 404)
        return JSONResponse(_v1(name))

    def _show(self, body: dict[str, Any]) -> Response:
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
                "details": _details(model),
                "model_info": facts,
                "capabilities": list(model.capabilities),
                "modified_at": _MODIFIED,
            }
        )

    def _chat(self, body: dict[str, Any]) -> Response:
        model = self._model(body, 'model "{}" not found, try pulling it first')
        writer = wire.NativeWriter(body["model"], cached=not self._old)
        messages = body.get("messages") or []
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise _Refusal(400, "json: cannot unmarshal into Go struct field ChatRequest.messages")
        if not messages:
            return JSONResponse(writer.line(**self._only_loaded(model, body)))
        if body.get("_debug_render_only") and not self._old:
            text = render_text(_seen(model, messages), body.get("tools") or [])
            return JSONResponse({"model": body["model"], "_debug_info": {"rendered_template": text}})
        return self._respond(self._answered(model, body, messages), writer, body)

    def _generate(self, body: dict[str, Any]) -> Response:
        model = self._model(body, "model '{}' not found")
        prompt = expect(body.get("prompt") or "", str, "prompt")
        if not prompt:
            line = wire.NativeWriter(body["model"], generate=True).line(**self._only_loaded(model, body))
            return JSONResponse(line)
        if body.get("suffix"):
            _needs(model, "insert")
        generation = self._answered(model, body, [])
        context = [] if body.get("raw") else list(range(generation.prompt))
        writer = wire.NativeWriter(body["model"], generate=True, context=context, cached=not self._old)
        return self._respond(generation, writer, body)

    def _v1_chat(self, body: dict[str, Any]) -> Response:
        """Ollama translates into its own request; there is no place for a window or for `truncate` in it."""
        if body.get("messages") == []:
            raise _Refusal(400, "[] is too short - 'messages'")
        own = ollama.serialize_request(openai_chat.parse_request(body))
        model = self._model(own, 'model "{}" not found, try pulling it first')
        usage = (body.get("stream_options") or {}).get("include_usage") is True
        generation = self._answered(model, own, own["messages"])
        return self._respond(generation, wire.OpenAIStyleWriter(body["model"], include_usage=usage), own)

    def _embed(self, body: dict[str, Any]) -> Response:
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
            told = "exceeds maximum context length" if self._old else "exceeds the context length"
            raise _Refusal(400, f"the input length {told}")
        tokens = [part[:window] for part in tokens]
        answer = {"model": body["model"], "embeddings": [_vector(part) for part in tokens]}
        if texts:
            count = sum(map(len, tokens))
            answer |= {"total_duration": 1, "load_duration": 1, "prompt_eval_count": count}
        return JSONResponse(answer)

    def _embeddings(self, body: dict[str, Any]) -> Response:
        """The older way: one text, one vector."""
        self._model(body, 'model "{}" not found, try pulling it first')
        prompt = expect(body.get("prompt") or "", str, "prompt")
        return JSONResponse({"embedding": _vector(self._runner.tokenize(prompt)) if prompt else []})

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

    def _answered(
        self, model: FakeModel, body: dict[str, Any], messages: Sequence[dict[str, Any]]
    ) -> Generation:
        tools, options = body.get("tools") or [], _options(body)
        if tools:
            _needs(model, "tools")
        if body.get("think"):
            _needs(model, "thinking")
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
            prompt = chat_tokens(_seen(model, messages), tools, self._runner.tokenize, limits)
        else:
            prompt = cut_prompt(self._runner.tokenize(f"{body.get('system') or ''} {body['prompt']}"), limits)
        ends = [options.get("num_predict") or -1, -1 if shift else window - len(prompt)]
        limit = min((end for end in ends if end >= 0), default=None)
        return self._runner.generate(ModelCall(model.name, prompt, body), loaded=loaded, limit=limit)

    def _respond(self, generation: Generation, writer: wire.AnswerWriter, body: dict[str, Any]) -> Response:
        if body.get("stream") is not False:
            return _ClosingStream(self._stream(generation, writer), media_type=writer.media_type)
        whole = writer.whole(list(generation), generation)
        if generation.reply.error:
            raise _Refusal(500, generation.reply.error)
        return JSONResponse(whole)

    async def _stream(self, generation: Generation, writer: wire.AnswerWriter) -> AsyncIterator[bytes]:
        try:
            for piece in generation:
                yield writer.piece(piece)
                # Even an endless answer ends with the window, but nobody should see that.
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
    """Ends its source with itself, whoever ended it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self.body_iterator, AsyncGenerator):
                await self.body_iterator.aclose()


async def _no_page(_request: Request, _error: Exception) -> Response:
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


def _needs(model: FakeModel, capability: str) -> None:
    if capability not in model.capabilities:
        raise _Refusal(400, f"registry.ollama.ai/library/{model.name} does not support {capability}")


def _seen(model: FakeModel, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as the model gets them: one that cannot see is not told that there were pictures."""
    for data in (image for message in messages for image in message.get("images") or ()):
        try:
            base64.b64decode(data, validate=True)
        except (binascii.Error, TypeError):
            raise _Refusal(400, "illegal base64 data at input byte 0") from None
    if "vision" in model.capabilities:
        return list(messages)
    return [{name: value for name, value in message.items() if name != "images"} for message in messages]


def _details(model: FakeModel) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family],
        "parameter_size": model.parameter_size,
        "quantization_level": model.quantization,
    }


def _list_entry(model: FakeModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _MODIFIED,
        "size": 1_000_000,
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),
        "details": _details(model),
    }


def _v1(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "library"}


def _vector(tokens: Sequence[str]) -> list[float]:
    """The same for the same tokens in any order, of length one, unlike for unlike ones."""
    sums = [0.0] * _DIMENSIONS
    for token in tokens:
        for index, byte in enumerate(hashlib.sha256(token.lower().encode()).digest()[:_DIMENSIONS]):
            sums[index] += byte - 127.5
    length = sum(value * value for value in sums) ** 0.5 or 1.0
    return [value / length for value in sums]
