"""An answer that is being written survives whoever writes it."""

from holdfast.messages import Message, Scope, Text, Thinking
from holdfast.store import NewMessage
from tests.contract.test_store import SCOPE, talk, user_messages, words


def answer(text: str) -> Message:
    return Message.of("assistant", text)


def test_a_draft_is_replaced_as_the_answer_grows(store):
    conversation, (question,) = talk(store, "question")
    for text in ("He", "Hello", "Hello you"):
        store.drafts.save("j_1", conversation.id, question.id, answer(text), "llama", now=float(len(text)))
    (draft,) = store.drafts.of(conversation.id)
    assert (draft.job, draft.parent, draft.message, draft.model) == (
        "j_1",
        question.id,
        answer("Hello you"),
        "llama",
    )
    assert draft.beat_at == 9.0
    assert store.log.children(question.id) == []


def test_a_finished_draft_becomes_the_head(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_1", conversation.id, question.id, answer("Hel"), "llama")
    finish = store.drafts.finish("j_1", NewMessage(answer("Hello"), finish="stop"), now=7.0)
    assert (finish.parent, finish.job, finish.model, finish.finish) == (question.id, "j_1", "llama", "stop")
    moved = store.log.get(conversation.id)
    assert (moved.head, moved.version, moved.updated_at) == (finish.id, conversation.version + 1, 7.0)
    assert store.drafts.of(conversation.id) == []


def test_finishing_twice_writes_once(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_1", conversation.id, question.id, answer("Hello"))
    assert store.drafts.finish("j_1", NewMessage(answer("Hello"))) is not None
    assert store.drafts.finish("j_1", NewMessage(answer("Hello"))) is None
    assert words(store.log.path(store.log.get(conversation.id).head)) == ["question", "Hello"]


def test_an_answer_that_comes_too_late_stays_beside_what_happened(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_1", conversation.id, question.id, answer("slow"))
    (other,) = store.log.append(
        conversation.id, user_messages("never mind"), parent=question.id, expect=question.id
    )
    slow = store.drafts.finish("j_1", NewMessage(answer("slow")))
    assert store.log.get(conversation.id).head == other.id
    assert store.log.children(question.id) == [other, slow]


def test_the_answer_follows_a_message_of_its_own_job(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_1", conversation.id, question.id, answer("whole"))
    own = [NewMessage(answer("part"), job="j_1")]
    store.log.append(conversation.id, own, parent=question.id, expect=question.id)
    whole = store.drafts.finish("j_1", NewMessage(answer("whole")))
    assert store.log.get(conversation.id).head == whole.id


def test_answer_identical_to_earlier_answer_reuses_it(store):
    conversation, (question, first) = talk(store, "question", "same")
    store.log.set_head(conversation.id, question.id, expect=first.id)
    store.drafts.save("j_1", conversation.id, question.id, Message.of("user", "same"))
    assert store.drafts.finish("j_1", NewMessage(Message.of("user", "same"))) == first
    assert store.log.get(conversation.id).head == first.id


def test_an_answer_to_nothing_starts_the_tree(store):
    conversation = store.log.create(SCOPE)
    store.drafts.save("j_1", conversation.id, None, answer("welcome"))
    finish = store.drafts.finish("j_1", NewMessage(answer("welcome")))
    assert (finish.parent, store.log.get(conversation.id).head) == (None, finish.id)


def test_a_discarded_draft_is_gone(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_1", conversation.id, question.id, answer("no"))
    store.drafts.discard("j_1")
    store.drafts.discard("j_1")
    assert store.drafts.of(conversation.id) == []
    assert store.drafts.finish("j_1", NewMessage(answer("no"))) is None


def test_what_a_dead_writer_left_is_kept_and_marked_as_cut(store):
    conversation, (question,) = talk(store, "question")
    job = store.jobs.start(SCOPE, conversation=conversation.id, now=100.0)
    part = Message("assistant", (Thinking("hm"), Text("half an ans")))
    store.drafts.save(job.id, conversation.id, question.id, part, "llama", now=100.0)
    assert store.drafts.recover(now=104.0) == []
    (record,) = store.drafts.recover(now=105.0)
    assert (record.message, record.finish, record.job, record.model) == (part, "cut", job.id, "llama")
    assert store.log.get(conversation.id).head == record.id
    assert store.drafts.of(conversation.id) == []
    ended = store.jobs.get(job.id)
    assert (ended.status, ended.finished_at) == ("cut", 105.0)
    assert store.drafts.recover(now=200.0) == []


def test_a_writer_that_still_beats_is_left_alone(store):
    conversation, (question,) = talk(store, "question")
    store.drafts.save("j_dead", conversation.id, question.id, answer("dead"), now=100.0)
    store.drafts.save("j_live", conversation.id, question.id, answer("live"), now=109.0)
    assert words(store.drafts.recover(now=110.0)) == ["dead"]
    assert [draft.job for draft in store.drafts.of(conversation.id)] == ["j_live"]


def test_an_empty_draft_leaves_no_message_but_ends_its_job(store):
    conversation, (question,) = talk(store, "question")
    job = store.jobs.start(Scope(), conversation=conversation.id)
    store.drafts.save(job.id, conversation.id, question.id, Message("assistant", ()), now=0.0)
    assert store.drafts.recover(now=10.0) == []
    assert store.log.get(conversation.id).head == question.id
    assert store.drafts.of(conversation.id) == []
    assert store.jobs.get(job.id).status == "cut"
