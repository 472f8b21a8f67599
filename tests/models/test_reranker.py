"""Rerankers: the checked call, an endpoint on loopback, and a small cross-encoder made here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from models.embedding_server import Answer, Service, serve
from models.rerank_bodies import answered, reranked
from nestling.errors import InputError, ModelError, SettingError
from nestling.models import patience
from nestling.models.builtin import DIRECTORY
from nestling.models.cross_encoder import BATCH, CrossEncoder
from nestling.models.onnx_text import open_tokenizer
from nestling.models.rerank_endpoint import RerankEndpoint
from nestling.models.rerank_spec import reranker_from
from nestling.models.reranker import Reranker, judged

TEXTS = ["a cat", "the dog barks", "the cat and the dog bark"]
TABLE = np.random.default_rng(7).normal(size=30522).astype(np.float32)
ALL = ("input_ids", "attention_mask", "token_type_ids")


class Says:
    """A reranker that gives what it is told to, or raises it."""

    name = "says"

    def __init__(self, said: Any) -> None:
        self._said = said

    def scores(self, query: str, texts: Sequence[str]) -> Any:
        """What it was told."""
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


# --- the checked call


def test_any_numbers_will_do() -> None:
    """Scores may be an array or whole numbers, on any scale."""
    assert judged(Says(np.array([1.5, -2], np.float32)), "q", ["a", "b"]) == [1.5, -2.0]
    assert judged(Says((10**9, 0)), "q", ["a", "b"]) == [1e9, 0.0]
    assert isinstance(Says([]), Reranker)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([1.0], r"says gave 1 scores for 2 texts; mend"),
        ([1.0, 2.0, 3.0], r"says gave 3 scores for 2 texts; mend"),
        ([1.0, float("nan")], r"says gave the score nan for text 1 of 2; mend"),
        ([float("-inf"), 1.0], r"says gave the score -inf for text 0 of 2; mend"),
        (None, r"says failed: TypeError.*; mend"),
        (["high", "low"], r"says failed: ValueError.*; mend"),
        ([[1.0, 2.0], [3.0]], r"says failed: TypeError.*; mend"),
        (RuntimeError("out of memory"), r"says failed: RuntimeError\('out of memory'\); mend"),
    ],
)
def test_what_is_no_score_is_refused(said: Any, told: str) -> None:
    """A wrong count, numbers that are not finite, other values and foreign errors are a ModelError."""
    with pytest.raises(ModelError, match=told) as caught:
        judged(Says(said), "q", ["a", "b"])
    assert ("failed" in told) == (caught.value.__cause__ is not None)


def test_own_errors_pass() -> None:
    """An error of Nestling's is passed on as it is."""
    with pytest.raises(SettingError, match="as it is"):
        judged(Says(SettingError("as it is")), "q", ["a"])


# --- the endpoint


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A server, no key and no proxy in the environment, and short waits."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NESTLING_API_KEY", raising=False)
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    with serve(reranked) as running:
        yield running


def test_scores_come_in_the_order_of_the_texts(service: Service) -> None:
    """The server answers best first, with an index; the texts go in one request to …/rerank."""
    assert RerankEndpoint(service.url, "m").scores("dog cat", TEXTS) == [0.5, 0.5, 1.0]
    assert service.requests == [{"model": "m", "query": "dog cat", "documents": TEXTS}]
    assert service.paths == ["/v1/rerank"]
    assert "authorization" not in service.headers[0]


def test_the_address_may_be_whole(service: Service) -> None:
    """``/rerank`` is not put to an address that has it."""
    RerankEndpoint(f"{service.url}/rerank", "m").scores("dog", TEXTS)
    assert service.paths == ["/v1/rerank"]


def test_nothing_is_asked_about_nothing(service: Service) -> None:
    """No texts, no request; one string for a list is refused."""
    assert RerankEndpoint(service.url, "m").scores("dog", []) == []
    assert service.requests == []
    with pytest.raises(InputError, match="list of strings"):
        RerankEndpoint(service.url, "m").scores("dog", "text")


GOOD = answered([0.1, 0.2, 0.3])["results"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", r"no JSON.*give the address of a /rerank"),
        ([], "something else than scores"),
        ({"data": []}, "something else than scores"),
        ({"results": None}, "something else than scores"),
        ({"results": [{"index": 0}]}, "something else than scores"),
        ({"results": [{"index": 0, "relevance_score": "high"}]}, "something else than scores"),
        ({"results": [{"index": None, "relevance_score": 1}]}, "something else than scores"),
        ({"results": [{"index": 1e999, "relevance_score": 1}]}, "something else than scores"),
        ({"results": GOOD[:2]}, "2 scores for 3 texts"),
        ({"results": [*GOOD, GOOD[0]]}, "4 scores for 3 texts"),
        ({"results": [GOOD[0], GOOD[1], GOOD[1]]}, "numbered them otherwise than 0 to 2"),
        ({"results": [GOOD[0], GOOD[1], {"index": 3, "relevance_score": 1}]}, "numbered them otherwise"),
        ({"results": [*GOOD[:2], {**GOOD[2], "relevance_score": float("nan")}]}, "the score nan for text 0"),
    ],
)
def test_wrong_answers(service: Service, body: Any, said: str) -> None:
    """An answer that is not one finite score for each text is refused, saying what to do."""
    service.answers.append(Answer(body=body))
    with pytest.raises(ModelError, match=said):
        RerankEndpoint(service.url, "m").scores("dog", TEXTS)
    assert len(service.requests) == 1


def test_patience(service: Service) -> None:
    """A busy server, and one that is silent for too long, are asked again."""
    service.answers += [Answer(429, {"error": "busy"}), Answer(delay=0.6)]
    assert len(RerankEndpoint(service.url, "m", timeout=0.2).scores("dog", TEXTS)) == 3
    assert len(service.requests) == 3


def test_giving_up(service: Service) -> None:
    """A server that stays silent, one that is not there, and a refusal are told with what to do."""
    service.answers += [Answer(delay=0.5)] * 2
    with pytest.raises(ModelError, match=r"not be reached in 2 tries \(ReadTimeout.*; check the address"):
        RerankEndpoint(service.url, "m", timeout=0.1, retries=1).scores("dog", TEXTS)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1/rerank could not be reached in 1 tries"):
        RerankEndpoint("http://127.0.0.1:9/v1", "m", retries=0).scores("dog", TEXTS)
    service.answers.append(Answer(404, {"error": "no such model"}))
    with pytest.raises(ModelError, match=r"404.*no such model.*; check the address, the model's name"):
        RerankEndpoint(service.url, "m").scores("dog", TEXTS)


def test_the_key_is_sent_and_never_told(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a bearer token, from the argument or the environment; in no message, spec or representation."""
    service.answers.append(Answer(401, b"the key sk-secret is not known"))
    endpoint = RerankEndpoint(service.url, "m", api_key="sk-secret")
    with pytest.raises(ModelError, match=r"the key … is not known") as caught:
        endpoint.scores("dog", TEXTS)
    assert service.headers[0]["authorization"] == "Bearer sk-secret"
    monkeypatch.setenv("NESTLING_API_KEY", "sk-environment")
    RerankEndpoint(service.url, "m").scores("dog", TEXTS)
    assert service.headers[1]["authorization"] == "Bearer sk-environment"
    assert "secret" not in f"{caught.value} {endpoint!r} {endpoint.spec} {endpoint.name}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"url": "ftp://host/v1"}, r"http\(s\)://host/path"),
        ({"url": "http://me:pass@host/v1"}, "NESTLING_API_KEY"),
        ({"timeout": 0}, "timeout is 0"),
        ({"retries": -1}, "retries is -1"),
        ({"api_key": "schlüssel"}, "NESTLING_API_KEY"),
    ],
)
def test_arguments_out_of_range(arguments: dict[str, Any], said: str) -> None:
    """What cannot be right is refused before anything is sent."""
    with pytest.raises(SettingError, match=said):
        RerankEndpoint(**{"url": "http://host/v1", "model": "m", **arguments})


# --- the cross-encoder


def small(
    path: Path, labels: int = 1, inputs: tuple[str, ...] = ALL, limits: dict[str, int] | None = None
) -> Path:
    """Make a directory with a model that adds up a table's number for each token, those of the text three times.

    Where there are more labels, the second is the sum and the others are its negative.
    """
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["found"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["found", "mask"], ["x1"]),
    ]
    if "token_type_ids" in inputs:
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["types", "two"], ["twice"]),
            helper.make_node("Add", ["twice", "one"], ["times"]),
            helper.make_node("Mul", ["x1", "times"], ["x"]),
        ]
    else:
        nodes.append(helper.make_node("Identity", ["x1"], ["x"]))
    nodes.append(helper.make_node("ReduceSum", ["x", "axis"], ["sum"], keepdims=int(labels > 0)))
    if labels > 1:
        nodes.append(helper.make_node("Neg", ["sum"], ["negative"]))
        parts = ["negative", "sum", *["negative"] * (labels - 2)]
        nodes.append(helper.make_node("Concat", parts, ["logits"], axis=1))
    else:
        nodes.append(helper.make_node("Identity", ["sum"], ["logits"]))
    constants = {"table": TABLE, "axis": np.array([1])}
    constants |= {"one": np.array(1, np.float32), "two": np.array(2, np.float32)}
    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in inputs]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", labels] if labels else ["b"])
    graph = helper.make_graph(
        nodes,
        "small",
        ids,
        [out],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        path / "model.onnx",
    )
    (path / "tokenizer.json").write_bytes((DIRECTORY / "tokenizer.json").read_bytes())
    (path / "config.json").write_text(json.dumps(limits or {}))
    return path


def expected(query: str, text: str, most: int = 512, most_of_query: int | None = None) -> float:
    """What the small model gives a pair of which the text is cut, and the query where it is told."""
    tokenizer = open_tokenizer(DIRECTORY / "tokenizer.json")
    asked = tokenizer.encode(query, add_special_tokens=False).ids[:most_of_query]
    room = most - 3 - len(asked)
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    said = [*tokenizer.encode(text, add_special_tokens=False).ids[:room], last]
    return float(TABLE[[first, *asked, last]].sum() + 3 * TABLE[said].sum())


def test_pairs_are_judged_as_pairs(tmp_path: Path) -> None:
    """A pair's score is its logit, whatever is beside it in a batch: padding counts for nothing."""
    model = CrossEncoder(small(tmp_path))
    texts = [" ".join(["the dog barks at a cat"] * (n % 7) + ["loudly"] * n) for n in range(3 * BATCH + 1)]
    found = model.scores("why does it bark?", texts)
    np.testing.assert_allclose(found, [expected("why does it bark?", text) for text in texts], rtol=1e-4)
    alone = [model.scores("why does it bark?", [text])[0] for text in texts]
    np.testing.assert_allclose(found, alone, rtol=1e-4)
    assert model.scores("why?", []) == []
    assert isinstance(model, Reranker)
    assert model.name == tmp_path.name


@pytest.mark.parametrize(("labels", "times"), [(0, 1), (1, 1), (2, 2)])
def test_one_logit_or_two(tmp_path: Path, labels: int, times: int) -> None:
    """Of two logits the second's lead over the first counts."""
    found = CrossEncoder(small(tmp_path, labels)).scores("why?", TEXTS)
    np.testing.assert_allclose(found, [times * expected("why?", text) for text in TEXTS], rtol=1e-4)


def test_more_logits_are_refused(tmp_path: Path) -> None:
    """A model that tells three classes apart says nothing of an order."""
    with pytest.raises(ModelError, match=r"logits of shape \(3, 3\) for 3 pairs; export"):
        CrossEncoder(small(tmp_path, 3)).scores("why?", TEXTS)


def test_a_model_without_types(tmp_path: Path) -> None:
    """Token types are given only to a model that reads them."""
    [found] = CrossEncoder(small(tmp_path, inputs=ALL[:2])).scores("dog", ["cat"])
    assert found == pytest.approx(
        expected("dog", "cat")
        - 2 * TABLE[open_tokenizer(tmp_path / "tokenizer.json").encode("cat").ids[1:]].sum(),
        rel=1e-4,
    )


def test_the_text_is_cut(tmp_path: Path) -> None:
    """What is longer than the model reads loses the end of the text; a query only beyond half of the room."""
    model = CrossEncoder(small(tmp_path, limits={"max_position_embeddings": 16}))
    long = " ".join(f"{word} word" for word in ("dog", "cat", "tree", "house", "river", "stone") * 3)
    [found] = model.scores("why does it bark", [long])
    assert found == pytest.approx(expected("why does it bark", long, 16), rel=1e-4)
    [found] = model.scores(long, ["a cat sat on the mat and slept"])
    assert found == pytest.approx(expected(long, "a cat sat on the mat and slept", 16, 8), rel=1e-4)


def test_threads_share_it(tmp_path: Path) -> None:
    """Several threads at once get what one gets."""
    model = CrossEncoder(small(tmp_path))
    queries = [f"question number {n}" for n in range(16)]
    alone = [model.scores(query, TEXTS * 10) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: model.scores(query, TEXTS * 10), queries)) == alone


def test_what_is_missing_or_damaged(tmp_path: Path) -> None:
    """A directory without its files, a file that is no model, and one that reads no mask are named."""
    with pytest.raises(ModelError, match=r"neither model\.onnx nor"):
        CrossEncoder(tmp_path)
    small(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded.*; get the model again"):
        CrossEncoder(tmp_path)
    ids = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "s"])]
    out = [helper.make_tensor_value_info("y", TensorProto.INT64, ["b", "s"])]
    graph = helper.make_graph([helper.make_node("Identity", ["input_ids"], ["y"])], "bare", ids, out)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "model.onnx")
    with pytest.raises(ModelError, match=r"reads \['input_ids'\]; export it for sequence classification"):
        CrossEncoder(tmp_path)


def test_texts_that_cannot_be_read(tmp_path: Path) -> None:
    """One string for a list, and half a surrogate pair, are refused."""
    model = CrossEncoder(small(tmp_path))
    with pytest.raises(InputError, match="list of strings"):
        model.scores("dog", "cat")
    with pytest.raises(ModelError, match="valid Unicode"):
        model.scores("dog", ["\ud800"])


# --- by name


def test_by_name(tmp_path: Path) -> None:
    """Each form makes its kind; its spec makes another like it."""
    endpoint = reranker_from("jina:jina-reranker-v2@https://api.jina.ai/v1")
    assert isinstance(endpoint, RerankEndpoint)
    assert repr(endpoint) == "RerankEndpoint('https://api.jina.ai/v1/rerank', 'jina-reranker-v2')"
    assert endpoint.spec == "jina:jina-reranker-v2@https://api.jina.ai/v1"
    odd = tmp_path / "50% C#"
    odd.mkdir()
    local = CrossEncoder(small(odd))
    again = reranker_from(local.spec)
    assert isinstance(again, CrossEncoder)
    assert again.spec == local.spec


@pytest.mark.parametrize(
    "spec", ["", "jina", "jina:model", "jina:@http://h/v1", "onnx:", "cohere:m@http://h", "minilm"]
)
def test_unknown_names(spec: str) -> None:
    """An unknown line is refused with the forms there are."""
    with pytest.raises(SettingError, match=r"give one of jina:MODEL@URL, onnx:DIRECTORY"):
        reranker_from(spec)


def test_there_are_no_options() -> None:
    """An option that does not exist is named."""
    with pytest.raises(SettingError, match="no option top_n"):
        reranker_from("jina:m@http://h/v1#top_n=5")
