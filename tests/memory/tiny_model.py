"""A model file that llama.cpp reads and that says nothing: one layer of random weights over single bytes.

Texts that share bytes are near to each other, which is enough to try everything around a model.
"""

import struct
from pathlib import Path

import numpy as np

from holdfast.tokens.vocabulary import encode_metadata

TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
SQUARE = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


def write_model(path: Path, *, dimensions: int = 32, window: int = 512, seed: int = 1) -> Path:
    facts = {
        "general.architecture": "llama",
        "llama.context_length": window,
        "llama.embedding_length": dimensions,
        "llama.block_count": 1,
        "llama.feed_forward_length": dimensions,
        "llama.attention.head_count": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.scores": [0.0] * len(TOKENS),
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }
    shapes = {
        "token_embd.weight": (len(TOKENS), dimensions),
        "output.weight": (len(TOKENS), dimensions),
        "output_norm.weight": (dimensions,),
        "blk.0.attn_norm.weight": (dimensions,),
        "blk.0.ffn_norm.weight": (dimensions,),
        **{f"blk.0.{name}.weight": (dimensions, dimensions) for name in SQUARE},
    }
    random = np.random.default_rng(seed)
    head, weights = encode_metadata(facts, len(shapes)), b""
    for name, shape in shapes.items():
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += struct.pack("<Q", len(name)) + name.encode() + sizes + struct.pack("<IQ", 0, len(weights))
        values = np.ones(shape) if len(shape) == 1 else random.standard_normal(shape) / 10
        weights += values.astype("<f4").tobytes()
    path.write_bytes(head + b"\0" * (-len(head) % 32) + weights)
    return path
