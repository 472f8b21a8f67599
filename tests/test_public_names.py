"""The names that users import: a change here is a change of the interface."""

from __future__ import annotations

import subprocess
import sys

import nestling

NAMES = """
AccessError Answer BusyError Chart ChatEndpoint Child Citation Claim Comparison Context CrossEncoder
Document DocumentError DocumentInfo EditionInfo Embedder EmbedderMismatchError Endpoint Evaluation Evidence
Explanation Exported Failure FilterError FullError Generated GoldSpan Golden GoldenQuestion InputError
LanguageModel LockedError MiniLM MissingExtraError ModelError Nest NestlingError NewerNestError
NotANestError NotFoundError OnnxDirectory Parent Passage Piece Progress ReadOnlyError Rebuilt Recipe Renamed
Repair Report RerankEndpoint Reranked Reranker Results ScopeError Scoring ServerError SettingError Standing
Static StoreError Support Tree TuneProgress Tuned Verification Vote charts compare html_report marker open
quoted read_corpus read_file read_golden tune watch
"""


def test_exports_exactly_these() -> None:
    """The public names, sorted, each of which can be had."""
    assert sorted(nestling.__all__) == list(nestling.__all__) == NAMES.split()
    for name in nestling.__all__:
        assert getattr(nestling, name) is not None
        assert name in dir(nestling)


def test_importing_pulls_in_nothing_heavy() -> None:
    """``import nestling`` loads neither numpy nor the model's runtime."""
    script = "import sys, nestling; print([m for m in ('numpy', 'onnxruntime', 'httpx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_error_is_in_the_tree() -> None:
    """One except clause catches them all, and the drawing in errors.py names each."""
    errors = [value for name in nestling.__all__ if isinstance(value := getattr(nestling, name), type)]
    errors = [value for value in errors if issubclass(value, Exception)]
    assert all(issubclass(error, nestling.NestlingError) for error in errors)
    from nestling import errors as module

    assert module.__doc__ is not None
    assert all(error.__name__ in module.__doc__ for error in errors)
