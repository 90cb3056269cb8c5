"""What clients send, in their own shapes and with our own text; and what a person sees of it in the end.

Each module plays one client. Later capabilities are tried on the same traffic: `CLIENTS` has all of it.
"""

from tests.clients import (
    aider,
    claude_code,
    codex,
    continue_cli,
    llm,
    open_webui,
    opencode,
    pydantic_ai,
    qwen_code,
    sdks,
)
from tests.clients.script import Client, Sent, lines_of

CLIENTS: tuple[Client, ...] = (
    open_webui.WITH_IDS,
    open_webui.WITHOUT_IDS,
    aider.CLIENT,
    opencode.CLIENT,
    codex.CLIENT,
    claude_code.CLIENT,
    qwen_code.CLIENT,
    continue_cli.CLIENT,
    llm.CLIENT,
    pydantic_ai.CLIENT,
    sdks.OPENAI,
    sdks.OLLAMA,
)

__all__ = ["CLIENTS", "Client", "Sent", "lines_of"]
