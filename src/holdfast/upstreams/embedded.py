"""The embedded model: the llama.cpp provider with a server of its own, a child process started on demand."""

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TextIO

from holdfast.errors import ModelMissing, Unreachable
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Chunk
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.base import Ability, Dialect, EmbeddingResponse, ForwardedResponse, ModelInfo
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.model_file import describe_model_file
from holdfast.upstreams.openai import LlamaCpp
from holdfast.upstreams.processes import read_tail, start_process, stop_process

MODEL = "embedded"

# Size of the cache of earlier prompts; llama.cpp's default is 8 GB.
_CACHE_MIB = 1024
# Batch size in tokens. A cancelled request is only noticed between two batches, and on a CPU larger batches
# were not faster.
_STEP = 64
# Errors and warnings only; higher levels log every request.
_VERBOSITY = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--ctx", type=int, default=8192, help="context window in tokens")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    report = _take_stdout()
    key = sys.stdin.readline().strip()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        server = _serve(arguments.model, arguments.ctx, arguments.threads, key)
    except RuntimeError as error:
        # llama.cpp has written the reason to stderr.
        sys.exit(f"llama.cpp cannot serve {arguments.model}: {error}")
    report.write(json.dumps({"url": server.listening_address}) + "\n")
    report.flush()
    threading.Event().wait()


def _take_stdout() -> TextIO:
    """Returns stdout for the line to the parent, and redirects what native code prints to stderr."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return report


def _leave_with_parent() -> None:
    """Exits when the parent's pipe is closed, however the parent ended; there is nothing to clean up."""
    sys.stdin.read()
    os._exit(0)


def _serve(model: Path, ctx: int, threads: int, key: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {MODEL}
    params.n_ctx = ctx
    params.n_parallel = 1
    params.n_batch = _STEP
    params.n_ubatch = _STEP
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # Web pages and other users can reach a loopback port: they need the key, and prompts are not published.
    params.api_keys = [key]
    params.endpoint_slots = False
    params.ui = False
    params.cache_ram_mib = _CACHE_MIB
    params.verbosity = _VERBOSITY
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()


_TAIL_LINES = 12


@dataclass(slots=True)
class EmbeddedProcess:
    url: str
    key: str
    process: subprocess.Popen[str]

    @classmethod
    async def start(cls, model: Path, *, ctx: int, threads: int, log: Path, seconds: float) -> Self:
        """Starts the server and waits until it listens. Its stderr goes to the end of `log`."""
        key = secrets.token_urlsafe(24)
        process = await asyncio.to_thread(start_server, model, ctx, threads, log)
        line: str | None = None
        try:
            async with asyncio.timeout(seconds):
                line = await asyncio.to_thread(exchange_key, process, key)
        except TimeoutError:
            raise Unreachable(
                lazy("the embedded model did not start within {seconds:g} seconds.", seconds=seconds),
                hint=lazy("Its log is {log}.", log=log),
            ) from None
        finally:
            if line is None:
                process.kill()
                stop_process(process)
        if not line:
            code = await asyncio.to_thread(stop_process, process)
            raise Unreachable(
                lazy(
                    "the embedded model did not start (exit code {code}).{name}\n",
                    code=code,
                    name=read_tail(log, _TAIL_LINES),
                ),
                hint=lazy("Its log is {log}.", log=log),
            )
        return cls(json.loads(line)["url"], key, process)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    async def stop(self) -> None:
        await asyncio.to_thread(stop_process, self.process)


def start_server(model: Path, ctx: int, threads: int, log: Path) -> subprocess.Popen[str]:
    # -P: do not import modules from the current folder.
    command = [sys.executable, "-P", "-m", "holdfast.upstreams.embedded"]
    command += ["--model", str(model), "--ctx", str(ctx), "--threads", str(threads)]
    return start_process(command, log, text=True)


def exchange_key(process: subprocess.Popen[str], key: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(key + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()


_NAMES = (MODEL, f"{MODEL}:latest")


def default_threads() -> int:
    """Returns one less than there are cores: with all of them, llama.cpp's threads wait for each other."""
    return max(1, (os.cpu_count() or 2) - 1)


class EmbeddedProvider:
    name = "embedded"
    dialect: Dialect = "openai"
    abilities: frozenset[Ability] = frozenset({"grammar", "prefill", "continuation"})
    paths = frozenset({"/v1/", "/tokenize", "/detokenize", "/apply-template", "/completion", "/infill"})

    def __init__(
        self,
        model: Path,
        *,
        log: Path,
        ctx: int = 8192,
        threads: int | None = None,
        patience: Patience | None = None,
        start_timeout: float = 300.0,
    ) -> None:
        self.location = f"embedded:{model}"
        self._path = model
        self._log = log
        self._ctx = ctx
        self._threads = threads or default_threads()
        self._patience = patience
        self._start_timeout = start_timeout
        self._starting = asyncio.Lock()
        self._file: ModelInfo | None = None
        self._running: tuple[EmbeddedProcess, LlamaCpp] | None = None

    async def aclose(self) -> None:
        async with self._starting:
            await self._stop()

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        server = await self._server(request.model)
        async with aclosing(server.chat(request)) as answer:
            async for chunk in answer:
                yield chunk

    async def models(self) -> list[ModelInfo]:
        return [await self.describe(MODEL)] if self._path.is_file() else []

    async def describe(self, model: str) -> ModelInfo:
        info = await self._describe_file(model)
        if self._running is not None and self._running[0].alive:
            window = (await self._running[1].describe(MODEL)).running_window
        else:
            window = self._window(info)
        return replace(info, running_window=window)

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        return await (await self._server(model)).embed(model, texts)

    async def count(self, request: ChatRequest) -> int | None:
        return await (await self._server(request.model)).count(request)

    async def render(self, request: ChatRequest) -> str | None:
        return await (await self._server(request.model)).render(request)

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        return await (await self._server(model)).tokenize(model, text)

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        return await (await self._server(model)).detokenize(model, tokens)

    async def vocabulary(self, model: str) -> Vocabulary | None:
        await self._describe_file(model)
        return await asyncio.to_thread(Vocabulary.from_gguf, self._path)

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        return await (await self._server(MODEL)).forward(method, path, headers, body)

    def _window(self, info: ModelInfo) -> int:
        """Returns the window to start with: never more than the model was trained for."""
        return min(self._ctx, info.trained_window or self._ctx)

    async def _describe_file(self, model: str) -> ModelInfo:
        if model not in _NAMES:
            raise ModelMissing(model, hint=lazy("The embedded model is called {model}.", model=MODEL))
        if not self._path.is_file():
            raise ModelMissing(
                MODEL,
                hint=lazy(
                    "{path} is not there: `holdfast models get` fetches the embedded model.", path=self._path
                ),
            )
        if self._file is None:
            try:
                self._file = await asyncio.to_thread(describe_model_file, self._path, MODEL)
            except VocabularyError as error:
                raise Unreachable(
                    lazy(
                        "{path} cannot be used as a model: {message}.", path=self._path, message=error.message
                    ),
                    hint=lazy("Give a GGUF file, or fetch the embedded model with `holdfast models get`."),
                ) from error
        return self._file

    async def _server(self, model: str) -> LlamaCpp:
        """Returns the running server; starts it if necessary."""
        info = await self._describe_file(model)
        async with self._starting:
            if self._running is None or not self._running[0].alive:
                await self._stop()
                child = await EmbeddedProcess.start(
                    self._path,
                    ctx=self._window(info),
                    threads=self._threads,
                    log=self._log,
                    seconds=self._start_timeout,
                )
                connection = Connection(
                    child.url, key=child.key, patience=self._patience, label="the embedded model"
                )
                self._running = child, LlamaCpp(connection)
            return self._running[1]

    async def _stop(self) -> None:
        if self._running is None:
            return
        child, server = self._running
        self._running = None
        await server.aclose()
        await child.stop()
