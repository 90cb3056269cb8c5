"""Files that a question points at: in the window once, as they are, whole while they are talked about."""

import unicodedata
from dataclasses import replace

import pytest

from holdfast.context.attachments import files_of, read_named_files
from holdfast.files.roots import Roots
from holdfast.messages import OURS, ChatRequest, Message, Text
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from holdfast.window.additions import file_of
from tests.context.engine_client import Client, engine_with, filler, provider, sent, texts

pytestmark = pytest.mark.anyio

LAMP = '"""A lamp."""\n\n\ndef light(colour):\n    """Shine."""\n    return f"shining {colour}"\n'


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
async def test_dropped_file_returns_when_mentioned_again(tmp_path, project, may_read):
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


async def test_large_file_is_attached_as_digest_and_its_element_in_full(tmp_path, project):
    many = "\n\n".join(f'def number_{at}():\n    """Gives {at}."""\n    return {at}' for at in range(300))
    (project / "src" / "many.py").write_text(many)
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/many.py", files=roots)
        text = sent(server)[-1].text
        assert "number_299" in text
        assert "return 7" not in text
        await client.say("And @./src/many.py:number_7", files=roots)
        assert "return 7" in sent(server)[-1].text
        assert client.report["prefix"]["kept"], "a part of the same file does not push the digest out"


async def test_a_file_goes_along_into_a_window_of_another_size(tmp_path, project):
    models = [ModelInfo(name, running_window=size) for name, size in (("small", 8_192), ("tiny", 2_048))]
    server, roots = ScriptedProvider(models=models, fallback="Noted."), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("What does @./src/lamp.py do?", files=roots)
        client.model = "tiny"
        await client.say("And why?")
        assert client.report["window"] == 2_048
        assert LAMP.strip() in sent(server)[0].text
        lane = engine.store.lanes.of(client.conversation)[0]
        assert [row["name"] for row in files_of(engine.store, lane)] == ["src/lamp.py"]
        await client.say("Well?")
        assert client.report["prefix"]["kept"]


@pytest.mark.parametrize("name", ["Makefile", "gr\u00f6\u00dfe.txt", "gro\u0308\u00dfe.txt"])
async def test_a_change_is_noticed_when_a_file_is_only_spoken_of(tmp_path, project, name):
    (project / name).write_text("It is green.")
    spoken = unicodedata.normalize("NFC", name)
    server, roots = provider(window=8_192), Roots((project,))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say(f"See @./{name}", files=roots)
        await client.say(f"What is in {spoken}?", files=roots)
        assert sent(server)[-1].text == f"What is in {spoken}?", "it is there, and the same"
        (project / name).write_text("It is red.")
        await client.say(f"And now in {spoken}?", files=roots)
        assert "It is red." in sent(server)[-1].text
        assert "It is green." not in texts(server)


async def test_deleted_file_returns_with_last_content_and_marker(tmp_path, project):
    server, roots = provider(window=2_048), Roots((project,))
    lamp = project / "src" / "lamp.py"
    lamp.write_text(LAMP + "# secret word: quartz\n" * 20)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/lamp.py:full", files=roots)
        for at in range(14):
            await client.say(filler(at))
        lamp.unlink()
        await client.say("What was the secret word in lamp.py?", files=roots)
        assert "[no longer to be read; this is how it was]" in sent(server)[-1].text
        assert "quartz" in sent(server)[-1].text


async def test_the_whole_file_is_not_brought_beside_a_part_of_it(tmp_path, project):
    server, roots = provider(window=8_192), Roots((project,))
    lamp = project / "src" / "lamp.py"
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("See @./src/lamp.py:light", files=roots)
        lamp.write_text(LAMP.replace("shining", "glowing"))
        await client.say("And @./src/lamp.py:full", files=roots)
        assert texts(server).count("def light(") == 1
        assert "glowing" in texts(server)


async def test_what_is_attached_to_a_question_points_at_nothing(project):
    attached = Text("```\nsee @./src/lamp.py\n", extra={OURS: {"file": "notes.txt"}})
    asked = Message("user", (Text("What is this? ```"), attached))
    request, roots = ChatRequest("small", (asked,)), Roots((project,))
    assert await read_named_files(request, roots) == ()
    copy = replace(asked, parts=(Text("See @./src/lamp.py"), attached))
    assert [file.name for file in await read_named_files(replace(request, messages=(copy,)), roots)] == [
        "src/lamp.py"
    ]


async def test_part_reference_maps_to_its_file_unless_colon_is_in_name():
    assert file_of("src/a.py:name:light") == file_of("src/a.py:lines:1-2") == file_of("src/a.py")
    assert file_of("src/:list") == "src/"
    assert file_of("a:b.py") == "a:b.py"
