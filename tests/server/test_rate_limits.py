"""How often somebody may come: counted evenly, forgiven in time, and never at the cost of others."""

import pytest

from holdfast.server.guard import LoginThrottle, RateLimiter


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_minute_allowance_permits_burst_then_steady_rate(clock):
    rates = RateLimiter(clock)
    assert [rates.take("a", 3) for _ in range(3)] == [0, 0, 0]
    assert rates.take("a", 3) == pytest.approx(20)
    assert rates.take("b", 3) == 0
    clock.now += 20
    assert rates.take("a", 3) == 0
    assert rates.take("a", 3) == pytest.approx(20)
    clock.now += 3_600
    assert [rates.take("a", 3) > 0 for _ in range(4)] == [False, False, False, True]


def test_without_a_rate_there_is_no_limit(clock):
    rates = RateLimiter(clock)
    assert {rates.take("a", 0) for _ in range(1_000)} == {0}


def test_each_wrong_try_makes_its_own_address_wait_longer(clock):
    tries = LoginThrottle(clock)
    pauses = []
    for _ in range(16):
        while wait := tries.begin("192.0.2.1"):
            pauses.append(wait)
            clock.now += wait
    assert pauses[:4] == pytest.approx([1, 2, 4, 8])
    assert max(pauses) == pytest.approx(300)
    assert tries.begin("192.0.2.2") == 0


def test_a_right_one_and_a_long_time_are_forgiven(clock):
    tries = LoginThrottle(clock)
    for _ in range(5):
        assert tries.begin("192.0.2.1") == 0
    assert tries.begin("192.0.2.1") > 0
    tries.succeed("192.0.2.1")
    for _ in range(5):
        assert tries.begin("192.0.2.1") == 0
    clock.now += 2 * 86_400
    assert [tries.begin("192.0.2.1") > 0 for _ in range(6)] == [False] * 5 + [True]


def test_many_addresses_of_one_network_are_one(clock):
    tries = LoginThrottle(clock)
    for n in range(5):
        assert tries.begin(f"2001:db8::{n}") == 0
    assert tries.begin("2001:db8::99") > 0
    assert tries.begin("2001:db8:0:1::1") == 0


def test_no_number_of_addresses_fills_the_memory(clock):
    tries = LoginThrottle(clock)
    for n in range(10_100):
        tries.begin(f"10.0.{n // 256}.{n % 256}")
    assert len(tries._wrong) == 10_000
