"""Public corpora with gold answers, read from ``../shared/data`` beside the project (or ``$NESTLING_DATA``)."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestling.types import Document

DATA = Path(os.environ.get("NESTLING_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Corpus:
    """Documents, questions by id, and what answers them: spans of documents, or graded documents."""

    name: str
    documents: list[Document]
    questions: dict[str, str]
    spans: dict[str, list[tuple[str, int, int]]]
    qrels: dict[str, dict[str, int]]


def available(name: str) -> bool:
    """Whether the corpus is on this machine."""
    return (DATA / name).is_dir()


def read(name: str, limit: int | None = None) -> Corpus:
    """Read a corpus; ``limit`` keeps only every n-th question, so that about so many remain."""
    folder = DATA / name
    documents = [
        Document(row["id"], row["text"], row.get("title") or "", row.get("metadata") or {})
        for row in _lines(folder, "corpus.jsonl")
    ]
    questions = {row["id"]: row["text"] for row in _lines(folder, "queries.jsonl")}
    spans: dict[str, list[tuple[str, int, int]]] = {}
    for row in _lines(folder, "spans.jsonl"):
        spans.setdefault(row["query_id"], []).append((row["doc_id"], row["start"], row["end"]))
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(float(grade))
    if limit and len(questions) > limit:
        kept = list(questions)[:: len(questions) // limit][:limit]
        questions = {id: questions[id] for id in kept}
    return Corpus(name, documents, questions, spans, qrels)


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    path, packed = folder / name, folder / f"{name}.gz"
    if not path.exists() and not packed.exists():
        return
    data = path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())
    # by \n only: some texts hold U+2028 and U+0085
    yield from (json.loads(line) for line in data.decode("utf-8").split("\n") if line)
