"""Open WebUI as a client without a terminal: its own server is started, and talked to as its page does it."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx

from evals.clients_programs import Session
from holdfast.clients.documents import open_document

# It imports for minutes where the machine is busy.
_LIMIT_SECONDS = 600
# Nothing is fetched, and documents are not searched.
_OFFLINE = {
    "OFFLINE_MODE": "true",
    "HF_HUB_OFFLINE": "1",
    "ENABLE_OLLAMA_API": "false",
    "RAG_EMBEDDING_ENGINE": "openai",
    "BYPASS_EMBEDDING_AND_RETRIEVAL": "true",
    "WEBUI_SECRET_KEY": "evals",
}


def say(session: Session, turns: Sequence[str]) -> None:
    """Say all turns in one chat, each with the history as the page sends it."""
    with serve(session) as url, httpx.Client(base_url=url, timeout=_LIMIT_SECONDS, trust_env=False) as http:
        http.headers["Authorization"] = f"Bearer {sign_in(http)}"
        model = http.get("/api/models").raise_for_status().json()["data"][0]["id"]
        chat = {"title": "New Chat", "models": [model], "messages": [], "history": {"messages": {}}}
        made = http.post("/api/v1/chats/new", json={"chat": chat}).raise_for_status().json()
        history: list[dict[str, Any]] = []
        for turn in turns:
            history.append({"role": "user", "content": turn})
            body = {"model": model, "messages": history, "stream": False, "chat_id": made["id"]}
            answer = http.post("/api/chat/completions", json=body).raise_for_status().json()
            history.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})


def sign_in(http: httpx.Client) -> str:
    """Return the token of the only person there; the first time, she is made."""
    person = {"name": "Ada", "email": "ada@example.org", "password": "evals-only-4"}
    answer = http.post("/api/v1/auths/signup", json=person)
    if answer.is_error:
        answer = http.post("/api/v1/auths/signin", json=person).raise_for_status()
    return str(answer.json()["token"])


@contextlib.contextmanager
def serve(session: Session) -> Iterator[str]:
    """Run it with the variables that `connect` wrote into its folder; yield its address."""
    written = session.folder / ".env"
    connected = open_document(written.read_text(), "env").value() if written.exists() else {}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [*session.command, *(["serve"] if len(session.command) == 1 else [])]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", port],
        cwd=session.folder,
        env={
            **os.environ,
            **_OFFLINE,
            "HOME": str(session.home),
            "DATA_DIR": str(session.home / ".open-webui"),
            **session.variables,
            **connected,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + _LIMIT_SECONDS
    try:
        while not is_up(url):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("open-webui did not start")
            time.sleep(1)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def is_up(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200
    return False
