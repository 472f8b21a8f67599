"""Figures of rankings are those of trec_eval."""

from __future__ import annotations

import sys

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, Success, nDCG

import nestling
from nestling.measure.metrics import Judged, ranking_figures

KS = (1, 3, 10)
IDS = [f"d{i}" for i in range(15)]
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), max_size=10)
LISTS = st.lists(st.sampled_from(IDS), unique=True, max_size=15)


@given(st.lists(st.tuples(LISTS, GRADES), min_size=1, max_size=5))
def test_equal_to_trec_eval(queries: list[tuple[list[str], dict[str, int]]]) -> None:
    """On any lists and grades the figures are ir-measures' and pytrec_eval's own."""
    figures = ranking_figures([Judged(ranked, grades, grades) for ranked, grades in queries], KS)
    names = {Success @ k: f"hit@{k}" for k in KS} | {R @ k: f"recall@{k}" for k in KS}
    names |= {nDCG @ k: f"nDCG@{k}" for k in KS} | {RR: "MRR", AP: "MAP"}
    cuts = ",".join(map(str, KS))
    measures = {f"success.{cuts}", f"recall.{cuts}", f"ndcg_cut.{cuts}", "recip_rank", "map"}
    for (ranked, grades), found in zip(queries, figures, strict=True):
        if not any(grades.values()):
            assert found == {}
            continue
        run = {"q": {id: 1.0 / rank for rank, id in enumerate(ranked, 1)}}
        expected = {names[m.measure]: m.value for m in ir_measures.iter_calc(list(names), {"q": grades}, run)}
        assert found == pytest.approx(expected)
        if ranked:
            direct = pytrec_eval.RelevanceEvaluator({"q": grades}, measures).evaluate(run)["q"]
            assert found["MAP"] == pytest.approx(direct["map"])
            assert found["MRR"] == pytest.approx(direct["recip_rank"])
            for k in KS:
                assert found[f"nDCG@{k}"] == pytest.approx(direct[f"ndcg_cut_{k}"])
                assert found[f"recall@{k}"] == pytest.approx(direct[f"recall_{k}"])
                assert found[f"hit@{k}"] == pytest.approx(direct[f"success_{k}"])


def test_any_and_all_are_held_to_their_own() -> None:
    """Hits and MRR go by what suffices; recall, nDCG and MAP by what is all wanted, where that is told."""
    both = Judged(["a", "b", "c"], {"c": 1, "z": 1}, {"a": 1, "y": 1})
    found = ranking_figures([both, Judged(["a"], {"a": 1}, None), Judged(["a"], None, None)], (1, 3))
    assert (found[0]["hit@1"], found[0]["hit@3"], found[0]["MRR"]) == pytest.approx((0, 1, 1 / 3))
    assert (found[0]["recall@1"], found[0]["MAP"]) == pytest.approx((0.5, 0.5))
    assert found[1:] == [{"hit@1": 1.0, "hit@3": 1.0, "MRR": 1.0}, {}]


def test_any_text_is_an_id() -> None:
    """Ids with white space, controls or no character that trec_eval knows are told apart."""
    ids = ["a b", "a\tb", "a\x00b", "中", "", "\ud800"]
    found = ranking_figures([Judged(ids, {"\ud800": 1}, {"\ud800": 1})], (5,))
    assert found[0]["MRR"] == pytest.approx(1 / 6)


def test_nothing_found_is_zero() -> None:
    """An empty list has every figure, at 0."""
    found = ranking_figures([Judged([], {"a": 1}, {"a": 1})], (3,))
    assert found == [{"hit@3": 0.0, "MRR": 0.0, "recall@3": 0.0, "nDCG@3": 0.0, "MAP": 0.0}]


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that installs it."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(nestling.MissingExtraError, match=r"pip install 'nestling\[eval\]'"):
        ranking_figures([], (1,))
