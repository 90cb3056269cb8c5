import re

import pytest

from holdfast.conversations import Hints
from holdfast.errors import NotFound
from holdfast.messages import Scope, ToolCall
from tests.conversations.builders import Talk, answer, result, system, user

Q1, A1 = user("Which herbs like shade?"), answer("Woodruff and mint do, most of the time.")
Q2, A2 = user("How often do I water them?"), answer("Whenever the soil feels dry to the finger.")
Q3, A3 = user("And how often in winter?"), answer("Half as much as in summer, and only in the morning.")
CHAT = {"x-openwebui-chat-id": "chat-1", "user-agent": "Python/3.11 aiohttp/3.13"}
SESSION = {"x-session-id": "ses_1", "user-agent": "opencode/1.18"}


def three_turns(talk: Talk, headers: dict[str, str] | None = None) -> str:
    talk.say(Q1, answered=A1, headers=headers)
    talk.say(Q1, A1, Q2, answered=A2, headers=headers)
    _, conversation = talk.say(Q1, A1, Q2, A2, Q3, answered=A3, headers=headers)
    return conversation


def test_three_turns_are_one_conversation(talk):
    conversation = three_turns(talk)
    assert talk.conversations() == {conversation}
    assert talk.told(conversation) == [item.text for item in (Q1, A1, Q2, A2, Q3, A3)]


def test_only_new_messages_are_stored_and_rest_is_matched(talk):
    talk.say(Q1, answered=A1)
    placement = talk.place(system("It is 10:00."), Q1, A1, Q2)
    assert [new.message for new in placement.new] == [Q2]
    assert [stored and stored.message for stored in placement.matched] == [None, Q1, A1, None]
    assert not placement.forks
    assert "goes on" in placement.reason


def test_a_single_first_message_is_always_a_new_conversation(talk):
    _, first = talk.say(Q1, answered=A1)
    _, second = talk.say(Q1, answered="Ferns, above all the others.")
    assert first != second
    assert talk.place(Q1, answer("Ferns, above all the others."), Q2).conversation == second
    assert talk.place(Q1, A1, Q2).conversation == first


def test_conversations_with_identical_start_continue_separately(talk):
    first = three_turns(talk)
    _, second = talk.say(Q1, answered=A1)
    assert talk.place(Q1, A1, Q2).conversation == second
    assert talk.place(Q1, A1, Q2, A2, Q3, A3, user("Thanks.")).conversation == first


def test_answer_shared_by_branches_leads_to_branch_of_its_question(talk):
    shared = answer("Yes, that works well enough for most people.")
    questions = [user(f"Does recipe number {number} work with rye?") for number in range(6)]
    talk.say(Q1, answered=A1)
    for question in questions:
        talk.say(Q1, A1, question, answered=shared)
    for question in questions:
        _, results = talk.say(Q1, A1, question, shared, user("And how long?"), answered="About an hour.")
        assert talk.told(results)[:4] == [Q1.text, A1.text, question.text, shared.text]


def test_an_edited_question_becomes_a_branch_of_the_same_conversation(talk):
    conversation = three_turns(talk)
    placement, edited = talk.say(Q1, A1, user("How much light do they need?"), answered="Six hours.")
    assert (edited, placement.forks) == (conversation, True)
    assert talk.told(conversation)[-2:] == ["How much light do they need?", "Six hours."]
    # Back to where the conversation ended before: that branch is still there.
    back = talk.place(Q1, A1, Q2, A2, Q3, A3, user("Thanks."))
    assert (back.conversation, back.forks) == (conversation, False)


def test_an_answer_wanted_again_is_a_sibling_of_the_first(talk):
    conversation = three_turns(talk)
    placement, again = talk.say(Q1, A1, Q2, A2, Q3, answered="Hardly ever.")
    assert (again, placement.forks, placement.new) == (conversation, True, ())
    assert talk.told(conversation)[-2:] == [Q3.text, "Hardly ever."]


def test_a_request_that_failed_and_is_repeated_is_kept_once(talk):
    talk.say(Q1, answered=A1)
    _, conversation = talk.say(Q1, A1, Q2, answered=None)
    placement, again = talk.say(Q1, A1, Q2, answered=A2)
    assert (again, placement.new, placement.forks) == (conversation, (), False)
    assert talk.told(conversation) == [Q1.text, A1.text, Q2.text, A2.text]


def test_a_question_that_got_no_answer_may_stay_or_go(talk):
    talk.say(Q1, answered=A1)
    _, conversation = talk.say(Q1, A1, Q2, answered=None)
    place = talk.place(Q1, A1, Q2, Q3)
    dropped = talk.place(Q1, A1, Q3)
    assert place.conversation == dropped.conversation == conversation
    assert [new.message for new in place.new] == [new.message for new in dropped.new] == [Q3]
    assert not place.forks
    assert not dropped.forks


def test_an_answer_that_goes_on_follows_the_first_half(talk):
    _, conversation = talk.say(Q1, answered=A1)
    placement, _ = talk.say(Q1, A1, answered="And so does sweet cicely, if there is room.")
    assert (placement.conversation, placement.new) == (conversation, ())
    glued = answer(A1.text + "And so does sweet cicely, if there is room.")
    assert talk.place(Q1, glued, Q2).conversation == conversation


def test_answers_of_another_server_in_between_are_kept_as_they_came(talk):
    _, conversation = talk.say(Q1, answered=A1)
    placement, _ = talk.say(Q1, A1, Q2, answer("Somebody else says: daily."), Q3, answered=A3)
    assert placement.conversation == conversation
    assert talk.told(conversation)[3] == "Somebody else says: daily."


def test_unseen_history_becomes_new_conversation_with_all_messages(talk):
    three_turns(talk)
    placement = talk.place(user("Who won?"), answer("The reds did."), user("By how much?"))
    assert placement.conversation is None
    assert len(placement.new) == 3


def test_the_same_question_with_another_answer_is_not_the_same_conversation(talk):
    three_turns(talk)
    assert talk.place(Q1, answer("Nothing does, really."), Q2).conversation is None


def test_history_cut_at_front_is_found_by_remaining_messages(talk):
    conversation = three_turns(talk)
    placement = talk.place(Q2, A2, Q3, A3, user("Thanks."))
    assert (placement.conversation, placement.forks) == (conversation, False)
    assert talk.place(Q3, A3, user("Thanks.")).conversation == conversation


def test_small_talk_is_too_little_to_know_a_shortened_history_by(talk):
    three_turns(talk)
    history = (Q1, A1, Q2, A2, Q3, A3)
    talk.say(*history, user("Thanks!"), answered="You are welcome!")
    strange = (user("Who won?"), answer("The reds did."))
    assert talk.place(*strange, user("Thanks!"), answer("You are welcome!"), Q1).conversation is None


def test_a_collage_of_several_conversations_is_a_conversation_of_its_own(talk):
    three_turns(talk)
    talk.say(user("Who won the regatta?"), answered="The crew from Kiel, by a boat's length.")
    collage = (Q1, A1, user("Who won the regatta?"), answer("The crew from Kiel, by a boat's length."), Q2)
    assert talk.place(*collage).conversation is None


def test_a_toss_up_between_forks_begins_anew(talk):
    for last in ("The one by the door.", "The one in the yard."):
        talk.say(Q1, answered=A1)
        talk.say(Q1, A1, user(last), answered=f"I see: {last}")
    assert talk.place(Q1, A1, user("Neither of them.")).conversation is None


def test_another_scope_sees_nothing_of_it(talk):
    three_turns(talk)
    other = Talk(talk.store, Scope(user=talk.scope.user, project="other"), talk.asides)
    group = Talk(talk.store, Scope(user=talk.scope.user, kind="group"), talk.asides)
    assert other.place(Q1, A1, Q2).conversation is None
    assert group.place(Q1, A1, Q2).conversation is None


# Ids


def test_an_id_of_ours_names_the_conversation_whatever_is_sent(talk):
    conversation = three_turns(talk)
    placement = talk.place(user("Something new."), hints=Hints(explicit=conversation))
    assert placement.conversation == conversation
    assert placement.parent == talk.store.log.get(conversation).head
    resent = talk.place(Q1, A1, Q2, A2, Q3, A3, user("More."), hints=Hints(explicit=conversation))
    assert [new.message.text for new in resent.new] == ["More."]


def test_a_name_that_the_client_chose_is_kept(talk):
    first = talk.place(Q1, hints=Hints(explicit="my-notes"))
    assert first.conversation is None
    conversation = talk.keep(first, A1)
    assert talk.place(user("Other words."), hints=Hints(explicit="my-notes")).conversation == conversation


def test_an_id_of_ours_that_is_gone_is_an_error(talk):
    with pytest.raises(NotFound):
        talk.place(Q1, hints=Hints(explicit="c_" + "0" * 26))


def test_the_answer_before_may_be_named_instead_of_the_history(talk):
    conversation = three_turns(talk)
    job = talk.store.log.message(talk.store.log.get(conversation).head).job
    placement = talk.place(user("Thanks."), hints=Hints(previous=f"resp_{job}"))
    assert (placement.conversation, placement.forks) == (conversation, False)
    assert talk.place(user("Thanks."), hints=Hints(previous="resp_unknown")).conversation is None


def test_a_chats_id_brings_its_first_question_back(talk):
    _, conversation = talk.say(Q1, answered=A1, headers=CHAT)
    placement, again = talk.say(Q1, answered="Ferns do.", headers=CHAT)
    assert (again, placement.forks) == (conversation, True)


def test_a_chats_id_alone_is_not_enough(talk):
    talk.say(Q1, answered=A1, headers=CHAT)
    assert talk.say(user("Something else entirely."), answered="Yes.", headers=CHAT)[0].conversation is None


def test_another_chats_id_speaks_against_it(talk):
    three_turns(talk, CHAT)
    other = {**CHAT, "x-openwebui-chat-id": "chat-2"}
    placement, copied = talk.say(Q1, A1, Q2, A2, user("In the copy."), answered="Noted.", headers=other)
    assert placement.conversation is None
    history = (Q1, A1, Q2, A2, user("In the copy."), answer("Noted."))
    assert talk.say(*history, user("And on."), answered="Good.", headers=other)[1] == copied


def test_another_person_behind_the_same_key_is_never_merged(talk):
    three_turns(talk, {"x-openwebui-user-id": "anna"})
    placement, _ = talk.say(Q1, A1, Q2, answered=A2, headers={"x-openwebui-user-id": "ben"})
    assert placement.conversation is None


def test_a_session_id_decides_between_equal_histories(talk):
    _, first = talk.say(Q1, answered=A1, headers=SESSION)
    talk.say(Q1, answered=A1, headers={**SESSION, "x-session-id": "ses_2"})
    assert talk.say(Q1, A1, Q2, answered=A2, headers=SESSION)[1] == first


def test_a_session_id_does_not_join_a_subagent_to_its_parent(talk):
    three_turns(talk, SESSION)
    assert talk.say(user("List the files."), answered="Two.", headers=SESSION)[0].conversation is None


# Clients that shorten their history


def test_a_summary_with_the_sessions_id_goes_on_at_the_end(talk):
    conversation = three_turns(talk, SESSION)
    summary = user("This session is being continued from a previous conversation.\nHerbs were discussed.")
    placement, joined = talk.say(summary, user("Where were we?"), answered="At herbs.", headers=SESSION)
    assert joined == conversation
    assert [new.message.text for new in placement.new] == ["Where were we?"]
    later = (summary, user("Where were we?"), answer("At herbs."), user("Thanks."))
    assert talk.say(*later, answered="Gladly.", headers=SESSION)[1] == conversation
    assert talk.told(conversation)[-3:] == ["At herbs.", "Thanks.", "Gladly."]


def test_a_summary_that_we_made_is_known_without_any_id(talk):
    conversation = three_turns(talk)
    order = user("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.")
    side = talk.place(Q1, A1, Q2, A2, Q3, A3, order)
    assert (side.kind, side.side, side.beside, side.conversation) == (
        "side",
        "compaction",
        conversation,
        None,
    )
    summary = answer("The person grows herbs in the shade and asked about water and winter.")
    talk.asides.add(talk.scope, side.side, summary, conversation=side.beside)
    placement = talk.place(summary, user("And in spring?"))
    assert placement.conversation == conversation
    assert [new.message.text for new in placement.new] == ["And in spring?"]
    # A person who takes the summary along into a new chat wants a new chat.
    assert talk.place(user(summary.text)).conversation is None
    assert talk.place(user(f"{summary.text}\n\nWhat else?")).conversation is None


def test_summary_of_deleted_conversation_starts_new_conversation(talk):
    conversation = three_turns(talk)
    summary = answer("The person grows herbs in the shade and asked about water and winter.")
    talk.asides.add(talk.scope, "compaction", summary, conversation=conversation)
    talk.store.log.delete(conversation)
    assert talk.place(summary, user("And in spring?")).conversation is None


def test_a_strangers_summary_is_a_new_conversation(talk):
    three_turns(talk)
    summary = user("This session is being continued from a previous conversation.\nHerbs were discussed.")
    assert talk.place(summary, user("Where were we?")).conversation is None


def test_what_a_program_hands_on_stays_in_the_conversation(talk):
    plan = "Put a lamp at the north side and water half as much."
    _, conversation = talk.say(Q1, answered=plan)
    examples = (user("Change the wick."), answer("The wick is changed."))
    assert talk.place(*examples, user(f"{plan}\n\nAnswer with the whole file.")).conversation == conversation
    assert talk.place(user(f"{plan}\n\nWhat does that mean?")).conversation is None


def test_identical_concurrent_tool_loops_are_distinguished_by_ids(talk):
    def look(name: str) -> ToolCall:
        return ToolCall("ls", "{}", name)

    _, first = talk.say(Q1, answered=answer("", look("one")))
    _, second = talk.say(Q1, answered=answer("", look("two")))
    assert talk.place(Q1, answer("", look("one")), result("one", "a.py")).conversation == first
    assert talk.place(Q1, answer("", look("two")), result("two", "a.py")).conversation == second


def test_program_generated_message_is_not_counted_as_user_message(talk):
    where = user("<environment_context>\n<cwd>/project</cwd>\n</environment_context>")
    placement = talk.place(where, Q1)
    assert [new.message for new in placement.new] == [where, Q1]
    assert placement.messages == (Q1,)


def test_every_placement_says_why(talk):
    conversation = three_turns(talk)
    for placement in (
        talk.place(user("New.")),
        talk.place(Q1, A1, Q2),
        talk.place(Q1, A1, user("Edited.")),
        talk.place(user("New."), hints=Hints(explicit=conversation)),
        talk.place(system("You are a title generator for a conversation."), user("Hi")),
    ):
        assert re.search(r"\w+ \w+", placement.reason)


def test_nothing_said_is_a_new_conversation_without_messages(talk):
    assert talk.place(system("You are helpful.")).new == ()
    assert talk.place().conversation is None
