"""What most programs do: when the window is nearly full, the model summarises, and its text is all there is.

The same chats, the same models and the same window; no ledger, no rules, no check, no recall.
"""

from collections.abc import Awaitable, Callable, Sequence

from evals.compaction_chats import Chat, Planted
from evals.compaction_replay import PRESET, ReplaySettings, Retention, find_planted, script_of
from evals.compaction_scripts import PLAIN
from evals.window_rows import progress
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.upstreams.base import Provider

Said = Callable[[str], Awaitable[str]]

_FULL = 0.7
# The last exchanges stay, as they do with Holdfast.
_STAY = 4
_LIMIT = 600


async def plain(chat: Chat, setting: ReplaySettings, ask: Said, label: str = "") -> list[Retention]:
    count, room = setting.counting.count, PRESET.budget(setting.window).room
    history: list[str] = []
    planted: list[Planted] = []
    results: list[Retention] = []
    summary, done, marks = "", 0, [*setting.marks]
    for exchange in chat.exchanges:
        history += [f"User: {message.text}" for message in exchange.asked]
        history.append("Assistant: " + " ".join(str(step) for step in script_of(exchange.answer)))
        planted += exchange.planted
        if count(summary) + sum(map(count, history)) < _FULL * room:
            continue
        text = _fitting([summary, *history[:-_STAY]], count, room)
        summary, history, done = await ask(PLAIN.format(text=text)), history[-_STAY:], done + 1
        if done in marks:
            results.append(find_planted("\n".join([summary, *history]), planted, done, count(summary)))
            progress(f"  {label}: {results[-1]}")
        if done >= marks[-1]:
            break
    return results


def _fitting(texts: Sequence[str], count: Callable[[str], int], room: int) -> str:
    """As much from the end as the window takes."""
    record: list[str] = []
    for text in reversed(texts):
        if sum(map(count, record)) + count(text) > room:
            break
        record.insert(0, text)
    return "\n\n".join(text for text in record if text)


def script_model(setting: ReplaySettings) -> Said:
    async def ask(prompt: str) -> str:
        script = setting.summariser(prompt)
        return script if isinstance(script, str) else ""

    return ask


def by_model(provider: Provider, model: str) -> Said:
    """The way Holdfast asks it too: the same temperature, the same limit."""

    async def ask(prompt: str) -> str:
        answer = Answer()
        options = {"temperature": 0.3, "max_tokens": _LIMIT}
        request = ChatRequest(model, (Message.of("user", prompt),), options=options)
        async for chunk in provider.chat(request):
            answer.add(chunk)
        return answer.message.text

    return ask
