"""A server that speaks Ollama's protocol and says what it is told to, for tests and demonstrations.

    with FakeOllama(lambda call: "Hello.", models=[FakeModel("tiny", num_ctx=2048)]).served() as url: ...

It cuts long prompts silently, reloads a model when its window changes and reuses the prefix it has seen, as
the real one does. Knows no language: `answer` makes the answers, `tokenize` counts them.
"""

from holdfast.upstreams.fake_ollama.app import FakeOllama
from holdfast.upstreams.fake_ollama.prompt import split_words
from holdfast.upstreams.fake_ollama.runner import FakeModel, FakeReply, ModelCall, ModelLoad

__all__ = ["FakeModel", "FakeOllama", "FakeReply", "ModelCall", "ModelLoad", "split_words"]
