"""The embedded model, for real: a child process that comes when needed and goes when its parent goes."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest

from holdfast.errors import CutOff, ModelMissing, Unreachable
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.upstreams.embedded import EmbeddedProvider, default_threads
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.real]

REQUEST = ChatRequest("embedded", (Message.of("user", "Hi"),), options={"max_tokens": 4, "temperature": 0})


@pytest.fixture
async def embedded(weights, tmp_path):
    provider = EmbeddedProvider(weights, log=tmp_path / "logs" / "embedded.log", ctx=1024)
    yield provider
    await provider.aclose()


async def answered(provider, request=REQUEST):
    answer = Answer()
    async for chunk in provider.chat(request):
        answer.add(chunk)
    return answer


def process_of(provider):
    child, _ = provider._running
    return child.process


async def test_it_starts_when_first_needed_and_is_gone_after_closing(embedded):
    assert embedded._running is None
    assert (await answered(embedded)).usage.completion == 4
    process = process_of(embedded)
    assert process.poll() is None
    await embedded.aclose()
    assert process.poll() is not None


async def test_describing_it_needs_no_server(embedded):
    (info,) = await embedded.models()
    assert embedded._running is None
    assert (info.name, info.family, info.parameter_size, info.quantization) == (
        "embedded",
        "llama",
        "135M",
        "Q4_1",
    )
    assert (info.size, info.trained_window, info.running_window) == (98_362_432, 8192, 1024)


async def test_a_running_one_tells_the_window_in_force(embedded):
    await embedded.count(REQUEST)
    assert (await embedded.describe("embedded:latest")).running_window == 1024


async def test_a_window_larger_than_the_model_learned_is_not_given(weights, tmp_path):
    provider = EmbeddedProvider(weights, log=tmp_path / "log", ctx=100_000)
    assert (await provider.describe("embedded")).running_window == 8192


async def test_many_at_once_start_one_server(embedded):
    before = set(psutil.Process().children())
    counts = await asyncio.gather(*(embedded.count(REQUEST) for _ in range(5)))
    assert len(set(counts)) == 1
    assert len(set(psutil.Process().children()) - before) == 1


async def test_it_is_started_again_after_it_died(embedded):
    await embedded.count(REQUEST)
    first = process_of(embedded)
    first.kill()
    first.wait()
    assert (await answered(embedded)).usage.completion == 4
    assert process_of(embedded).pid != first.pid


async def test_dying_in_the_middle_of_an_answer_is_a_cut(embedded):
    answer = embedded.chat(REQUEST.with_options(max_tokens=500))
    await anext(answer)
    process_of(embedded).kill()
    with pytest.raises(CutOff):
        async for _ in answer:
            pass


async def test_cancelling_prompt_processing_frees_server_early(weights, tmp_path):
    provider = EmbeddedProvider(weights, log=tmp_path / "log", ctx=8192)
    await provider.count(REQUEST)
    long = REQUEST.with_messages([Message.of("user", "some words here " * 2500)])
    reading = asyncio.create_task(answered(provider, long))
    done, _ = await asyncio.wait([reading], timeout=1)
    assert not done
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    # Reading all of those 7,500 tokens takes minutes on one thread.
    async with asyncio.timeout(60):
        await answered(provider)
    await provider.aclose()


async def test_other_models_are_not_here(embedded):
    with pytest.raises(ModelMissing, match="nope"):
        await answered(embedded, ChatRequest("nope", REQUEST.messages))
    with pytest.raises(ModelMissing):
        await embedded.describe("nope")
    assert embedded._running is None


async def test_without_weights_the_next_step_is_told(tmp_path):
    provider = EmbeddedProvider(tmp_path / "missing.gguf", log=tmp_path / "log")
    assert await provider.models() == []
    for question in (answered(provider), provider.count(REQUEST), provider.describe("embedded")):
        with pytest.raises(ModelMissing, match="holdfast models get"):
            await question


async def test_a_file_that_is_no_model_is_told_as_such(tmp_path):
    file = tmp_path / "notes.gguf"
    file.write_text("just notes")
    with pytest.raises(Unreachable, match=r"notes\.gguf cannot be used as a model"):
        await answered(EmbeddedProvider(file, log=tmp_path / "log"))


async def test_a_broken_model_file_fails_with_the_end_of_its_log(weights, tmp_path):
    half = tmp_path / "half.gguf"
    with weights.open("rb") as whole:
        half.write_bytes(whole.read(5_000_000))
    provider = EmbeddedProvider(half, log=tmp_path / "log")
    with pytest.raises(Unreachable, match=r"llama\.cpp cannot serve") as caught:
        await answered(provider)
    assert str(tmp_path / "log") in caught.value.hint
    assert provider._running is None


async def test_slow_start_is_aborted_without_leftover_process(weights, tmp_path):
    before = set(psutil.Process().children())
    provider = EmbeddedProvider(weights, log=tmp_path / "log", start_timeout=0.01)
    with pytest.raises(Unreachable, match="did not start within"):
        await answered(provider)
    assert set(psutil.Process().children()) <= before


async def test_requests_can_be_passed_on_to_it(embedded):
    forwarded = await embedded.forward("POST", "/tokenize", {}, b'{"content": "Hi"}')
    assert forwarded.status == 200
    assert b"tokens" in b"".join([data async for data in forwarded.stream])


async def test_prompts_are_not_in_its_log(embedded, tmp_path):
    await answered(
        embedded, ChatRequest("embedded", (Message.of("user", "xyzzy-secret"),), options={"max_tokens": 2})
    )
    await embedded.aclose()
    assert "xyzzy" not in (tmp_path / "logs" / "embedded.log").read_text()


def test_one_core_is_left_for_others():
    assert 1 <= default_threads() < max(2, os.cpu_count())


PARENT = """
    import asyncio, sys
    from pathlib import Path
    from holdfast.messages import ChatRequest, Message
    from holdfast.upstreams.embedded import EmbeddedProvider

    async def main():
        provider = EmbeddedProvider(Path(sys.argv[1]), log=Path(sys.argv[2]), ctx=512)
        await provider.count(ChatRequest("embedded", (Message.of("user", "Hi"),)))
        print(provider._running[0].process.pid, flush=True)
        await asyncio.Event().wait()

    asyncio.run(main())
"""


def gone(pid):
    """Whether the process has ended; who should collect its remains in a container is another question."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_parent_however_that_dies(weights, tmp_path, how):
    command = [sys.executable, "-c", textwrap.dedent(PARENT), str(weights), str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        assert not gone(pid)
        parent.send_signal(how)
        parent.wait()
    wait_until(lambda: gone(pid))
