"""Thinking as agents ask for it: where the model can, and without a fuss where it cannot.

Ollama refuses a request that asks a model to think which has not learned it, and knows fewer degrees than
clients do. Knows no route.
"""

from dataclasses import replace

from holdfast.engine import Engine
from holdfast.messages import ChatRequest

# Degrees that Ollama does not know, each with the nearest one that it does.
_NEAREST = {"minimal": "low", "xhigh": "high"}


async def if_it_can(engine: Engine, chat: ChatRequest) -> ChatRequest:
    """The request without a wish that its model server would refuse."""
    if not chat.think:
        return chat
    provider = await engine.upstreams.route(chat.model)
    if provider.dialect != "ollama":
        return chat
    known = (await provider.describe(chat.model)).capabilities
    if known and "thinking" not in known:
        return replace(chat, think=None)
    return replace(chat, think=_NEAREST.get(str(chat.think), chat.think))
