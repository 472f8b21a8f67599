"""The systems that are measured, by the names of the rows."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .peer import Peer

OWN = "Nestling"
# name: module, class, options; an option that is text names something of the module
SYSTEMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    OWN: ("own", "Own", {"overhead": False}),
    "Nestling, markers and titles counted": ("own", "Own", {"overhead": True}),
    "LangChain parent document, 2000/400 default": (
        "langchain",
        "ParentDocuments",
        {"parent": 2000, "child": 400, "overlap": 200},
    ),
    "LangChain parent document, 1600/400": (
        "langchain",
        "ParentDocuments",
        {"parent": 1600, "child": 400, "overlap": 0},
    ),
    "LlamaIndex auto-merging, default": ("llamaindex", "AutoMerged", {"parser": "by_default"}),
    "LlamaIndex auto-merging, 1600/400": ("llamaindex", "AutoMerged", {"parser": "equal_sizes"}),
    "LlamaIndex sentence window, default": ("llamaindex", "SentenceWindow", {"parser": "sentences"}),
    "LlamaIndex sentence window, 400 ± 2": ("llamaindex", "SentenceWindow", {"parser": "equal_windows"}),
    "Haystack auto-merging, 1600/400": ("haystack", "AutoMerged", {"parent": 1600, "child": 400}),
    "Haystack sentence window, default": ("haystack", "SentenceWindow", {"size": None, "window": 3}),
    "Haystack sentence window, 400 ± 2": ("haystack", "SentenceWindow", {"size": 400, "window": 2}),
    "Chroma, chunks of 400": ("chroma", "Chunks", {"size": 400}),
    "Chroma, chunks of 1600": ("chroma", "Chunks", {"size": 1600}),
}
PACKAGES = (
    "nestling",
    "langchain-classic",
    "langchain-chroma",
    "langchain-text-splitters",
    "llama-index-core",
    "haystack-ai",
    "chromadb",
    "onnxruntime",
    "numpy",
)


def make(name: str, folder: Path) -> Peer:
    """One system; ImportError where it is not installed."""
    module, kind, options = SYSTEMS[name]
    home = import_module(f"peers.{module}")
    given = {key: getattr(home, value) if isinstance(value, str) else value for key, value in options.items()}
    peer: Peer = getattr(home, kind)(folder, **given)
    return peer


def versions() -> dict[str, str]:
    """What is installed of the packages that matter."""
    return {package: version(package) for package in PACKAGES}
