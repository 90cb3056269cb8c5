"""Which embedding model may find more than the one inside, what it brings, and how to come by it.

Words for people, and the names of models. Nothing is fetched or set here.
"""

from collections.abc import Collection

from holdfast.i18n import say
from holdfast.memory.embedders.locations import OLLAMA

# Of Ollama's library, all of many languages: the first that is there is taken, the first of all is told.
RECOMMENDED_MODELS = ("embeddinggemma", "bge-m3", "qwen3-embedding", "snowflake-arctic-embed2")


def describe_gain() -> str:
    """What another embedder brings, as measured in evals/results/retrieval.md."""
    return say(
        "the one inside is small. Two small transformers found more in chats between people (the right"
        " message first for 41 instead of 37 of 100 questions, among the first ten for 78 instead of 74) and"
        " no more in long chats with an assistant; larger ones were not measured",
        "der eingebaute ist klein. Zwei kleine Transformer fanden mehr in Chats zwischen Menschen (die"
        " richtige Nachricht an erster Stelle bei 41 statt 37 von 100 Fragen, unter den ersten zehn bei 78"
        " statt 74) und nicht mehr in langen Chats mit einem Assistenten; größere wurden nicht gemessen",
    )


def find_recommended(names: Collection[str]) -> str:
    """The name under which a server has the best of these models; empty if it has none."""
    for model in RECOMMENDED_MODELS:
        for name in names:
            if name.partition(":")[0].rpartition("/")[2] == model:
                return name
    return ""


def describe_setup(address: str, names: Collection[str]) -> str:
    """How to come by it. `address` is that of an Ollama with models of these names; empty without one."""
    if not address:
        first = RECOMMENDED_MODELS[0]
        return say(
            f"With Ollama: `ollama pull {first}`. Without: name a GGUF file of an embedding model in"
            " `embedder` (docs/embedders.md).",
            f"Mit Ollama: `ollama pull {first}`. Ohne: eine GGUF-Datei eines Embedding-Modells in"
            " `embedder` nennen (docs/embedders.md).",
        )
    installed = find_recommended(names)
    model = installed or RECOMMENDED_MODELS[0]
    place = "ollama" if OLLAMA.endswith(f"+{address}") else f"ollama+{address}"
    steps = "" if installed else say(f"`ollama pull {model}`, then ", f"`ollama pull {model}`, dann ")
    return steps + say(
        f"set HOLDFAST_EMBEDDER={place} and HOLDFAST_EMBEDDER_MODEL={model}, or the same on the page under"
        " Settings ▸ Memory. Ollama then holds two models (OLLAMA_MAX_LOADED_MODELS=2).",
        f"HOLDFAST_EMBEDDER={place} und HOLDFAST_EMBEDDER_MODEL={model} setzen, oder dasselbe auf der Seite"
        " unter Einstellungen ▸ Gedächtnis. Ollama hält dann zwei Modelle (OLLAMA_MAX_LOADED_MODELS=2).",
    )
