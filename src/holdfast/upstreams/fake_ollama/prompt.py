"""What Ollama does to a prompt before the model sees it: rendering, and the silent cuts when it is too long.

Pure, and counted with whatever tokenizer it is given. Knows no HTTP.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.messages import canonical

Tokenize = Callable[[str], list[str]]

# What Ollama takes a picture for while it makes a chat fit.
IMAGE_TOKENS = 768
NUM_KEEP = 4

_WORDS = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """The fakes' own tokenizer: a token is a word or a sign; white space is none."""
    return _WORDS.findall(text)


class DoesNotFit(Exception):
    """The prompt is too long, and cutting it was not allowed."""

    def __init__(self, tokens: int, window: int) -> None:
        told = f"request ({tokens} tokens) exceeds the available context size ({window} tokens)"
        super().__init__(f"{told}, try increasing it")


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The window, and what may be done to a prompt that is larger.

    Servers from `before_llama_server`, with a runner of their own, fill the whole window when they cut, where
    newer ones leave half of it free; and they know no `truncate`.
    """

    window: int
    truncate: bool = True
    keep: int = NUM_KEEP
    before_llama_server: bool = False


def render_tokens(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], tokenize: Tokenize
) -> list[str]:
    """A chat as tokens: one for the role and one for the end of each message, one for the model to begin."""
    tokens = tokenize(canonical(tools)) if tools else []
    for message in messages:
        said = str(message.get("content") or "")
        if calls := message.get("tool_calls"):
            said += canonical(calls)
        pictures = ["<image>"] * (IMAGE_TOKENS * len(message.get("images") or ()))
        tokens += [f"<{message.get('role')}>", *pictures, *tokenize(said), "<end>"]
    return [*tokens, "<assistant>"]


def render_text(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> str:
    """The same chat as text, with ChatML's marks for the role and the end of each message."""
    text = canonical(tools) if tools else ""
    for message in messages:
        said = str(message.get("content") or "")
        if calls := message.get("tool_calls"):
            said += canonical(calls)
        text += f"<|im_start|>{said}<|im_end|>"
    return f"{text}<|im_start|>"


def chat_tokens(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], tokenize: Tokenize, limits: PromptLimits
) -> list[str]:
    """The tokens a chat is answered from. First whole messages go, the oldest first, then tokens.

    System messages and the last one stay; that a tool's result loses its call is nobody's concern. Where
    there are pictures, no tokens are taken out.
    """
    kept = list(messages)
    tokens = render_tokens(kept, tools, tokenize)
    if limits.truncate or limits.before_llama_server:
        while len(tokens) > limits.window and (oldest := _oldest(kept)) is not None:
            del kept[oldest]
            tokens = render_tokens(kept, tools, tokenize)
    if any(message.get("images") for message in kept):
        limits = replace(limits, truncate=False)
    return cut_prompt(tokens, limits)


def _oldest(messages: Sequence[Mapping[str, Any]]) -> int | None:
    candidates = range(len(messages) - 1)
    return next((index for index in candidates if messages[index].get("role") != "system"), None)


def cut_prompt(tokens: list[str], limits: PromptLimits) -> list[str]:
    """Takes the middle out of a prompt that is too long: a few tokens at the front stay, and the end."""
    window = limits.window
    if limits.before_llama_server:
        if len(tokens) <= window:
            return tokens
        size = window
    elif limits.truncate:
        if len(tokens) <= window:
            return tokens
        size = window - (window - limits.keep) // 2
    elif len(tokens) < window:
        return tokens
    else:
        raise DoesNotFit(len(tokens), window)
    return tokens[: limits.keep] + tokens[len(tokens) - (size - limits.keep) :]
