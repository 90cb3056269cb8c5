"""Configuration is edited as a person would; whatever was there before an undo brings back."""

import io
import json
import tempfile
from pathlib import Path

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from holdfast.clients import CLIENTS
from holdfast.clients.base import Each, Endpoint, Entry, Places
from holdfast.clients.connection import Connections
from holdfast.clients.documents import apply_entries, open_document, read_earlier, revert_entries
from holdfast.errors import ConfigError, HoldfastError

# A loaded machine is no fault of the texts.
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
ENDPOINT = Endpoint("http://127.0.0.1:11435", ("qwen3:4b", "llama3:8b"), project="engine-1f2e3d")

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
names = st.text("abcdefgh-_", min_size=1, max_size=8) | st.sampled_from(
    ["mcp", "model", "models", "provider", "hooks", "env", "agents", "mcpServers", "endpoints"]
)
scalars = st.booleans() | st.integers(-(2**40), 2**40) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=5)


@st.composite
def json_texts(draw):
    """JSON as people have it: any indentation, comments beside and before, either newline."""
    text = json.dumps(draw(objects), ensure_ascii=False, indent=draw(st.sampled_from([None, 2, 4, "\t"])))
    lines = [line + draw(st.sampled_from(["", "", " // why", " /* so */"])) for line in text.split("\n")]
    head = draw(st.sampled_from(["", "// settings\n", "\n"]))
    return (head + "\n".join(lines) + draw(st.sampled_from(["", "\n"]))).replace(
        "\n", draw(st.sampled_from(["\n", "\r\n"]))
    )


@st.composite
def yaml_texts(draw):
    stream = io.StringIO()
    YAML().dump(draw(objects), stream)
    return draw(st.sampled_from(["", "# mine\n"])) + stream.getvalue()


toml_texts = st.builds(
    lambda data, comment: f"# {comment}\n{tomlkit.dumps(data)}",
    st.dictionaries(names, scalars | st.dictionaries(names, scalars, max_size=3), max_size=4),
    st.just("mine"),
)
env_texts = st.lists(
    st.builds("{}={}".format, st.from_regex("[A-Z_]{1,8}", fullmatch=True), words) | st.just("# mine"),
    max_size=5,
).map("\n".join)
STARTS = {"json": json_texts(), "yaml": yaml_texts(), "toml": toml_texts, "env": env_texts, "text": words}


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=SLOW)
@given(client=st.sampled_from(CLIENTS), data=st.data())
def test_undo_brings_any_file_back_and_other_values_stay(client, data):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        places, connections = Places(home, home / "here"), Connections(home / "data")
        before = {}
        for change in client.changes(ENDPOINT, places):
            broken = st.binary(max_size=20)
            text = data.draw(
                st.none() | STARTS[change.format].map(str.encode) | broken, label=change.path.name
            )
            if text is not None:
                change.path.parent.mkdir(parents=True, exist_ok=True)
                change.path.write_bytes(text)
            before[change.path] = text
        try:
            plan = connections.plan(client, ENDPOINT, places)
        except ConfigError:
            # What is no configuration of its kind is refused before anything is written.
            assert {path: read(path) for path in before} == before
            return
        connections.connect(plan)
        for change, edit in zip(client.changes(ENDPOINT, places), plan.edits, strict=True):
            document = open_document(read(change.path).decode(), change.format)
            for entry in change.entries:
                assert (
                    entry.if_missing
                    or isinstance(entry.path and entry.path[-1], Each)
                    or (document.get(entry.path) == entry.value)
                )
            assert edit.after == read(change.path)
        assert not connections.plan(client, ENDPOINT, places).changes
        assert connections.state(client) == "connected"
        connections.undo(connections.plan_undo(client))
        assert {path: read(path) for path in before} == before
        with pytest.raises(HoldfastError):
            connections.plan_undo(client)


def read(path):
    return path.read_bytes() if path.exists() else None


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(text=json_texts(), values=st.lists(st.tuples(names, values), min_size=1, max_size=4))
def test_our_entries_come_out_of_json_that_others_changed(text, values):
    entries = [Entry(("ours", f"{name}{at}"), value) for at, (name, value) in enumerate(values)]
    try:
        written = apply_entries(text, "json", entries)
    except ConfigError:
        assert '"ours"' in text
        return
    changed = apply_entries(written, "json", [Entry(("theirs",), [1])])
    reverted = revert_entries(changed, "json", entries, read_earlier(text, "json", entries))
    assert open_document(reverted, "json").value() == {**open_document(text, "json").value(), "theirs": [1]}


def test_json_keeps_comments_commas_and_the_way_it_is_written():
    text = "{\n\t// first\n\t\"a\": 'x', // beside\n\tb: [1,\n\t],\n}\n"
    entries = [Entry(("a",), "y"), Entry(("c", "d"), True), Entry(("b", Each()), 2)]
    assert apply_entries(text, "json", entries) == (
        '{\n\t// first\n\t"a": "y", // beside\n\tb: [1,\n\t2,\n\t],\n\t"c": {\n\t\t"d": true\n\t},\n}\n'
    )


def test_what_is_no_literal_is_refused():
    for text in ("{a: f()}", "{...b}", "[1] [2]", "{", "hello", '{"a": `x`}'):
        with pytest.raises(ConfigError):
            apply_entries(text, "json", [Entry(("m",), 1)])


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        pytest.param("json", '{"a":' * 3_000 + "1" + "}" * 3_000, id="json"),
        pytest.param("yaml", "[" * 3_000, id="yaml"),
    ],
)
def test_what_is_nested_without_end_is_refused(format_, text):
    with pytest.raises(ConfigError, match="was expected"):
        apply_entries(text, format_, [Entry(("m",), 1)])


def test_a_comment_beside_a_variable_stays():
    text = "export KEY = 'a # b'  # mine\nOTHER=1\n"
    assert open_document(text, "env").value() == {"KEY": "a # b", "OTHER": "1"}
    assert apply_entries(text, "env", [Entry(("KEY",), "new")]) == "KEY=new  # mine\nOTHER=1\n"


def test_a_dash_alone_in_a_line_of_yaml_is_a_list():
    text = "models:\n  -\n    name: a\n"
    written = apply_entries(text, "yaml", [Entry(("models", Each("name", "c")), {"name": "c"})])
    assert open_document(written, "yaml").value() == {"models": [{"name": "a"}, {"name": "c"}]}


def test_yaml_lists_keep_their_indentation_and_quotes():
    text = "models:\n- name: \"a\"  # mine\n  url: 'b'\nother: yes\n"
    written = apply_entries(text, "yaml", [Entry(("models", Each("name", "c")), {"name": "c"})])
    assert written == "models:\n- name: \"a\"  # mine\n  url: 'b'\n- name: c\nother: yes\n"
