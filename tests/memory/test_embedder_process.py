"""The process behind the embedded encoder: nobody waits for it for ever, or gets a wrong answer."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from holdfast.errors import EmbedderError
from holdfast.memory.embedder_local import WorkerProcess
from tests.waiting import wait_until

# Says a question back in capitals; dies, hangs or stops half-way over certain ones.
PROGRAM = """
import os, sys, time
from holdfast.memory.embedder_local import read_message, write_message
while (question := read_message(sys.stdin.buffer)) is not None:
    if question == b"die":
        print("out of luck", file=sys.stderr)
        os._exit(3)
    if question == b"hang":
        time.sleep(3600)
    if question == b"slow":
        time.sleep(0.6)
    if question.startswith(b"fifo "):
        open(question[5:], "rb").read()
    if question == b"half":
        sys.stdout.buffer.write(b"\\0" * 7)
        sys.stdout.buffer.flush()
        os._exit(0)
    write_message(sys.stdout.buffer, question.upper())
"""


@pytest.fixture
def worker(tmp_path):
    process = WorkerProcess(
        [sys.executable, "-c", PROGRAM], label="the worker", log=tmp_path / "logs" / "log", seconds=20
    )
    yield process
    process.close()


def test_it_starts_with_the_first_question_and_ends_with_close(worker):
    assert worker.pid is None
    assert worker.ask(b"one") == b"ONE"
    process = psutil.Process(worker.pid)
    assert worker.ask(b"x" * 1_000_000) == b"X" * 1_000_000
    assert worker.pid == process.pid
    worker.close()
    assert not process.is_running()
    with pytest.raises(EmbedderError, match="closed"):
        worker.ask(b"late")


def test_one_that_died_is_started_again(worker):
    worker.ask(b"one")
    first = psutil.Process(worker.pid)
    first.kill()
    first.wait()
    assert worker.ask(b"two") == b"TWO"
    assert worker.pid != first.pid


def test_resting_worker_has_no_process_and_restarts_on_next_request(worker):
    assert not worker.rest(), "there is nothing to end yet"
    worker.ask(b"one")
    process = psutil.Process(worker.pid)
    assert worker.rest()
    assert (process.is_running(), worker.pid) == (False, None)
    assert worker.ask(b"two") == b"TWO"


def test_it_does_not_rest_over_a_question(worker, tmp_path):
    os.mkfifo(tmp_path / "signal")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(worker.ask, b"fifo " + bytes(tmp_path / "signal"))
        # Opened only when the other side has it open, too.
        with (tmp_path / "signal").open("wb"):
            assert not worker.rest()
        assert answer.result().startswith(b"FIFO")


def test_an_urgent_question_goes_before_all_that_wait(worker, tmp_path):
    os.mkfifo(tmp_path / "signal")
    order = []

    def ask(question, **options):
        worker.ask(question, **options)
        order.append(question)

    with ThreadPoolExecutor(6) as pool:
        pool.submit(worker.ask, b"fifo " + bytes(tmp_path / "signal"))
        # Opened only when the other side has it open, too: from here on everybody else waits.
        with (tmp_path / "signal").open("wb"):
            for number, question in enumerate((b"text 1", b"text 2", b"text 3"), 1):
                pool.submit(ask, question)
                wait_until(lambda number=number: worker.waiting == number)
            pool.submit(ask, b"asked", urgent=True)
            wait_until(lambda: worker.waiting == 4)
    assert order[0] == b"asked"
    assert worker.waiting == 0


@pytest.mark.parametrize(("question", "says"), [(b"die", "exit code 3"), (b"half", "exit code 0")])
def test_request_crashing_worker_twice_raises_error_with_its_output(worker, question, says):
    with pytest.raises(EmbedderError) as caught:
        worker.ask(question)
    assert says in caught.value.message
    assert question != b"die" or caught.value.message.count("out of luck") == 2
    assert worker.ask(b"next") == b"NEXT"


def test_one_that_takes_too_long_is_ended(tmp_path):
    hanging = WorkerProcess(
        [sys.executable, "-c", PROGRAM], label="the worker", log=tmp_path / "log", seconds=1
    )
    with pytest.raises(EmbedderError, match="longer than 1 seconds"):
        hanging.ask(b"hang")
    hanging.close()


class Interrupted(Exception):
    pass


def test_after_an_interruption_the_next_question_gets_its_own_answer(worker):
    def interrupt(*_):
        raise Interrupted

    worker.ask(b"one")
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Interrupted):
            worker.ask(b"slow")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert worker.ask(b"next") == b"NEXT"


def test_a_program_that_is_not_there_is_an_error(tmp_path):
    absent = WorkerProcess([str(tmp_path / "absent")], label="the worker", log=tmp_path / "log", seconds=1)
    with pytest.raises(EmbedderError, match="cannot be started"):
        absent.ask(b"one")
    absent.close()


def test_it_goes_with_its_parent_however_that_dies(tmp_path):
    parent = """
import pathlib, sys
from holdfast.memory.embedder_local import WorkerProcess
log = pathlib.Path(sys.argv[2])
worker = WorkerProcess([sys.executable, "-c", sys.argv[1]], label="it", log=log, seconds=20)
worker.ask(b"one")
print(worker.pid, flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", parent, PROGRAM, str(tmp_path / "log")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as started:
        child = psutil.Process(int(started.stdout.readline()))
        started.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs([child], timeout=60)
    assert not alive
