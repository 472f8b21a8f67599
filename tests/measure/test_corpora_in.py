"""Published shapes of questions and documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from library import write_lines

import nestling
from nestling import Document, GoldenQuestion, GoldSpan


def beir(folder: Path) -> Path:
    """A folder as BEIR has them, with judgements of two splits."""
    (folder / "qrels").mkdir()
    write_lines(
        folder / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "One."}, {"_id": "d2", "text": "Two."}
    )
    write_lines(folder / "queries.jsonl", *({"_id": f"q{i}", "text": f"Question {i}?"} for i in (1, 2, 3)))
    head = "query-id\tcorpus-id\tscore"
    write_lines(folder / "qrels" / "test.tsv", head, "q1\td1\t2", "q1\td2\t0", "q2\td2\t1")
    write_lines(folder / "qrels" / "train.tsv", head, "q3\td1\t1")
    return folder


def test_beir(tmp_path: Path) -> None:
    """Documents one at a time; of the questions those judged in the test split."""
    folder = beir(tmp_path)
    assert list(nestling.read_corpus(folder)) == [Document("d1", "One.", "T"), Document("d2", "Two.")]
    assert nestling.read_golden(folder).questions == (
        GoldenQuestion("q1", "Question 1?", {"d1": 2, "d2": 0}, place="queries.jsonl line 1"),
        GoldenQuestion("q2", "Question 2?", {"d2": 1}, place="queries.jsonl line 2"),
    )
    (folder / "qrels" / "test.tsv").unlink()
    assert [q.id for q in nestling.read_golden(folder).questions] == ["q3"]


def test_folder_with_spans_and_gzip(tmp_path: Path) -> None:
    """Judgements in one file keep every question; spans join them; files may be packed; TREC's columns do."""
    documents = json.dumps({"id": 1, "text": "Some words.", "metadata": {"a": 1}})
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(documents.encode()))
    write_lines(tmp_path / "queries.jsonl", {"id": "a", "text": "A?"}, {"id": "b", "text": "B?"})
    write_lines(tmp_path / "qrels.tsv", "a\t0\t1\t1.0")
    span = {"query_id": "a", "doc_id": "1", "start": 5, "end": 10, "text": "words"}
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(json.dumps(span).encode()))
    first, second = nestling.read_golden(tmp_path).questions
    assert (first.relevant, first.spans) == ({"1": 1}, (GoldSpan("1", 5, 10, "words"),))
    assert second.lacks is not None
    assert list(nestling.read_corpus(tmp_path)) == [Document("1", "Some words.", "", {"a": 1})]


def test_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    """Missing files, lines that are no judgements, spans and documents, gold without a question."""
    folder = beir(tmp_path)
    wrong = {
        ("qrels/test.tsv", "q1\td1\tmuch"): "",  # a first line is a head
        ("qrels/test.tsv", "q1\td1\t1\nq1\td1\tmuch"): "line 2: 'q1",
        ("qrels/test.tsv", "q9\td1\t1"): "'q9'",
        ("spans.jsonl", '{"query_id": "q1", "doc_id": "d1", "start": 3}'): "spans.jsonl line 1 is no span",
        ("spans.jsonl", '{"query_id": "q1",'): "line 1 is not JSON",
        ("spans.jsonl", "[]"): "line 1 is no JSON object",
        ("queries.jsonl", '{"text": "?"}'): "queries.jsonl line 1 has no '_id'",
        ("queries.jsonl", '{"_id": "q1", "text": null}'): "queries.jsonl line 1 has no 'text'",
    }
    for (name, text), told in wrong.items():
        before = (folder / name).read_text("utf-8") if (folder / name).exists() else None
        (folder / name).write_text(text, "utf-8")
        if told:
            with pytest.raises(nestling.DocumentError, match=told):
                nestling.read_golden(folder)
        (folder / name).unlink()
        if before is not None:
            (folder / name).write_text(before, "utf-8")
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(nestling.DocumentError, match=r"has no corpus\.jsonl"):
        list(nestling.read_corpus(folder))
    for name in ("test", "train"):
        (folder / "qrels" / f"{name}.tsv").unlink()
    with pytest.raises(nestling.DocumentError, match=r"has no qrels\.tsv"):
        nestling.read_golden(folder)


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Super_Bowl",
            "paragraphs": [
                {"context": "Filler.", "qas": []},
                {
                    "context": "They gave up 308 points.",
                    "qas": [
                        {
                            "id": "a",
                            "question": "How many?",
                            "answers": [
                                {"text": "308", "answer_start": 13},
                                {"text": "308 points", "answer_start": 13},
                            ],
                        },
                        {"id": "b", "question": "Why?", "answers": [], "is_impossible": True},
                    ],
                },
            ],
        }
    ],
}


def test_squad(tmp_path: Path) -> None:
    """Paragraphs become documents, the first answer the gold, an impossible question an unanswerable one."""
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(SQUAD), "utf-8")
    assert list(nestling.read_corpus(path)) == [
        Document("Super_Bowl/1", "Filler.", "Super Bowl"),
        Document("Super_Bowl/2", "They gave up 308 points.", "Super Bowl"),
    ]
    gold = (GoldSpan("Super_Bowl/2", 13, 16, "308"),)
    assert nestling.read_golden(path).questions == (
        GoldenQuestion("a", "How many?", {"Super_Bowl/2": 1}, gold, place="question 'a'"),
        GoldenQuestion("b", "Why?", unanswerable=True, place="question 'b'"),
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"data": [1]}', '{"data": [{"paragraphs": [{"qas": [{}]}]}]}']
)
def test_other_json(tmp_path: Path, text: str) -> None:
    """JSON of another shape is refused with what is read."""
    path = tmp_path / "other.json"
    path.write_text(text, "utf-8")
    with pytest.raises(nestling.DocumentError, match="has not the shape of SQuAD"):
        nestling.read_golden(path)


def test_questions_alone_have_no_documents(tmp_path: Path) -> None:
    """A file of golden questions brings no documents, and says where they go."""
    path = write_lines(tmp_path / "golden.jsonl", {"question": "?"})
    with pytest.raises(nestling.DocumentError, match="nestling add"):
        nestling.read_corpus(path)
