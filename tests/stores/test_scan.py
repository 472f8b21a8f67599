"""Scanning codes: never further off than it says, with numkong and with numpy."""

from __future__ import annotations

import numpy as np
import pytest
from entries import BUILD, entry
from hypothesis import given
from hypothesis import strategies as st

from nestling.stores import scan
from nestling.stores.dense import widened
from nestling.stores.quantize import pack
from nestling.stores.sqlite import SQLiteStore
from nestling.types import LEVELS


@pytest.fixture(params=["numkong", "numpy"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each engine."""
    if request.param == "numpy":
        monkeypatch.setattr(scan, "simd", lambda: None)
    elif scan.simd() is None:
        pytest.skip("numkong is not installed")
    assert scan.engine() == request.param
    return str(request.param)


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("dimension", [3, 64, 384, 1000])
@pytest.mark.parametrize("kind", ["even", "sparse", "one large"])
def test_cosines_are_as_near_as_promised(engine: str, dimension: int, kind: str) -> None:
    """The approximate cosine is within the error of the exact one, whatever the vectors look like."""
    chance = np.random.default_rng(dimension)
    rows = chance.normal(size=(3000, dimension))
    if kind == "sparse":
        rows[:, 2:][chance.random((3000, dimension - 2)) < 0.9] = 0
    if kind == "one large":
        rows[:, 0] = 40
    vectors, question = unit(rows[1:]), unit(rows[:1])[0]
    packed = pack(vectors)
    scale = np.array([each[0] for each in packed], np.float32)
    codes = np.frombuffer(b"".join(each[1] for each in packed), np.int8).reshape(vectors.shape)
    asked, rough = scan.Question(question), np.empty(len(vectors), np.float32)
    asked.compare(codes, scale, rough)
    assert (np.abs(rough - vectors @ question) <= asked.error(scale) + 1e-6).all()


def test_a_question_of_zeros_is_answered(engine: str) -> None:
    """Nothing is divided by nothing."""
    rough = np.ones(2, np.float32)
    scan.Question(np.zeros(8, np.float32)).compare(np.ones((2, 8), np.int8), np.ones(2, np.float32), rough)
    assert rough.tolist() == [0, 0]


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=5000), st.integers(1, 300))
def test_at_least_so_many_reach_the_bound(scores: list[float], n: int) -> None:
    """The bound is no higher than the n-th best score."""
    found = scan.best_at_least(np.array(scores, np.float32), n)
    if len(scores) > n:
        assert found <= sorted(scores, reverse=True)[n - 1]
    else:
        assert found == -np.inf


def test_parents_whose_children_cancel_out_are_ranked_right(engine: str) -> None:
    """Sums of vectors that point apart have no usable codes; their lists are exact nevertheless."""
    chance = np.random.default_rng(9)
    store = SQLiteStore.create(":memory:", BUILD)
    rows = {}
    for n in range(300):
        one = unit(chance.normal(size=(1, 64)))
        other = (-one, -unit(one + 0.01 * chance.normal(size=(1, 64))), unit(chance.normal(size=(1, 64))))[
            n % 3
        ]
        pair = np.concatenate((one, other)).astype(np.float16).astype(np.float32)
        store.replace(entry(f"d{n:03d}", [["a", "b"]], vectors=pair))
        mean = pair.astype(np.float64).sum(axis=0)
        length = np.linalg.norm(mean)
        rows[f"d{n:03d}"] = mean / length if length else mean
    question = unit(chance.normal(size=(1, 64)))[0]
    exact = {
        id: float(vector.astype(np.float16).astype(np.float64) @ question) for id, vector in rows.items()
    }
    with store.view() as view:
        for level in LEVELS[:2]:
            found = view.nearest(level, question, 40, None)
            wanted = sorted(exact.values(), reverse=True)[:40]
            np.testing.assert_allclose(found.scores, wanted, atol=2e-3)
    store.close()


def test_float16_is_widened_exactly() -> None:
    """Every finite float16 is the same number as float64, its sign too."""
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    wide = widened(halves)
    assert wide.tobytes() == halves.astype(np.float64).tobytes()
