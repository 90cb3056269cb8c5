"""The measurement of one turn's way counts what a message visits, and nothing else."""

import json
import sys

from evals.path import Function, Route, figures, main, stack_of, table

TOP = Function("turn.py", "Engine.turn")
MIDDLE = Function("window/fit.py", "fit_view")
LOW = Function("store/log.py", "Log.append")


def test_a_call_back_up_goes_into_a_layer_above():
    route = Route([TOP, MIDDLE, LOW], [(TOP, MIDDLE), (TOP, LOW), (LOW, MIDDLE)])
    assert route.upward == [(LOW, MIDDLE)]


def test_calls_within_a_file_do_not_cross_files():
    helper = Function("window/fit.py", "_batches")
    route = Route([TOP, MIDDLE, helper], [(TOP, MIDDLE), (MIDDLE, helper)])
    assert route.cross_file == [(TOP, MIDDLE)]
    assert (figures(route)["files"], figures(route)["functions"]) == (2, 3)


def test_a_stack_of_generators_is_counted_from_its_innermost():
    depths = []

    def inner():
        depths.append(len([file for file in stack_of(sys._getframe()) if file == __file__]))
        yield 1

    def middle():
        yield from inner()

    def outer():
        yield from middle()

    assert list(outer()) == [1]
    assert depths == [3]


def test_the_table_shows_figures_beside_their_aims():
    assert "| files | 1 | 50 |" in table({"/api/chat": Route([LOW], [])})


def test_a_real_turn_is_followed_from_the_door_to_the_store(capsys):
    assert main(["--case", "/api/chat", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["/api/chat"]
    files = [function["file"] for function in measured["visited"]]
    packages = [file.split("/")[0] for file in files]
    assert packages[0] == "server"
    assert packages.index("server") < packages.index("window") < len(files)
    assert "store" in packages
    assert not any(file.startswith("cli") for file in files)
    assert measured["files"] == len(set(files))
    assert measured["generators"] > 1


def test_the_page_is_written_where_it_is_wanted(tmp_path, capsys):
    output = tmp_path / "path.md"
    assert main(["--case", "/api/chat, memory off", "--output", str(output)]) == 0
    text = output.read_text()
    assert "| files |" in text
    assert "server/ollama.py" in text
    assert capsys.readouterr().out.splitlines()[-1] in text
