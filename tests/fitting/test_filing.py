"""Files that a question points at: in the window once, as they are, whole while they are talked about."""

import pytest

from holdfast.files.roots import Roots
from tests.fitting.talking import Client, engine_with, filler, provider, sent, texts

pytestmark = pytest.mark.anyio

LAMP = '"""A lamp."""\n\n\ndef light(colour):\n    """Shine."""\n    return f"shining {colour}"\n'


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lamp.py").write_text(LAMP)
    return folder


async def test_a_file_that_a_question_points_at_stands_behind_it_once(tmp_path, project):
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("What does @./src/lamp.py do?", files=roots)
        first = sent(server)[-1].text
        assert first.startswith("What does @./src/lamp.py do?\n\n[file ")
        assert first.endswith(LAMP.rstrip("\n") + "\n") or LAMP.strip() in first
        (row,) = client.report["files"]
        assert (row["name"], row["mode"], row["shortened"], row["trouble"]) == (
            "src/lamp.py",
            "full",
            False,
            [],
        )
        assert row["tokens"] > 10
        assert engine.store.log.path(engine.store.log.get(client.conversation).head)[0].message.text == (
            "What does @./src/lamp.py do?"
        ), "what was said is kept as it was said"
        await client.say("And @src/lamp.py once more?", files=roots)
        assert sent(server)[-1].text == "And @src/lamp.py once more?", "it is there already"
        assert sent(server)[0].text == first
        assert client.report["prefix"]["kept"]


async def test_nothing_is_read_for_who_may_not(tmp_path, project):
    server = provider(window=8_192)
    async with engine_with(server, tmp_path) as engine:
        await Client(engine).say(f"What does @{project}/src/lamp.py do?")
        assert sent(server)[-1].text == f"What does @{project}/src/lamp.py do?"


async def test_a_file_that_changed_takes_the_place_of_what_was_shown(tmp_path, project):
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/lamp.py", files=roots)
        (project / "src" / "lamp.py").write_text(LAMP.replace("shining", "glowing"))
        await client.say("And now @./src/lamp.py?", files=roots)
        assert "shining" not in texts(server)
        assert "[src/lamp.py: further down]" in sent(server)[0].text
        assert "[changed since it was last shown]" in sent(server)[-1].text
        assert "glowing" in sent(server)[-1].text
        assert client.report["prefix"]["cause"] == "file"
        assert client.report["files"][-1]["changed"]


@pytest.mark.parametrize("may_read", [True, False])
async def test_a_file_that_left_the_window_comes_back_when_it_is_spoken_of(tmp_path, project, may_read):
    server, roots = provider(window=2_048), Roots((project,))
    (project / "src" / "lamp.py").write_text(LAMP + "# secret word: quartz\n" * 20)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/lamp.py:full", files=roots)
        assert "quartz" in texts(server)
        for at in range(14):
            await client.say(filler(at))
        assert "quartz" not in texts(server), "nobody talked about it, and room was needed"
        await client.say("What was the secret word in lamp.py?", files=roots if may_read else None)
        assert "# secret word: quartz" in sent(server)[-1].text


async def test_trouble_with_a_file_is_told_and_nothing_is_lost(tmp_path, project):
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        assert await client.say("See @./src/lamb.py and @/etc/hostname", files=roots) == "Noted."
        assert "files_missing" in client.report["notices"]
        assert [row["name"] for row in client.report["files"]] == ["./src/lamb.py", "/etc/hostname"]
        assert "lamp.py" in client.report["files"][0]["trouble"][0], "what was meant is suggested"


async def test_a_large_file_is_brought_as_its_digest_and_an_element_of_it_whole(tmp_path, project):
    many = "\n\n".join(f'def number_{at}():\n    """Gives {at}."""\n    return {at}' for at in range(300))
    (project / "src" / "many.py").write_text(many)
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/many.py", files=roots)
        told = sent(server)[-1].text
        assert "number_299" in told
        assert "return 7" not in told
        await client.say("And @./src/many.py:number_7", files=roots)
        assert "return 7" in sent(server)[-1].text
        assert client.report["prefix"]["kept"], "a part of the same file does not push the digest out"
