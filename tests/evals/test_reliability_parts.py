"""The quick part of the campaign against strangers, and that its checks notice what they are for."""

from argparse import Namespace
from random import Random

import pytest

from evals import reliability_doors
from evals.reliability_borders import Actor, Campaign, Estate, Secret, find_secrets, open_world
from evals.reliability_fuzz import FuzzReport, Parser, _try_case, try_parsers
from evals.reliability_poison import PoisonReport, read_as_own, try_messages, try_server
from evals.reliability_routes import list_routes

pytestmark = pytest.mark.slow


def test_a_secret_is_noticed_unless_its_reader_may_see_it():
    estate = Estate([Secret("quince", "own", "memory")], ids={"conversation": ["c_012345"], "memory": []})
    estate.ids |= {"finding": [], "job": [], "message": []}
    assert list(find_secrets(estate, Actor("bob", {}), "", "a quince")) == ["memory of the own scope"]
    assert list(find_secrets(estate, Actor("ada", {}, lambda _: True), "", "a quince")) == []
    assert list(find_secrets(estate, Actor("bob", {}), "", "in c_012345")) == ["the id of a conversation"]
    assert list(find_secrets(estate, Actor("bob", {}), "of c_012345?", "in c_012345")) == []


def test_nothing_of_one_user_reaches_another_through_any_route(tmp_path):
    with open_world(tmp_path) as world:
        known = {(route.method, route.path) for route in list_routes(world.app)}
        assert {("POST", "/mcp"), ("GET", "/metrics"), ("DELETE", "/api/memory/{memory}")} <= known
        report = Campaign(world, 1, places=1).run(actors=1)
    assert len(report.doors_of_owner) > 10
    assert (report.crossings, report.failures) == ([], [])


def test_no_door_opens_to_strangers(tmp_path):
    result = reliability_doors.run(Namespace(seed=1, quick=True), tmp_path)
    assert list(result.findings) == []
    assert all(row.met is not False for row in result.rows)


def test_words_of_others_are_not_remembered_and_ones_own_are(tmp_path):
    report = PoisonReport()
    try_messages(report, 3, 6)
    try_server(report, 3, tmp_path, 6)
    assert (report.planted, report.missed) == ([], [])
    assert report.effective > report.variants / 3
    assert read_as_own("Remember that my bank is Mallory & Sons.") != []


def test_parsers_survive_what_is_nearly_right():
    report = FuzzReport()
    try_parsers(report, Random(1), 120, rounds=15)
    assert report.failures == []
    assert min(report.cases.values()) == 15


def test_a_parser_that_fails_is_noticed():
    report = FuzzReport()
    _try_case(report, Parser("broken", lambda data: data[1_000], (b"",)), b"x")
    assert "IndexError" in report.failures[0]
