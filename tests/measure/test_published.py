"""The figures of a known ranker on public corpora are those that others publish."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import bm25s
import pytest
import Stemmer

import nestling
from nestling.measure.metrics import Judged, ranking_figures

DATA = Path(os.environ.get("NESTLING_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
STEMMER = Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    """The stems of words of two or more letters."""
    return list(STEMMER.stemWords(re.findall(r"\w\w+", text.lower())))


def bigrams(text: str) -> list[str]:
    """Every two characters that stand together."""
    return [text[i : i + 2] for i in range(len(text) - 1)]


@pytest.mark.parametrize(
    ("name", "terms", "published", "near"),
    [
        ("xquad_en", stems, 0.965, 0.005),
        ("xquad_zh", bigrams, 0.965, 0.005),
        ("scifact", stems, 0.687, 0.01),
    ],
)
def test_bm25(name: str, terms: Callable[[str], list[str]], published: float, near: float) -> None:
    """The nDCG@10 of BM25, by bm25s, read and judged with the code here."""
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not here")
    documents = list(nestling.read_corpus(DATA / name))
    questions = nestling.read_golden(DATA / name).questions
    ranker = bm25s.BM25()
    ranker.index([terms(f"{d.title} {d.text}") for d in documents], show_progress=False)
    found, _ = ranker.retrieve([terms(q.question) for q in questions], k=10, show_progress=False)
    judged = [
        Judged([documents[i].id for i in row], dict(q.relevant), dict(q.relevant))
        for q, row in zip(questions, found.tolist(), strict=True)
    ]
    figures = [each["nDCG@10"] for each in ranking_figures(judged, (10,))]
    assert len(figures) == len(questions)
    assert sum(figures) / len(figures) == pytest.approx(published, abs=near)
