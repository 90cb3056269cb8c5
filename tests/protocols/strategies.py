"""Hypothesis strategies for what real clients put on the wire: every shape the two dialects allow."""

import base64
from typing import Any

from hypothesis import strategies as st

# Surrogates cannot be written as UTF-8, so no client can send them; everything else can come.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text("abcdefghijklmnopqrstuvwxyz_", max_size=12)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
unknown = st.dictionaries(
    st.sampled_from(["x_custom", "cache_control", "annotations", "_debug", "weird"]), json_values, max_size=2
)
pictures = st.binary(min_size=1, max_size=12).map(lambda data: base64.b64encode(data).decode())
ids = st.text("abcdef0123456789", min_size=1, max_size=8).map(lambda text: f"call_{text}")


def merge(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """One object out of several; a later part wins over an earlier one."""
    return st.tuples(*parts).map(
        lambda values: {name: value for part in values for name, value in part.items()}
    )


def optional(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({}) | values.map(lambda value: {name: value})


def constant(**values: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.just(values)


ollama_calls = st.lists(
    merge(
        unknown,
        optional("id", ids),
        merge(
            unknown,
            names.map(lambda name: {"name": name}),
            json_objects.map(lambda value: {"arguments": value}),
        ).map(lambda function: {"function": function}),
    ),
    max_size=3,
)
ollama_messages = st.one_of(
    merge(
        unknown,
        st.sampled_from(["system", "user"]).map(lambda role: {"role": role}),
        optional("content", texts | st.none()),
        optional("images", st.lists(pictures, max_size=2)),
    ),
    merge(
        unknown,
        constant(role="assistant"),
        optional("content", texts | st.none()),
        optional("thinking", texts),
        optional("tool_calls", ollama_calls),
    ),
    merge(
        unknown,
        constant(role="tool"),
        optional("content", texts),
        optional("tool_name", names),
        optional("tool_call_id", ids),
    ),
)
ollama_options = merge(
    optional("temperature", st.floats(0, 2)),
    optional("num_ctx", st.integers(1, 100_000)),
    optional("num_predict", st.integers(-2, 1000)),
    optional("stop", st.lists(texts, max_size=2)),
    optional("mirostat", st.integers(0, 2)),
)
ollama_requests = merge(
    unknown,
    names.map(lambda model: {"model": model}),
    st.lists(ollama_messages, max_size=5).map(lambda items: {"messages": items}),
    st.booleans().map(lambda stream: {"stream": stream}),
    optional("options", ollama_options | st.none()),
    optional("tools", st.lists(json_objects, max_size=2)),
    optional("format", st.just("json") | json_objects | st.just("")),
    optional("think", st.booleans() | st.sampled_from(["low", "high"])),
    optional("keep_alive", st.integers() | st.just("5m")),
)

text_parts = merge(unknown, constant(type="text"), texts.map(lambda text: {"text": text}))
image_parts = merge(
    unknown,
    constant(type="image_url"),
    merge(
        optional("detail", st.sampled_from(["low", "high"])),
        (
            pictures.map(lambda data: f"data:image/png;base64,{data}") | st.just("https://example.org/a.png")
        ).map(lambda url: {"url": url}),
    ).map(lambda value: {"image_url": value}),
)
file_parts = merge(
    unknown,
    constant(type="file"),
    merge(optional("filename", names), optional("file_data", names), optional("file_id", names)).map(
        lambda value: {"file": value}
    ),
)
other_parts = merge(
    json_objects, st.sampled_from(["input_audio", "refusal", "video_url"]).map(lambda kind: {"type": kind})
)
contents = (
    texts | st.none() | st.lists(st.one_of(text_parts, image_parts, file_parts, other_parts), max_size=4)
)
openai_calls = st.lists(
    st.one_of(
        merge(
            unknown,
            constant(type="function"),
            ids.map(lambda value: {"id": value}),
            merge(
                unknown,
                names.map(lambda name: {"name": name}),
                st.text(min_size=1, max_size=9).map(lambda text: {"arguments": text}),
            ).map(lambda function: {"function": function}),
        ),
        merge(json_objects, constant(type="custom"), ids.map(lambda value: {"id": value})).filter(
            lambda call: "function" not in call
        ),
    ),
    max_size=3,
)
openai_messages = st.one_of(
    merge(
        unknown,
        st.sampled_from(["system", "developer", "user"]).map(lambda role: {"role": role}),
        optional("content", contents),
        optional("name", names),
    ),
    merge(
        unknown,
        constant(role="assistant"),
        optional("content", contents),
        optional("tool_calls", openai_calls),
        optional("refusal", st.none() | texts),
        st.one_of(
            st.just({}),
            texts.map(lambda text: {"reasoning": text}),
            texts.map(lambda text: {"reasoning_content": text}),
        ),
    ),
    merge(
        unknown,
        constant(role="tool"),
        optional("content", texts | st.lists(text_parts, max_size=3)),
        optional("tool_call_id", ids),
    ),
)
openai_requests = merge(
    unknown,
    names.map(lambda model: {"model": model}),
    st.lists(openai_messages, max_size=5).map(lambda items: {"messages": items}),
    st.booleans().map(lambda stream: {"stream": stream}),
    optional("temperature", st.floats(0, 2) | st.none()),
    st.one_of(
        st.just({}),
        st.integers(1, 999).map(lambda n: {"max_tokens": n}),
        st.integers(1, 999).map(lambda n: {"max_completion_tokens": n}),
    ),
    optional("stop", texts | st.lists(texts, max_size=2)),
    optional("tools", st.lists(json_objects, max_size=2)),
    optional("tool_choice", st.sampled_from(["auto", "none"])),
    optional(
        "response_format",
        st.sampled_from(
            [
                {"type": "json_object"},
                {"type": "text"},
                {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}},
            ]
        ),
    ),
    optional("reasoning_effort", st.sampled_from(["none", "low", "high"])),
    optional("stream_options", st.just({"include_usage": True})),
    optional("metadata", json_objects),
)
