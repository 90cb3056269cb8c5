"""Jobs, prompts, decisions, compactions, the outbox, leases, settings and models, on every backend."""

import pytest

from holdfast.errors import Conflict, NotFound, StoreError
from holdfast.messages import Message, Scope, Usage
from holdfast.store import KnownModel
from tests.contract.test_store import SCOPE, talk


def test_a_job_goes_from_the_queue_to_its_end(store):
    conversation, _ = talk(store, "a")
    job = store.jobs.start(
        Scope("ann", "house"), kind="main", model="llama", conversation=conversation.id, queued=True, now=1.0
    )
    assert (job.status, job.queued_at, job.started_at) == ("queued", 1.0, None)
    store.jobs.mark_running(job.id, upstream="http://127.0.0.1", prompt="digest", window=8192, now=2.0)
    usage = Usage(10, 20, None, {"eval_duration": 5})
    store.jobs.end(job.id, "done", usage=usage, first_token_at=3.0, now=5.0)
    ended = store.jobs.get(job.id)
    assert ended.status == "done"
    assert (ended.started_at, ended.first_token_at, ended.finished_at) == (2.0, 3.0, 5.0)
    assert ended.usage == usage
    assert (ended.user, ended.project, ended.model, ended.conversation) == (
        "ann",
        "house",
        "llama",
        conversation.id,
    )
    assert (ended.upstream, ended.prompt, ended.window) == ("http://127.0.0.1", "digest", 8192)


def test_a_job_ends_once(store):
    job = store.jobs.start(SCOPE, now=1.0)
    assert (job.status, job.started_at, job.usage) == ("running", 1.0, Usage())
    store.jobs.end(job.id, "failed", error="no\x00answer", window=4096, now=2.0)
    store.jobs.end(job.id, "cut", now=3.0)
    store.jobs.end(job.id, "done", usage=Usage(1), now=4.0)
    ended = store.jobs.get(job.id)
    assert (ended.status, ended.error, ended.finished_at) == ("failed", "no\ufffdanswer", 2.0)
    assert ended.window == 4096


def test_a_job_that_broke_off_keeps_what_it_used(store):
    job = store.jobs.start(SCOPE, kind="side")
    store.jobs.end(job.id, "cut", error="the client left", usage=Usage(completion=3))
    ended = store.jobs.get(job.id)
    assert (ended.kind, ended.status, ended.error) == ("side", "cut", "the client left")
    assert ended.usage.completion == 3


def test_jobs_are_listed_newest_first(store):
    conversation, _ = talk(store, "a")
    old = store.jobs.start(SCOPE, now=1.0)
    mine = store.jobs.start(SCOPE, conversation=conversation.id, now=2.0)
    new = store.jobs.start(SCOPE, now=3.0)
    store.jobs.end(old.id, "done")
    assert [job.id for job in store.jobs.recent()] == [new.id, mine.id, old.id]
    assert [job.id for job in store.jobs.recent(1)] == [new.id]
    assert [job.id for job in store.jobs.recent(conversation=conversation.id)] == [mine.id]
    assert [job.id for job in store.jobs.recent(status="done")] == [old.id]


def test_a_job_of_a_conversation_that_is_gone_is_a_conflict(store):
    with pytest.raises(Conflict):
        store.jobs.start(SCOPE, conversation="c_gone")
    with pytest.raises(NotFound):
        store.jobs.get("j_gone")


def test_the_same_prompt_is_kept_once(store):
    system = [Message.of("system", "Be brief. \x00 ✨"), Message.of("system", "Be kind.")]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    digest = store.prompts.keep(system, tools)
    assert store.prompts.keep(system, tools) == digest
    assert store.prompts.keep(system) != digest
    prompt = store.prompts.get(digest)
    assert (prompt.digest, prompt.system, prompt.tools) == (digest, tuple(system), tuple(tools))
    with pytest.raises(NotFound):
        store.prompts.get("unknown")


def decide(store, conversation, lane="8k", **changes):
    fields = {"kind": "cut", "rule": "long", "messages": ["m_1"], "tokens_before": 9, "tokens_after": 3}
    return store.decisions.record(lane, conversation.id, **{**fields, **changes})


def test_decisions_are_kept_by_lane_in_their_order(store):
    conversation, _ = talk(store, "a")
    first = decide(store, conversation, reason="too long", data={"head": 3}, now=5.0)
    second = decide(store, conversation, messages=("m_2", "m_3"), now=5.0)
    elsewhere = decide(store, conversation, lane="32k")
    assert store.decisions.of("8k") == [first, second]
    assert store.decisions.of("32k") == [elsewhere]
    assert (first.reason, first.data, first.created_at, first.vetoed_at) == (
        "too long",
        {"head": 3},
        5.0,
        None,
    )
    assert list(second.messages) == ["m_2", "m_3"]


def test_removing_a_decision_leaves_a_veto(store):
    conversation, _ = talk(store, "a")
    decision = decide(store, conversation)
    assert store.decisions.remove(decision.id, now=8.0).vetoed_at == 8.0
    assert store.decisions.remove(decision.id, now=9.0).vetoed_at == 8.0
    assert store.decisions.of("8k") == []
    assert [veto.id for veto in store.decisions.vetoes("8k")] == [decision.id]
    with pytest.raises(NotFound):
        store.decisions.remove("d_missing")


def test_a_compaction_says_what_it_freed(store):
    conversation, _ = talk(store, "a")
    record = store.compactions.record(
        conversation.id,
        lane="8k",
        level=3,
        strategy="summary",
        messages=12,
        tokens_before=6000,
        tokens_after=900,
        memories=2,
        model="llama",
        path="default/conversations/x/summary.md",
        duration_ms=1500,
    )
    assert record.tokens_freed == 5100
    assert store.compactions.of(conversation.id) == [record]
    assert store.compactions.of("c_other") == []


def test_the_outbox_keeps_promises_until_they_are_kept(store):
    first = store.outbox.put("note", {"text": "a\x00b"}, now=1.0)
    second = store.outbox.put("vector", ["m_1"], now=1.0)
    assert [(item.id, item.topic, item.payload) for item in store.outbox.pending()] == [
        (first, "note", {"text": "a\x00b"}),
        (second, "vector", ["m_1"]),
    ]
    store.outbox.record_failure(first, "disk full")
    store.outbox.complete(second)
    (item,) = store.outbox.pending()
    assert (item.id, item.attempts, item.error) == (first, 1, "disk full")
    store.outbox.complete(first)
    assert store.outbox.pending() == []


def test_what_is_written_atomically_is_written_together(store):
    conversation, (_a,) = talk(store, "a")

    def compact(fail: bool) -> str:
        decision = decide(store, conversation)
        store.outbox.put("note", decision.id)
        assert store.decisions.of("8k") == [decision]
        if fail:
            raise Conflict("moved on")
        return decision.id

    with pytest.raises(Conflict, match="moved on"):
        store.atomically(compact, fail=True)
    assert (store.decisions.of("8k"), store.outbox.pending()) == ([], [])
    done = store.atomically(compact, fail=False)
    assert [item.payload for item in store.outbox.pending()] == [done]


def test_failed_inner_step_rolls_back_transaction_even_when_suppressed(store):
    _conversation, (a,) = talk(store, "a")

    def work() -> None:
        store.settings.set("before", 1)
        with pytest.raises(Conflict):
            store.log.set_tokens("exact", {a.id: 1, "m_missing": 2})

    with pytest.raises(StoreError):
        store.atomically(work)
    assert store.settings.all() == {}
    assert store.log.tokens("exact", [a.id]) == {}
    store.settings.set("after", 2)
    assert store.settings.all() == {"after": 2}


def test_a_lease_has_one_owner_until_it_runs_out(store):
    assert store.leases.take("tidy", "server", 30.0, now=100.0)
    assert not store.leases.take("tidy", "cli", 30.0, now=129.0)
    assert store.leases.take("tidy", "server", 30.0, now=120.0)
    assert not store.leases.take("tidy", "cli", 30.0, now=149.0)
    assert store.leases.take("tidy", "cli", 30.0, now=150.0)
    assert not store.leases.renew("tidy", "server", 30.0, now=151.0)
    assert store.leases.renew("tidy", "cli", 30.0, now=170.0)
    assert not store.leases.renew("tidy", "cli", 30.0, now=200.0)
    assert store.leases.take("index", "server", 30.0, now=170.0)


def test_lease_can_be_released_only_by_owner_and_is_free_immediately(store):
    store.leases.take("tidy", "server", 30.0, now=100.0)
    store.leases.release("tidy", "cli")
    assert not store.leases.take("tidy", "cli", 30.0, now=101.0)
    store.leases.release("tidy", "server")
    assert store.leases.take("tidy", "cli", 30.0, now=101.0)


def test_settings_are_any_json_by_name(store):
    assert store.settings.get("level") is None
    assert store.settings.get("level", 3) == 3
    store.settings.set("level", {"a": [1, None, "ü"]})
    store.settings.set("off", None)
    store.settings.set("off", False)
    assert store.settings.get("level") == {"a": [1, None, "ü"]}
    assert store.settings.all() == {"level": {"a": [1, None, "ü"]}, "off": False}


def test_a_model_is_known_by_its_server_and_name(store):
    assert store.models.get("http://a", "llama") is None
    first = store.models.put("http://a", "llama", trained_window=32768, info={"arch": "llama"}, now=1.0)
    assert first == KnownModel("http://a", "llama", 32768, None, None, {"arch": "llama"}, 1.0)
    store.models.put("http://a", "llama", num_ctx=8192, now=2.0)
    known = store.models.put("http://a", "llama", recommended_ctx=16384, now=3.0)
    assert known == KnownModel("http://a", "llama", 32768, 16384, 8192, {"arch": "llama"}, 3.0)
    assert store.models.put("http://a", "llama", num_ctx=None).num_ctx is None
    other = store.models.put("http://b", "llama")
    assert store.models.all("http://b") == [other]
    assert [model.upstream for model in store.models.all()] == ["http://a", "http://b"]
