"""Many vectors by batch jobs: taken in after a restart, too, and made the ordinary way when one fails."""

import threading
from dataclasses import replace

import anyio
import pytest

from holdfast.backends.hosted_embedders import BatchEmbedder, BatchOptions, GeminiEmbedder
from holdfast.background.jobs import BackgroundJobs
from holdfast.config import load
from holdfast.errors import EmbedderError
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.embedder_http import EmbeddingClient, OpenAIEmbedder
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.embedders import BatchJob, BatchJobGone, EmbedderBusy, validate_vectors
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import Index
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.store import open_store
from holdfast.testing.embedders import FakeGemini, FakeOpenAI
from holdfast.wiring import build_remembering
from tests.context.memory_engine import remembering
from tests.context.summary_engine import RequestScripts
from tests.upstreams.hostile import hostile, response

MANY = 20
OPTIONS = BatchOptions(poll=30, timeout=3_600, least=10)


class Kit:
    """Notes without vectors, a server that takes batch jobs, and a clock that is moved by hand."""

    def __init__(self, store, folder, fake, embedder) -> None:
        self.store, self.folder, self.fake, self.embedder = store, folder, fake, embedder
        self.now = 1_000.0
        self.index = Index(store, FolderWorkspace(folder))
        self.batching, self.meaning = self.process()
        self.write(range(MANY))

    def process(self, options=OPTIONS):
        """What one process has of its own."""
        batching = BatchEmbedder(self.store, options, clock=lambda: self.now, sleep=self.pass_)
        return batching, SemanticIndex(self.store, lambda: self.embedder, batching=batching)

    def pass_(self, seconds: float) -> None:
        self.now += seconds

    def write(self, numbers) -> None:
        self.folder.joinpath("default").mkdir(parents=True, exist_ok=True)
        for number in numbers:
            self.folder.joinpath(f"default/{number}.md").write_text(f"heron number {number}\n")
        self.index.sync()

    @property
    def asked(self) -> int:
        """Texts that were embedded the ordinary way since this was last looked at."""
        ends = ("/embeddings", ":batchEmbedContents")
        bodies = [request.body for request in self.fake.requests if request.path.endswith(ends)]
        self.fake.requests.clear()
        return sum(len(body.get("input") or body["requests"]) for body in bodies)

    def later(self) -> int:
        self.now += OPTIONS.poll
        return self.meaning.catch_up()

    @property
    def under_way(self) -> tuple[int, int]:
        batches = self.meaning.batches()
        return batches["jobs"], batches["texts"]


@pytest.fixture
def kit(request, tmp_path):
    kind, opened = getattr(request, "param", (FakeOpenAI, OpenAIEmbedder))
    fake = kind()
    with fake.served() as url, open_store("sqlite://") as store:
        embedder = opened.open(EmbeddingClient(url, sleep=lambda _: None), dimensions=32)
        fake.requests.clear()
        yield Kit(store, tmp_path / "workspace", fake, embedder)
        embedder.close()


# How their protocols differ is tried where they are spoken; here it is the same for both.
both = pytest.mark.parametrize(
    "kit",
    [(FakeOpenAI, OpenAIEmbedder), (FakeGemini, GeminiEmbedder)],
    ids=["openai", "gemini"],
    indirect=True,
)


@both
def test_many_texts_become_batch_job_whose_vectors_are_imported(kit):
    kit.fake.jobs.looks = 1
    assert kit.meaning.catch_up() == 0
    assert kit.under_way == (1, MANY)
    assert (kit.meaning.waiting(), kit.asked) == (MANY, 0)
    assert kit.later() == 0
    assert kit.later() == MANY
    assert (kit.under_way, kit.meaning.waiting(), kit.asked) == ((0, 0), 0, 0)
    assert kit.fake.jobs.files == {}
    answer = Search(kit.store, kit.index, kit.meaning).search("heron number 7", Scope())
    assert "vectors" in answer.engines
    assert answer.degraded == ()


def test_few_texts_or_server_without_batches_use_direct_requests(kit):
    kit.meaning.catch_up()
    kit.later()
    kit.write(range(100, 105))
    assert kit.later() == 5
    assert (kit.asked, kit.under_way) == (5, (0, 0))
    kit.embedder = HashingEmbedder()
    assert kit.later() == MANY + 5
    assert kit.meaning.batches() is None


def test_notes_written_during_job_are_found_immediately_without_duplicate_vectors(kit):
    kit.fake.jobs.looks = 99
    kit.meaning.catch_up()
    kit.write([100])
    answer = Search(kit.store, kit.index, kit.meaning, budget=60).search("heron number 100", Scope())
    assert kit.asked == 2, "the note and the question"
    assert "1 batch jobs are under way" in answer.degraded[0]
    assert kit.meaning.waiting() == MANY


def test_an_index_that_is_made_anew_hands_in_nothing_twice(kit):
    kit.fake.jobs.looks = 2
    kit.meaning.catch_up()
    kit.index.rebuild()
    kit.write(range(100, 103))
    assert kit.later() == 3
    assert (kit.under_way, kit.asked) == ((1, MANY), 3)
    kit.later()
    kit.later()
    assert (kit.meaning.waiting(), len(kit.fake.jobs.jobs), kit.asked) == (0, 1, 0)


def test_job_of_dead_process_is_collected_by_next_process(kit):
    kit.meaning.catch_up()
    kit.batching, kit.meaning = kit.process()
    assert kit.meaning.batches_due() == 0
    assert kit.meaning.catch_up() == MANY
    assert len(kit.fake.jobs.jobs) == 1
    assert (kit.asked, kit.meaning.batches_due()) == (0, None)


def test_job_survives_temporarily_unavailable_server(kit):
    kit.meaning.catch_up()
    for away in (502, 429):
        kit.fake.busy, kit.fake.refuses_with = 2, away
        assert kit.later() == 0
        assert kit.under_way == (1, MANY)
    kit.fake.busy = 0
    assert kit.later() == MANY


@both
@pytest.mark.parametrize("ends", ["failed", "expired"])
def test_failed_job_keeps_finished_vectors_and_embeds_rest_directly(kit, ends):
    kit.fake.jobs.ends = ends
    kit.meaning.catch_up()
    done = MANY // 2 if ends == "expired" else 0
    assert kit.later() == MANY
    assert kit.meaning.waiting() == 0
    assert kit.asked == MANY - done
    assert ends in kit.meaning.batches()["trouble"]
    # For a while no other job is tried, also by others and after a restart.
    kit.write(range(200, 200 + MANY))
    kit.batching, kit.meaning = kit.process()
    assert (kit.meaning.catch_up(), kit.asked, kit.under_way) == (MANY, MANY, (0, 0))
    kit.now += 3_600
    kit.fake.jobs.ends = "done"
    kit.write(range(300, 300 + MANY))
    kit.meaning.catch_up()
    assert kit.under_way == (1, MANY)
    assert kit.later() == MANY
    assert kit.meaning.batches()["trouble"] is None


def test_failed_lines_are_embedded_directly_without_another_job(kit):
    kit.fake.jobs.fails = lambda line: "number 1" in line
    kit.meaning.catch_up()
    assert kit.later() == MANY
    assert kit.asked == 11, "number 1 and 10 to 19"
    assert (kit.meaning.waiting(), len(kit.fake.jobs.jobs)) == (0, 1)


def test_a_job_that_brings_vectors_of_another_length_counts_as_failed(kit):
    kit.meaning.catch_up()
    kit.fake.always = 2
    with pytest.raises(EmbedderError, match="2 dimensions in the place of 32"):
        kit.later()
    assert "2 dimensions" in kit.meaning.batches()["trouble"]
    kit.fake.always = 0
    assert kit.later() == MANY


def test_overdue_or_unknown_job_is_abandoned(kit):
    kit.fake.jobs.looks = 99
    kit.meaning.catch_up()
    (job,) = kit.fake.jobs.jobs
    kit.now += OPTIONS.timeout
    assert kit.later() == MANY
    assert kit.fake.jobs.jobs[job].state == "cancelled"
    assert "longer than 60 minutes" in kit.meaning.batches()["trouble"]
    kit.now += 3_600
    kit.write(range(200, 200 + MANY))
    kit.meaning.catch_up()
    kit.fake.jobs.jobs.clear()
    assert kit.later() == MANY
    assert "does not know" in kit.meaning.batches()["trouble"]


def test_refused_job_falls_back_to_direct_requests_with_reason(kit):
    kit.fake.busy, kit.fake.busy_at = 1, ("/batches", ":asyncBatchEmbedContent")
    assert kit.meaning.catch_up() == MANY
    assert (kit.asked, kit.fake.jobs.files) == (MANY, {})
    assert "429" in kit.meaning.batches()["trouble"]


def test_concurrent_jobs_are_limited_and_waiting_texts_stay_queued(kit):
    _, kit.meaning = kit.process(replace(OPTIONS, most=12))
    kit.write(range(100, 130))
    kit.fake.jobs.looks = 2
    kit.meaning.catch_up()
    assert (kit.under_way, kit.asked) == ((2, 24), 0)
    for _ in range(4):
        kit.later()
    assert (kit.meaning.waiting(), len(kit.fake.jobs.jobs)) == (0, 4)
    assert kit.asked == 2, "the last ones are too few for a job"


def test_who_waits_sees_the_end_and_who_does_not_goes_on(kit):
    kit.fake.jobs.looks = 3
    kit.meaning.catch_up()
    rounds = 0
    while kit.meaning.catch_up() or kit.meaning.wait_for_batches(lambda: False):
        rounds += 1
    assert (rounds, kit.meaning.waiting()) == (5, 0)
    kit.fake.jobs.looks = 3
    kit.write(range(200, 200 + MANY))
    _, meaning = kit.process(BatchOptions(wait=False, least=10))
    meaning.catch_up()
    assert not meaning.wait_for_batches(lambda: False)
    assert not kit.meaning.wait_for_batches(lambda: True), "it was told to stop"


def test_two_processes_hand_in_one_job(kit):
    _, other = kit.process()
    both = threading.Barrier(2)

    def one(meaning):
        both.wait()
        meaning.catch_up()

    threads = [threading.Thread(target=one, args=[meaning]) for meaning in (kit.meaning, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kit.fake.jobs.jobs) == 1


class Limited(HashingEmbedder):
    """Its server has had enough, but for something short."""

    def embed(self, texts):
        if texts != ["."]:
            raise EmbedderBusy("the quota is used up.", hint="Wait.")
        return super().embed(texts)


def test_no_text_is_blamed_for_a_limit_that_is_reached(kit):
    kit.embedder = Limited()
    with pytest.raises(EmbedderBusy):
        kit.meaning.catch_up()
    assert kit.meaning.waiting() == MANY


def test_nothing_is_handed_in_unless_somebody_asked_for_it(kit, tmp_path):
    meaning = SemanticIndex(kit.store, lambda: kit.embedder)
    assert meaning.catch_up() == MANY
    assert (kit.asked, kit.fake.jobs.jobs, meaning.batches()) == (MANY, {}, None)
    url = kit.embedder.identity.endpoint
    for switch, report in [("off", None), ("on", {"jobs": 0, "texts": 0, "trouble": None})]:
        environ = {
            "HOLDFAST_HOME": str(tmp_path),
            "HOLDFAST_EMBEDDER": f"{kit.embedder.identity.provider}+{url}",
            "HOLDFAST_EMBEDDER_BATCH": switch,
        }
        parts = build_remembering(load(environ=environ).settings, kit.store)
        assert parts.meaning.batches() == report
        parts.close()


def test_search_does_not_wait_for_job_submission(kit):
    answer = Search(kit.store, kit.index, kit.meaning, budget=60).search("heron number 7", Scope())
    assert "vectors" in answer.engines
    assert (kit.meaning.waiting(), kit.fake.jobs.jobs) == (0, {})


@pytest.mark.anyio
async def test_a_server_looks_at_its_jobs_until_they_are_done(kit, tmp_path):
    class Chosen(ChosenEmbedder):
        """One that is told which embedder there is."""

        def _open(self):
            self._opened = kit.embedder

    kit.fake.jobs.looks = 2
    chosen = Chosen(EmbedderOptions("embedded"))
    options = BatchOptions(poll=0.01, least=10)
    async with remembering(RequestScripts(), tmp_path, embedder=chosen) as engine:
        parts = MemoryService(
            kit.store, FolderWorkspace(kit.folder), chosen, batching=BatchEmbedder(kit.store, options)
        )
        later = BackgroundJobs(kit.store, engine.compaction, None, remembering=parts)
        later.start()
        with anyio.fail_after(60):
            while parts.meaning.waiting() or later.idle.is_waiting("batches"):
                await later.idle.wait_until_idle()
                await anyio.sleep(0.01)
        await later.close()
    assert (len(kit.fake.jobs.jobs), kit.asked) == (1, 1), "it was woken with a word"


TEXTS = {"a": "the gateway server in Kiel", "b": "bake bread slowly", "c": "", "d": "half a \ud83d pair"}
SECRET = "sk-secret"


@pytest.fixture(params=[(FakeOpenAI, OpenAIEmbedder), (FakeGemini, GeminiEmbedder)], ids=["openai", "gemini"])
def pair(request):
    """A fake server, and an embedder for it."""
    fake = request.param[0]()
    with fake.served() as url:
        embedder = request.param[1].open(EmbeddingClient(url, headers={"x-key": SECRET}), dimensions=32)
        fake.requests.clear()
        yield fake, embedder
        embedder.close()


def test_a_job_brings_the_same_vectors_as_asking_does(pair):
    fake, embedder = pair
    fake.jobs.looks = 1
    job = embedder.batches.submit(TEXTS)
    assert embedder.batches.look(job) == BatchJob()
    seen = embedder.batches.look(job)
    assert (seen.over, seen.trouble) == (True, "")
    rows = dict(embedder.batches.rows(seen))
    assert rows.keys() == TEXTS.keys()
    for name, text in TEXTS.items():
        (vector,) = embedder.embed([text])
        assert validate_vectors([rows[name]], 1, embedder.identity)[0] == pytest.approx(vector, abs=1e-5)


def test_nobody_else_can_read_the_notes_afterwards(pair):
    fake, embedder = pair
    fake.jobs.fails = lambda text: "bread" in text
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert fake.jobs.files
    embedder.batches.tidy(seen)
    assert fake.jobs.files == {}
    # What is gone already is no trouble.
    embedder.batches.tidy(seen)


def test_lines_that_failed_are_missing_and_the_others_are_there(pair):
    fake, embedder = pair
    fake.jobs.fails = lambda text: "bread" in text
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert dict(embedder.batches.rows(seen)).keys() == {"a", "c", "d"}
    fake.jobs.fails = lambda _: True
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert (seen.over, list(embedder.batches.rows(seen))) == (True, [])


def test_job_ending_early_reports_state_and_keeps_finished_rows(pair):
    fake, embedder = pair
    for ends, done in [("failed", set()), ("cancelled", set()), ("expired", {"a", "c"})]:
        fake.jobs.ends = ends
        seen = embedder.batches.look(embedder.batches.submit(TEXTS))
        assert seen.over
        assert ends in seen.trouble
        assert dict(embedder.batches.rows(seen)).keys() == done
    fake.jobs.looks = 99
    job = embedder.batches.submit(TEXTS)
    embedder.batches.cancel(job)
    assert embedder.batches.look(job).over


def test_a_job_the_server_does_not_know_is_gone(pair):
    _, embedder = pair
    job = embedder.batches.submit(TEXTS)
    with pytest.raises(BatchJobGone):
        embedder.batches.look(f"{job}0")


def test_busy_server_causes_no_duplicate_job_and_no_leftover_file(pair):
    fake, embedder = pair
    create = {"openai": "/v1/batches", "gemini": ":asyncBatchEmbedContent"}[embedder.identity.provider]
    fake.busy, fake.busy_at = 1, (create,)
    with pytest.raises(EmbedderError, match="429"):
        embedder.batches.submit(TEXTS)
    assert sum(asked.path.endswith(create) for asked in fake.requests) == 1
    assert (fake.jobs.jobs, fake.jobs.files) == ({}, {})


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"id": 7}'])
def test_a_server_that_names_nothing_is_an_error(body):
    good = response(b'{"data": [{"embedding": [1, 2]}]}')
    with hostile([good], [response(body)]) as server:
        embedder = OpenAIEmbedder.open(EmbeddingClient(server.url, sleep=lambda _: None), model="m")
        with pytest.raises(EmbedderError, match="no name"):
            embedder.batches.submit({"a": "text"})
        embedder.close()


def test_server_messages_hide_the_key_and_truncated_file_is_error():
    good = response(b'{"data": [{"embedding": [1, 2]}]}')
    failed = b'{"status": "failed", "errors": {"data": [{"message": "bad key sk-secret"}]}}'
    half = b'{"custom_id": "a", "response": {"status_code": 200}}\n{"cus'
    with hostile([good], [response(failed)], [response(half)], [response(half)[:-9]]) as server:
        embedder = OpenAIEmbedder.open(
            EmbeddingClient(server.url, key=SECRET, sleep=lambda _: None), model="m"
        )
        trouble = embedder.batches.look("job").trouble
        assert "bad key" in trouble
        assert SECRET not in trouble
        for says in ("no JSON", "hung up"):
            rows = embedder.batches.rows(BatchJob(output=("file",)))
            with pytest.raises(EmbedderError, match=says):
                list(rows)
        embedder.close()
