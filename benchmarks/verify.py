"""How well verdicts fit claims of which the truth is known: precision and recall, and the threshold they rest on.

python benchmarks/verify.py [--count 200]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from nestling.asking import analysis_of
from nestling.retrieve import claims
from nestling.retrieve.verify import Named, verify
from planted import Case, cases

THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
VERDICTS = ("supported", "misattributed", "stitched", "fabricated", "uncited")


def verdict(case: Case) -> str:
    """The verdict on a case's only claim, or on the worst of them."""
    known = {source.id: source for source in case.sources}
    found = verify(
        case.text,
        case.sources,
        lambda id: Named("sound", known[id]) if id in known else Named("unknown"),
        lambda claim: (),
        ANALYSIS,
    )
    given = [claim.verdict for claim in found.claims]
    return max(given, key=VERDICTS.index) if given else "none"


ANALYSIS = analysis_of({"en": 1})


def table(planted: list[Case]) -> None:
    """What each kind of case was called."""
    called: dict[str, Counter[str]] = defaultdict(Counter)
    due = {case.kind: case.verdict for case in planted}
    for case in planted:
        called[case.kind][verdict(case)] += 1
    print(f"{'planted':38}{'n':>6}" + "".join(f"{name:>15}" for name in VERDICTS))
    for kind, counts in called.items():
        cells = (
            f"{counts[name] / counts.total():>14.3f}{'*' if name == due[kind] else ' '}" for name in VERDICTS
        )
        print(f"{kind:38}{counts.total():>6}{''.join(cells)}")
    for family in ("quote", "paraphrase"):
        ours = [
            kind
            for kind in called
            if kind.startswith(family) or (family == "paraphrase" and "quote" not in kind)
        ]
        good = sum(called[kind]["supported"] for kind in ours if due[kind] == "supported")
        said = sum(called[kind]["supported"] for kind in ours)
        real = sum(called[kind].total() for kind in ours if due[kind] == "supported")
        name = "quotes" if family == "quote" else "sentences"
        print(
            f"\n{name}: called supported, of those that are: {good / real:.3f}"
            f" · right, of those so called: {good / said:.3f}",
            end="",
        )
    print("\n* the verdict that is due")


def thresholds(planted: list[Case]) -> None:
    """What other thresholds would give for sentences in the model's own words."""
    print(
        f"\n{'share of the words':>20}{'paraphrases supported':>24}{'changed ones supported':>24}"
        f"{'invented supported':>20}"
    )
    usual = claims.ENOUGH
    for share in THRESHOLDS:
        claims.ENOUGH = share
        groups: dict[str, list[bool]] = defaultdict(list)
        for case in planted:
            if case.kind == "paraphrase":
                groups["true"].append(verdict(case) == "supported")
            elif case.kind.startswith("paraphrase, "):
                groups["changed"].append(verdict(case) == "supported")
            elif case.kind in ("invented", "halves of two"):
                groups["invented"].append(verdict(case) == "supported")
        shares = (sum(groups[name]) / len(groups[name]) for name in ("true", "changed", "invented"))
        print(
            f"{share:>20}"
            + "".join(f"{value:>{width}.3f}" for value, width in zip(shares, (24, 24, 20), strict=True))
        )
    claims.ENOUGH = usual


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    made = list(cases(given.count, given.seed))
    table(made)
    thresholds(made)
