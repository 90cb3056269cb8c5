"""Documents made to keep a parser busy: ended in time, told as trouble, and nothing is left of them."""

import asyncio
import io
import subprocess
import sys
import threading
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from holdfast.errors import BadRequest, Stopped
from holdfast.files import documents
from holdfast.files.attach import attach_files, attach_files_async, load_source
from holdfast.files.documents import TooSlow, extract_text, extract_text_async
from holdfast.files.problems import FileProblem
from holdfast.files.roots import ReadLimits
from holdfast.i18n import in_language
from tests.files.test_texts import paragraph, pdf, word
from tests.processes import readers
from tests.waiting import PATIENCE, wait_until


def pack_pdf(operators: bytes) -> bytes:
    """A PDF of pages that each unpack to these."""
    stream = zlib.compress(operators)
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + b"3 0 R " * 20 + b"] /Count 20 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        font,
    ]
    text = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % part for part in enumerate(parts, 1))
    return text + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n0\n%%EOF"


# A few thousand bytes, and half a minute of work.
ENDLESS = pack_pdf(b"BT /F1 12 Tf " + b"(abc) Tj " * 200_000 + b"ET")


def endless_word() -> bytes:
    head = b'<?xml version="1.0"?><w:document xmlns:w="urn:x"><w:p a="'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", head + b"a" * 39_000_000)
    return file.getvalue()


@contextmanager
def begin_reading(data: bytes):
    """What comes of reading it in another thread, once it is being read; the thread ends with the block."""
    ended = []

    def work() -> None:
        try:
            ended.append(extract_text("a.pdf", data))
        except (BadRequest, Stopped) as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(readers)
    yield ended
    thread.join()


@pytest.mark.parametrize(
    ("name", "data"), [("a.pdf", ENDLESS), ("a.docx", endless_word())], ids=["pdf", "docx"]
)
def test_what_never_ends_is_ended(name, data):
    assert len(data) < 50_000
    with pytest.raises(TooSlow, match="too long") as caught:
        extract_text(name, data, seconds=0.4)
    assert caught.value.hint
    assert readers() == []


def test_documents_are_read_apart_and_texts_are_not():
    assert extract_text("a.pdf", pdf("Read.")).text.endswith("Read.")
    assert extract_text("a.docx", word(paragraph("Read."))).text == "Read."
    # No time at all is enough for a text.
    assert extract_text("a.txt", b"Read.", seconds=0).text == "Read."
    with pytest.raises(TooSlow):
        extract_text("a.pdf", pdf("Read."), seconds=0)


@pytest.mark.anyio
async def test_those_who_cannot_block_get_the_same():
    # Names may have letters in them that no command line takes.
    assert (await extract_text_async("a\0\ud800.pdf", pdf("Read."))).text.endswith("Read.")
    assert (await extract_text_async("a.txt", b"Read.")).text == "Read."
    with pytest.raises(BadRequest, match="'broken' cannot be read as PDF") as caught:
        await extract_text_async("broken", b"%PDF-1.7 nonsense")
    assert caught.value.hint
    with pytest.raises(TooSlow):
        await extract_text_async("a.pdf", ENDLESS, seconds=0.4)


@pytest.mark.anyio
async def test_concurrent_readers_are_limited_and_end_with_their_callers():
    tasks = [asyncio.create_task(extract_text_async("a.pdf", ENDLESS)) for _ in range(6)]
    async with asyncio.timeout(PATIENCE):
        while len(readers()) < 3:  # noqa: ASYNC110 (it is other processes that begin)
            await asyncio.sleep(0.01)
    for _ in range(20):
        await asyncio.sleep(0.01)
        assert len(readers()) == 3
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    assert readers() == []


def test_all_are_ended_when_the_server_stops():
    with begin_reading(ENDLESS) as ended:
        documents.stop_readers()
    assert isinstance(ended[0], Stopped)
    assert readers() == []


def test_crashing_reader_reports_unreadable_document():
    with begin_reading(ENDLESS) as ended:
        readers()[0].kill()
    assert isinstance(ended[0], BadRequest)
    assert "cannot be read" in ended[0].message


def test_a_reader_leaves_when_whoever_asked_is_gone(tmp_path):
    file = tmp_path / "a.pdf"
    file.write_bytes(ENDLESS)
    code = "import sys, pathlib; from holdfast.files.documents import extract_text; "
    code += "extract_text('a.pdf', pathlib.Path(sys.argv[1]).read_bytes())"
    with subprocess.Popen([sys.executable, "-c", code, str(file)]) as asking:
        value = wait_until(lambda: readers(asking.pid))
        # Not told, and with no time to say anything.
        asking.kill()
    _, alive = psutil.wait_procs(value, timeout=60)
    assert alive == []


@pytest.mark.anyio
async def test_a_message_brings_its_files_without_blocking_anybody(roots, allowed):
    (allowed / "a.pdf").write_bytes(pdf("Quick."))
    (row,) = await attach_files_async("see @./a.pdf", roots)
    assert row.text.endswith("Quick.")


def test_too_slow_is_trouble_like_any_other(roots, allowed):
    (allowed / "a.pdf").write_bytes(ENDLESS)
    with pytest.raises(FileProblem) as caught:
        load_source(roots, roots.find("./a.pdf"), seconds=0.4)
    assert caught.value.message.startswith("./a.pdf takes too long to read.")
    assert in_language(caught.value.message, "de").startswith("./a.pdf zu lesen dauert zu lange.")


def test_the_documents_of_a_message_have_their_time_together(roots, allowed):
    (allowed / "a.pdf").write_bytes(ENDLESS)
    (allowed / "b.pdf").write_bytes(pdf("Quick."))
    (allowed / "c.txt").write_text("Text.")
    short = replace(roots, limits=ReadLimits(seconds=0.4))
    first, second, third = attach_files("@./a.pdf @./b.pdf @./c.txt", short)
    assert first.text == "[./a.pdf: takes too long to read]"
    assert second.trouble.startswith("./b.pdf takes too long")
    assert third.text.endswith("Text.")


def test_the_reader_loads_only_what_it_needs():
    source = Path(documents.__file__).with_name("reader.py").read_text()
    early = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert [line for line in early if "holdfast" in line] == [
        "from holdfast.errors import BadRequest, TooLarge"
    ]
