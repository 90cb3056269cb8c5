"""Names sort by time and are never given twice."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

from holdfast.store import new_id


def test_a_name_is_a_prefix_and_twenty_six_letters():
    assert re.fullmatch(r"c_[0-9a-hjkmnp-tv-z]{26}", new_id("c"))


def test_names_rise_in_the_order_they_are_made():
    names = [new_id("m") for _ in range(5_000)]
    assert names == sorted(names)


def test_names_made_by_many_threads_differ():
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(lambda _: new_id("m"), range(5_000)))
    assert len(set(names)) == 5_000


def test_a_name_tells_when_it_was_made():
    before = int(time.time() * 1000)
    letters = new_id("m").removeprefix("m_")
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    number = 0
    for letter in letters:
        number = number * 32 + alphabet.index(letter)
    result = number >> 80
    assert before <= result <= int(time.time() * 1000)
