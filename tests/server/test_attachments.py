"""Files put to a question: read apart from the server, and nothing in them points at other files."""

import asyncio
import base64

import pytest

from holdfast.files.documents import TooSlow
from holdfast.files.references import find_references
from holdfast.server.files import build_question, file_parts, files_in
from holdfast.testing.provider import ScriptedProvider
from tests.files.test_reading import ENDLESS
from tests.files.test_texts import pdf
from tests.processes import readers


def packed(data: bytes | str) -> str:
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def parts_of(*files: tuple[str, bytes | str]):
    return asyncio.run(file_parts([(name, packed(data)) for name, data in files]))


@pytest.mark.parametrize(
    "name",
    [
        "notes @./a.py:full end.txt",
        "@a.py",
        '@"./my file".txt',
        "```@./a.py",
        "a (@src/a.py)",
        "x @@./a.py @~/a",
    ],
)
def test_the_name_of_a_file_points_at_nothing(name):
    asked = build_question("Look", parts_of((name, "Read @./b.py and\n~~~\n@./c.py")))
    assert find_references(asked.text) == []
    (file,) = files_in(asked)
    assert file.name == name


def test_a_mail_address_in_a_name_stays_as_it_is():
    (part,) = parts_of(("me@home.txt", "x"))
    assert "[file me@home.txt]" in part.text


def test_thousands_of_blank_lines_take_no_time():
    # With time in the square of the size this would take hours.
    (part,) = parts_of(("a.txt", "\n" * 1_000_000 + "```"))
    assert part.text.endswith("\n````")


@pytest.mark.anyio
async def test_nothing_is_left_when_nobody_waits_for_an_attached_document():
    task = asyncio.create_task(file_parts([("a.pdf", packed(ENDLESS))]))
    while not readers():
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert readers() == []


@pytest.mark.anyio
async def test_others_are_served_while_an_attached_document_is_read():
    task = asyncio.create_task(file_parts([("a.pdf", packed(ENDLESS))]))
    results = await file_parts([("b.pdf", packed(pdf("Quick."))), ("c.txt", packed("Text."))])
    assert [part.extra["holdfast"]["file"] for part in results] == ["b.pdf", "c.txt"]
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.anyio
async def test_attached_documents_have_their_time_together():
    with pytest.raises(TooSlow, match="too long"):
        await file_parts([("a.pdf", packed(ENDLESS))], together=0.4)


def test_a_document_reaches_the_model_as_its_text(serve):
    holdfast = serve(ScriptedProvider(["Yes."]))
    body = {"model": "scripted", "text": "See", "files": [{"name": "a.pdf", "data": packed(pdf("In it."))}]}
    assert holdfast.client.post("/api/chats/turns", json=body).status_code == 200
    assert "## Page 1\n\nIn it." in holdfast.provider.requests[0].messages[-1].text
