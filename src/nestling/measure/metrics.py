"""Figures of ranked lists, computed by ir-measures, which asks trec_eval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nestling.errors import MissingExtraError

Grades = dict[str, int]


@dataclass(frozen=True, slots=True)
class Judged:
    """A ranked list and what it is held to.

    Attributes:
        ranked: Ids, best first, each once.
        any_of: Ids one of which suffices: for hit@k and MRR. None: these are not asked.
        all_of: Graded ids that are all wanted: for recall@k, nDCG@k and MAP. None: these are not asked.
    """

    ranked: Sequence[str]
    any_of: Grades | None
    all_of: Grades | None


def calculator() -> Any:
    """The module ir_measures.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError(
            "ir-measures, which computes the figures, is not installed; run: pip install 'nestling[eval]'"
        ) from error
    return ir_measures


def ranking_figures(judged: Sequence[Judged], ks: Sequence[int]) -> list[dict[str, float]]:
    """The figures of each ranked list by name: ``hit@k``, ``MRR``; ``recall@k``, ``nDCG@k``, ``MAP``.

    For one list, MRR is its reciprocal rank and MAP its average precision: their means are what they are
    called by. A list without a relevant id gets no figure.

    Args:
        judged: Lists with their gold.
        ks: Cut-offs, 1 or more each.

    Raises:
        MissingExtraError: ir-measures is not installed.
    """
    ir = calculator()
    for_any = {ir.Success @ k: f"hit@{k}" for k in ks} | {ir.RR: "MRR"}
    for_all = {ir.R @ k: f"recall@{k}" for k in ks} | {ir.nDCG @ k: f"nDCG@{k}" for k in ks} | {ir.AP: "MAP"}
    any_of = _calculated(ir, for_any, judged, [each.any_of for each in judged])
    all_of = _calculated(ir, for_all, judged, [each.all_of for each in judged])
    return [first | second for first, second in zip(any_of, all_of, strict=True)]


def _calculated(
    ir: Any, names: dict[Any, str], judged: Sequence[Judged], gold: Sequence[Grades | None]
) -> list[dict[str, float]]:
    figures: list[dict[str, float]] = [{} for _ in judged]
    qrels, run = {}, {}
    for number, (each, grades) in enumerate(zip(judged, gold, strict=True)):
        if grades and max(grades.values()) > 0:
            # numbers for ids, which trec_eval could not always hold; falling scores, since it reorders ties
            alias = {id: str(i) for i, id in enumerate(dict.fromkeys([*each.ranked, *grades]))}
            qrels[str(number)] = {alias[id]: grade for id, grade in grades.items()}
            run[str(number)] = {alias[id]: -float(rank) for rank, id in enumerate(each.ranked)}
            figures[number] = dict.fromkeys(names.values(), 0.0)
    if qrels:
        for found in ir.iter_calc(list(names), qrels, run):
            figures[int(found.query_id)][names[found.measure]] = float(found.value)
    return figures
