"""Parent-document retrieval: search small, answer big.

::

    import nestling

    nest = nestling.open("handbook.nest", create=True)
    nest.add("docs/")
    for passage in nest.search("can I take it on an empty stomach?"):
        print(passage.cite, passage.text)

Names are imported when they are first used, so that ``import nestling`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nestling.answers import Answer, Citation, Claim, Support, Verification
    from nestling.editions import EditionInfo
    from nestling.errors import (
        AccessError,
        BusyError,
        DocumentError,
        EmbedderMismatchError,
        FilterError,
        FullError,
        InputError,
        LockedError,
        MissingExtraError,
        ModelError,
        NestlingError,
        NewerNestError,
        NotANestError,
        NotFoundError,
        ReadOnlyError,
        ScopeError,
        ServerError,
        SettingError,
        StoreError,
    )
    from nestling.ingest.named import read_file
    from nestling.measure.charts import Chart, charts
    from nestling.measure.compare import Comparison, compare
    from nestling.measure.evaluation import Evaluation
    from nestling.measure.golden import Golden, GoldenQuestion, GoldSpan
    from nestling.measure.read import read_corpus, read_golden
    from nestling.measure.report import html_report
    from nestling.measure.search import TuneProgress
    from nestling.measure.tuned import Standing, Tuned
    from nestling.models.builtin import MiniLM
    from nestling.models.chat import ChatEndpoint
    from nestling.models.cross_encoder import CrossEncoder
    from nestling.models.embedder import Embedder
    from nestling.models.endpoint import Endpoint
    from nestling.models.language_model import Generated, LanguageModel
    from nestling.models.onnx_directory import OnnxDirectory
    from nestling.models.rerank_endpoint import RerankEndpoint
    from nestling.models.reranker import Reranker
    from nestling.models.static import Static
    from nestling.nest import Nest
    from nestling.opening import open_nest as open
    from nestling.rebuilding import Rebuilt
    from nestling.results import (
        DocumentInfo,
        Explanation,
        Exported,
        Progress,
        Renamed,
        Repair,
        Report,
        Reranked,
        Results,
        Tree,
        Vote,
    )
    from nestling.retrieve.cite import marker, quoted
    from nestling.settings import Recipe, Scoring
    from nestling.tuning import tune
    from nestling.types import Child, Context, Document, Evidence, Failure, Parent, Passage, Piece
    from nestling.watching import watch

_HOMES = {
    "answers": "Answer Citation Claim Support Verification",
    "editions": "EditionInfo",
    "errors": (
        "AccessError BusyError DocumentError EmbedderMismatchError FilterError FullError InputError LockedError"
        " MissingExtraError ModelError NestlingError NewerNestError NotANestError NotFoundError ReadOnlyError"
        " ScopeError ServerError SettingError StoreError"
    ),
    "ingest.named": "read_file",
    "measure.charts": "Chart charts",
    "measure.compare": "Comparison compare",
    "measure.evaluation": "Evaluation",
    "measure.golden": "GoldSpan Golden GoldenQuestion",
    "measure.read": "read_corpus read_golden",
    "measure.report": "html_report",
    "measure.search": "TuneProgress",
    "measure.tuned": "Standing Tuned",
    "models.builtin": "MiniLM",
    "models.chat": "ChatEndpoint",
    "models.cross_encoder": "CrossEncoder",
    "models.embedder": "Embedder",
    "models.endpoint": "Endpoint",
    "models.language_model": "Generated LanguageModel",
    "models.onnx_directory": "OnnxDirectory",
    "models.rerank_endpoint": "RerankEndpoint",
    "models.reranker": "Reranker",
    "models.static": "Static",
    "nest": "Nest",
    "opening": "open",
    "rebuilding": "Rebuilt",
    "results": "DocumentInfo Explanation Exported Progress Renamed Repair Report Reranked Results Tree Vote",
    "retrieve.cite": "marker quoted",
    "settings": "Recipe Scoring",
    "tuning": "tune",
    "types": "Child Context Document Evidence Failure Parent Passage Piece",
    "watching": "watch",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AccessError",
    "Answer",
    "BusyError",
    "Chart",
    "ChatEndpoint",
    "Child",
    "Citation",
    "Claim",
    "Comparison",
    "Context",
    "CrossEncoder",
    "Document",
    "DocumentError",
    "DocumentInfo",
    "EditionInfo",
    "Embedder",
    "EmbedderMismatchError",
    "Endpoint",
    "Evaluation",
    "Evidence",
    "Explanation",
    "Exported",
    "Failure",
    "FilterError",
    "FullError",
    "Generated",
    "GoldSpan",
    "Golden",
    "GoldenQuestion",
    "InputError",
    "LanguageModel",
    "LockedError",
    "MiniLM",
    "MissingExtraError",
    "ModelError",
    "Nest",
    "NestlingError",
    "NewerNestError",
    "NotANestError",
    "NotFoundError",
    "OnnxDirectory",
    "Parent",
    "Passage",
    "Piece",
    "Progress",
    "ReadOnlyError",
    "Rebuilt",
    "Recipe",
    "Renamed",
    "Repair",
    "Report",
    "RerankEndpoint",
    "Reranked",
    "Reranker",
    "Results",
    "ScopeError",
    "Scoring",
    "ServerError",
    "SettingError",
    "Standing",
    "Static",
    "StoreError",
    "Support",
    "Tree",
    "TuneProgress",
    "Tuned",
    "Verification",
    "Vote",
    "charts",
    "compare",
    "html_report",
    "marker",
    "open",
    "quoted",
    "read_corpus",
    "read_file",
    "read_golden",
    "tune",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'nestling' has no attribute {name!r}")
    module = import_module(f"nestling.{_HOME[name]}")
    value = getattr(module, "open_nest" if name == "open" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
