from holdfast.conversations import SideRequestCache
from holdfast.conversations.side_requests import find_summaries
from holdfast.messages import Scope, ToolCall
from tests.conversations.builders import answer, result, system, user

HERE, THERE = Scope(user="here"), Scope(user="there")
SUMMARY = "We read the plan of the mill house: three rooms and a wheel."


def test_the_looks_of_a_summary():
    assert find_summaries(
        [user("This session is being continued from a previous conversation. …"), user("Hi")]
    ) == {0}
    assert find_summaries([system("Be brief.\n[CONVERSATION SUMMARY]\nHerbs."), user("Hi")]) == {0}
    assert find_summaries([user("Another language model started to solve this problem and …")]) == {0}
    assert find_summaries([user("What did we do so far?"), answer("Herbs."), user("And now?")]) == {0, 1}
    assert find_summaries([user("Herbs."), answer("Got it. Thanks for the additional context!")]) == {0, 1}
    assert find_summaries([user("Dies ist eine Zusammenfassung des bisherigen Gesprächs: …")]) == {0}


def test_a_person_who_asks_for_a_summary_does_not_give_one():
    assert not find_summaries(
        [user("What is a summary of the novel?"), answer("A whale."), user("What did we do so far?")]
    )
    assert not find_summaries([user("Tell me: is this session being continued?")])


def test_side_request_answer_is_recognised_alone_or_inside_message():
    asides = SideRequestCache()
    asides.add(HERE, "compaction", answer(SUMMARY), sender="ls", conversation="c_1")
    assert asides.find_summary(HERE, "ls", answer(SUMMARY)).conversation == "c_1"
    wrapped = user(f"Read this first:\n\n{SUMMARY}\n\nThen go on.")
    assert asides.find_summary(HERE, "ls", wrapped, inside=True).conversation == "c_1"
    assert asides.find_summary(HERE, "ls", wrapped) is None
    assert asides.find_summary(HERE, "ls", answer("Three rooms and a wheel.")) is None


def test_asides_are_kept_apart_by_scope_and_client():
    asides = SideRequestCache()
    asides.add(HERE, "compaction", answer(SUMMARY), sender="ls", conversation="c_1")
    assert asides.find_summary(THERE, "ls", answer(SUMMARY)) is None
    assert asides.find_summary(HERE, "curl", answer(SUMMARY)) is None


def test_a_short_answer_is_no_summary():
    asides = SideRequestCache()
    asides.add(HERE, "compaction", answer("Done."), conversation="c_1")
    assert asides.find_summary(HERE, "", answer("Done.")) is None


def test_results_of_a_side_requests_calls_belong_to_it():
    asides, look = SideRequestCache(), ToolCall("read", "{}", "call_1")
    asides.add(HERE, "compaction", answer("Let me look.", look))
    assert (
        asides.find_by_results(HERE, [user("Hi"), answer("Let me look.", look), result("call_1", "ok")]).name
        == "compaction"
    )
    assert (
        asides.find_by_results(
            HERE, [user("Hi"), answer("Let me look.", look), result("call_1", "ok"), user("So?")]
        )
        is None
    )
    assert (
        asides.find_by_results(
            HERE, [user("Hi"), answer("", ToolCall("read", "{}", "call_2")), result("call_2", "ok")]
        )
        is None
    )
    assert asides.find_by_results(HERE, []) is None


def test_the_newest_counts_and_the_oldest_are_forgotten():
    asides = SideRequestCache(limit=2)
    for number in range(3):
        asides.add(HERE, "compaction", answer(f"{SUMMARY} Number {number}."), conversation=f"c_{number}")
    asides.add(HERE, "compaction", answer(f"{SUMMARY} Number 2."), conversation="c_new")
    assert asides.find_summary(HERE, "", answer(f"{SUMMARY} Number 2.")).conversation == "c_new"
    assert asides.find_summary(HERE, "", answer(f"{SUMMARY} Number 0.")) is None
