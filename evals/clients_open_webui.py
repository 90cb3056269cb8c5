"""Open WebUI as its page uses it: an account, one chat, each turn sent and waited for, then titles and tags.

It is a server of its own, started for each session with a data folder of its own. What `holdfast connect`
wrote into `.env` reaches it in its environment, as Docker Compose passes it on.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from evals.clients_session import LIMIT_SECONDS, Session

# Nothing is fetched from elsewhere, and no documents are embedded.
_OFFLINE = {
    "OFFLINE_MODE": "true",
    "HF_HUB_OFFLINE": "1",
    "RAG_EMBEDDING_ENGINE": "openai",
    "BYPASS_EMBEDDING_AND_RETRIEVAL": "true",
    "ENABLE_OLLAMA_API": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "DO_NOT_TRACK": "true",
    "SCARF_NO_ANALYTICS": "true",
    "WEBUI_SECRET_KEY": "only-here",
}
_TASKS = ("title_generation", "tags_generation", "follow_up_generation")


def say_on_page(session: Session, turns: Sequence[str]) -> None:
    with _serving(session) as client:
        model = client.get("/api/models").raise_for_status().json()["data"][0]["id"]
        chat, parent, history = "", None, list[dict[str, str]]()
        for turn in turns:
            asked, answer = str(uuid4()), str(uuid4())
            history.append({"role": "user", "content": turn})
            question = {"id": asked, "parentId": parent, "childrenIds": [answer], **history[-1]}
            body = {
                "stream": True,
                "model": model,
                "messages": history,
                "session_id": str(uuid4()),
                "id": answer,
                "parent_id": parent,
                "user_message": {**question, "models": [model], "timestamp": int(time.time())},
                # Its own 28 tools alone are larger than 4k; a person switches them off for a small window.
                "params": {"function_calling": "legacy"},
                "background_tasks": dict.fromkeys(_TASKS, True),
                **({"chat_id": chat} if chat else {}),
            }
            reply = client.post("/api/chat/completions", json=body).raise_for_status().json()
            chat, parent = reply.get("chat_id") or chat, answer
            history.append({"role": "assistant", "content": _wait_for_answer(client, chat, answer)})


@contextmanager
def _serving(session: Session) -> Iterator[httpx.Client]:
    """Start it, and sign the first person up."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # `holdfast launch` says `serve` itself.
    words = () if session.command[-1] == "--" else ("serve",)
    file = session.folder / ".env"
    lines = file.read_text().splitlines() if file.exists() else []
    written = {
        name: value.strip("\"'") for name, equals, value in (line.partition("=") for line in lines) if equals
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        log = Path(data) / "log"
        with log.open("wb") as printed:
            process = subprocess.Popen(
                [*session.command, *words, "--host", "127.0.0.1", "--port", str(port)],
                cwd=session.folder,
                env={**session.environment, **_OFFLINE, **written, "DATA_DIR": data},
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, trust_env=False) as client:
                _wait(lambda: _is_up(client, process, log))
                person = {"name": "Ada", "email": "ada@example.com", "password": "quillfeather"}
                token = client.post("/api/v1/auths/signup", json=person).raise_for_status().json()["token"]
                client.headers["Authorization"] = f"Bearer {token}"
                yield client
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def _is_up(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"it ended with {process.returncode}: {log.read_text(errors='replace')[-600:]}")
    try:
        return client.get("/health").is_success
    except httpx.TransportError:
        return False


def _wait_for_answer(client: httpx.Client, chat: str, name: str) -> str:
    """Return the answer when it is whole, and titles and tags are done, too."""
    answer: dict[str, Any] = {}

    def is_done() -> bool:
        stored = client.get(f"/api/v1/chats/{chat}").raise_for_status().json()
        answer.update(stored["chat"]["history"]["messages"].get(name, {}))
        busy = client.get(f"/api/tasks/chat/{chat}").raise_for_status().json()["task_ids"]
        return bool(answer.get("done")) and not busy

    _wait(is_done)
    if error := answer.get("error"):
        raise RuntimeError(f"Open WebUI shows an error: {error}")
    return str(answer["content"])


def _wait(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise RuntimeError("waited in vain")
        time.sleep(0.5)
