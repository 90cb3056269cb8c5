"""How good rankings are: of what should be found, how much is found, how early, and how often all of it.

Knows ids and ranks only.
"""

import math
from collections.abc import Mapping, Sequence

R_AT = (1, 5, 10, 20)
ALL_AT = (5, 10)
NDCG_AT = 10
NAMES = (*(f"R@{k}" for k in R_AT), *(f"all@{k}" for k in ALL_AT), f"nDCG@{NDCG_AT}")


def scores(ranked: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """The scores of one question, each from 0 to 1."""
    wanted = set(gold)
    ranks = [place for place, name in enumerate(ranked) if name in wanted]
    within = {k: sum(rank < k for rank in ranks) for k in (*R_AT, *ALL_AT)}
    best = sum(1 / math.log2(place + 2) for place in range(min(len(wanted), NDCG_AT)))
    return {
        **{f"R@{k}": within[k] / len(wanted) for k in R_AT},
        **{f"all@{k}": float(within[k] == len(wanted)) for k in ALL_AT},
        f"nDCG@{NDCG_AT}": sum(1 / math.log2(rank + 2) for rank in ranks if rank < NDCG_AT) / best,
    }


def means(mappings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The same of many questions, in percent."""
    return {name: 100 * sum(item[name] for item in mappings) / len(mappings) for name in NAMES}


def table(by_kind: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    lines = [f"| kind | questions | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 2) + "|"]
    for kind, items in by_kind.items():
        results = means(items)
        cells = " | ".join(f"{results[name]:.1f}" for name in NAMES)
        lines.append(f"| {kind} | {len(items)} | {cells} |")
    return "\n".join(lines)
