"""Messages are the same when they say the same, and are kept without loss."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from holdfast.messages import Message, Text, Thinking


@given(st.text(), st.text())
def test_a_digest_is_that_of_the_encoded_message(said, thought):
    message = Message("assistant", (Thinking(thought), Text(said)))
    assert message.digest == hashlib.sha256(message.encode().encode()).hexdigest()[:32]
    assert Message.decode(message.encode()).digest == message.digest


def test_half_a_surrogate_pair_has_a_digest_of_its_own():
    halves = [Message.of("user", f"a {half} b") for half in ("\ud83d", "\ude00", "\ufffd", "?")]
    assert len({message.digest for message in halves}) == 4
    assert halves[0].digest == Message.decode(halves[0].encode()).digest
