"""Vocabularies small enough to read: every byte, a few merges or scores, and some special tokens."""

from holdfast.tokens.tokenizer import CHARACTERS
from holdfast.tokens.vocabulary import Vocabulary

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w", "Ġw o", "Ġwo r", "l d", "Ġwor ld", "Ã ¤"]


def byte_level(pre="gpt-2", **changes):
    """GPT-2's kind. What `changes` names replaces a pair; None removes it."""
    fromkeys = dict.fromkeys(merge.replace(" ", "") for merge in MERGES)
    tokens = [*CHARACTERS, *fromkeys, "<|end|>", "<tool>"]
    metadata = {
        "model": "gpt2",
        "pre": pre,
        "tokens": tokens,
        "merges": list(MERGES),
        "token_type": [1] * (len(tokens) - 2) + [3, 4],
        **changes,
    }
    return {f"tokenizer.ggml.{name}": value for name, value in metadata.items() if value is not None}


def score_vocabulary(**changes):
    """SentencePiece's kind: characters, bytes, and words with scores."""
    words = ["▁", "h", "e", "l", "o", "he", "ll", "hell", "hello", "▁hello"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words]
    metadata = {
        "model": "llama",
        "tokens": tokens,
        "scores": [0.0] * 259 + [-float(len(words) - number) for number in range(len(words))],
        "token_type": [2, 3, 3, *[6] * 256, *[1] * len(words)],
        **changes,
    }
    return {f"tokenizer.ggml.{name}": value for name, value in metadata.items() if value is not None}


def vocabulary(metadata):
    return Vocabulary.from_metadata(metadata)
