"""A model file with SmolLM2's vocabulary and template but next to no weights, for a real llama.cpp at speed.

What a prefix cache holds depends on tokens and not on weights: one thin random layer reads prompts a hundred
times as fast, which lets long tool loops be measured on two cores. Its answers are noise.
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SIZE, _HEADS, _HIDDEN = 64, 4, 128
_ALIGNMENT = 32
# Types of values in a GGUF file, and the bytes of those with a fixed size.
_UINT32, _FLOAT32, _STRING, _ARRAY = 4, 6, 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def write_tiny(weights: Path, target: Path, window: int) -> Path:
    """Write a model of one layer with the vocabulary of `weights`; return its path."""
    fields, vocabulary = _read_tokenizer(weights.read_bytes())
    numbers = {
        "context_length": window,
        "embedding_length": _SIZE,
        "block_count": 1,
        "feed_forward_length": _HIDDEN,
        "attention.head_count": _HEADS,
        "attention.head_count_kv": _HEADS,
        "rope.dimension_count": _SIZE // _HEADS,
        "vocab_size": vocabulary,
    }
    fields.append(_pack_name("general.architecture") + struct.pack("<I", _STRING) + _pack_name("llama"))
    fields += [_pack_name(f"llama.{name}") + struct.pack("<II", _UINT32, n) for name, n in numbers.items()]
    epsilon = _pack_name("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT32, 1e-5)
    tensors, described, data = _make_tensors(vocabulary), b"", b""
    for name, tensor in tensors.items():
        shape = struct.pack(f"<I{tensor.ndim}Q", tensor.ndim, *reversed(tensor.shape))
        described += _pack_name(name) + shape + struct.pack("<IQ", 0, len(data))
        data += _pad(tensor.tobytes())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields) + 1)
    target.write_bytes(_pad(b"".join([head, *fields, epsilon, described])) + data)
    return target


def _read_tokenizer(data: bytes) -> tuple[list[bytes], int]:
    """Return the fields about the vocabulary as they are in a file, and the number of its tokens."""
    fields, vocabulary = [], 0
    (count,) = struct.unpack_from("<Q", data, 16)
    at = 24
    for _ in range(count):
        begin, (length,) = at, struct.unpack_from("<Q", data, at)
        name = data[at + 8 : at + 8 + length].decode()
        at += 8 + length
        (kind,) = struct.unpack_from("<I", data, at)
        if name == "tokenizer.ggml.tokens":
            (vocabulary,) = struct.unpack_from("<Q", data, at + 8)
        at = _find_end(data, at + 4, kind)
        if name.startswith("tokenizer."):
            fields.append(data[begin:at])
    return fields, vocabulary


def _find_end(data: bytes, at: int, kind: int) -> int:
    """Return where the value of this type ends."""
    if kind == _STRING:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind != _ARRAY:
        return at + _SIZES[kind]
    part, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if part in _SIZES:
        return at + int(count) * _SIZES[part]
    for _ in range(count):
        at = _find_end(data, at, part)
    return at


def _make_tensors(vocabulary: int) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(4)
    shapes = {
        "token_embd.weight": (vocabulary, _SIZE),
        **{f"blk.0.attn_{part}.weight": (_SIZE, _SIZE) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (_HIDDEN, _SIZE),
        "blk.0.ffn_up.weight": (_HIDDEN, _SIZE),
        "blk.0.ffn_down.weight": (_SIZE, _HIDDEN),
    }
    tensors = {name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    norms = ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight")
    return {**tensors, **{name: np.ones(_SIZE, dtype=np.float32) for name in norms}}


def _pack_name(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _pad(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGNMENT)
