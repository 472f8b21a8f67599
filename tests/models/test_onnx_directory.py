"""Models in a local directory: made here from the built-in one, and from small ONNX graphs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nestling.errors import InputError, ModelError
from nestling.models.builtin import DIRECTORY, MiniLM
from nestling.models.embedder import Embedder
from nestling.models.onnx_directory import OnnxDirectory, read_max_tokens
from nestling.models.spec import embedder_from

TEXTS = ["the dog barks", "a cat"]
ALL = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    """The built-in model as a directory, its ONNX file in ``onnx/``."""
    (tmp_path / "onnx").mkdir()
    shutil.copyfile(DIRECTORY / "model.onnx", tmp_path / "onnx" / "model.onnx")
    shutil.copyfile(DIRECTORY / "tokenizer.json", tmp_path / "tokenizer.json")
    write(tmp_path / "sentence_bert_config.json", {"max_seq_length": 256})
    return tmp_path


def write(path: Path, value: object) -> None:
    """Write a value as JSON."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def small(path: Path, inputs: tuple[str, ...] = ALL, output: str = "last_hidden_state") -> Path:
    """Make a directory with a model that looks tokens up in a table and adds all its other inputs to them."""
    table = np.random.default_rng(7).normal(size=(30522, 4)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", inputs[0]], ["x0"])]
    for number, name in enumerate(inputs[1:], 1):
        nodes.append(helper.make_node("Cast", [name], [f"f{number}"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Unsqueeze", [f"f{number}", "last"], [f"u{number}"]))
        nodes.append(helper.make_node("Add", [f"x{number - 1}", f"u{number}"], [f"x{number}"]))
    nodes.append(helper.make_node("Identity", [f"x{len(inputs) - 1}"], [output]))
    constants = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "last")]
    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in inputs]
    out = [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["b", "s", 4])]
    graph = helper.make_graph(nodes, "small", ids, out, constants)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        path / "model.onnx",
    )
    (path / "tokenizer.json").write_bytes((DIRECTORY / "tokenizer.json").read_bytes())
    return path


def tokens(path: Path, text: str) -> np.ndarray:
    """The vectors that the small model gives the tokens of a text."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.no_padding()
    table = np.random.default_rng(7).normal(size=(30522, 4)).astype(np.float32)
    return np.asarray(table[tokenizer.encode(text).ids])


def test_the_same_model_gives_the_same_vectors(minilm: Path) -> None:
    """The built-in model, read as a directory, behaves like itself."""
    model = OnnxDirectory(minilm)
    assert isinstance(model, Embedder)
    assert (model.embed_documents(TEXTS) == MiniLM().embed_documents(TEXTS)).all()
    assert (model.dimension, model.max_tokens, model.languages) == (384, 256, None)
    assert model.count_tokens("a happy person") == 3
    assert model.embed_queries([]).shape == (0, 384)


@pytest.mark.parametrize("inputs", [ALL[:1], ALL[:2], ALL])
def test_inputs_a_model_may_want(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    """Attention mask (all ones) and token types (all zeros) are given to a model that reads them."""
    [vector] = OnnxDirectory(small(tmp_path, inputs)).embed_documents(["dog"])
    expected = tokens(tmp_path, "dog").mean(axis=0) + (len(inputs) > 1)
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize(
    "facts", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_cls_pooling(tmp_path: Path, facts: dict[str, object]) -> None:
    """A directory that pools by its first token is obeyed."""
    small(tmp_path, ALL[:1])
    write(tmp_path / "1_Pooling" / "config.json", {"word_embedding_dimension": 4, **facts})
    [vector] = OnnxDirectory(tmp_path).embed_documents(["dog"])
    first = tokens(tmp_path, "dog")[0]
    np.testing.assert_allclose(vector, first / np.linalg.norm(first), atol=1e-6)


def test_prefixes(minilm: Path) -> None:
    """The directory's prompts are put before questions and documents; arguments go before the directory."""
    plain = MiniLM().embed_documents(["query: dog", "passage: dog", "ask: dog", "dog"])
    write(
        minilm / "config_sentence_transformers.json",
        {"prompts": {"query": "query: ", "passage": "passage: "}},
    )
    own = OnnxDirectory(minilm)
    assert (own.embed_queries(["dog"]) == plain[0]).all()
    assert (own.embed_documents(["dog"]) == plain[1]).all()
    given = OnnxDirectory(minilm, query_prefix="ask: ", document_prefix="")
    assert (given.embed_queries(["dog"]) == plain[2]).all()
    assert (given.embed_documents(["dog"]) == plain[3]).all()
    assert own.fingerprint != given.fingerprint


def test_fingerprint_follows_the_files(minilm: Path) -> None:
    """It stays when the directory moves or languages are set, and changes with what decides vectors."""
    before = OnnxDirectory(minilm)
    assert OnnxDirectory(minilm, languages=["en"]).fingerprint == before.fingerprint
    write(minilm / "sentence_bert_config.json", {"max_seq_length": 128})
    shorter = OnnxDirectory(minilm)
    write(minilm / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    pooled = OnnxDirectory(minilm)
    (minilm / "onnx" / "model.onnx_data").write_bytes(b"weights")
    beside = OnnxDirectory(minilm)
    assert len({each.fingerprint for each in (before, shorter, pooled, beside)}) == 4


def test_spec_makes_another_like_it(minilm: Path) -> None:
    """The spec of an embedder gives one with the same fingerprint and languages."""
    odd = minilm / "50% C#"
    odd.mkdir()
    for name in ("tokenizer.json", "onnx/model.onnx"):
        (odd / Path(name).name).hardlink_to(minilm / name)
    model = OnnxDirectory(odd, query_prefix="q & a: ", document_prefix="", languages=["en", "de"])
    again = embedder_from(str(model.spec))
    assert isinstance(again, OnnxDirectory)
    assert (again.fingerprint, again.languages, again.spec) == (
        model.fingerprint,
        model.languages,
        model.spec,
    )


def test_most_tokens(tmp_path: Path) -> None:
    """The first file that names a sensible limit decides; without one it is 512."""
    assert read_max_tokens(tmp_path) == 512
    write(tmp_path / "config.json", {"max_position_embeddings": 514})
    assert read_max_tokens(tmp_path) == 514
    write(tmp_path / "tokenizer_config.json", {"model_max_length": 10**30})
    assert read_max_tokens(tmp_path) == 514
    write(tmp_path / "tokenizer_config.json", {"model_max_length": 300})
    assert read_max_tokens(tmp_path) == 300
    write(tmp_path / "sentence_bert_config.json", {"max_seq_length": 128})
    assert read_max_tokens(tmp_path) == 128


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    """What is missing or damaged is named."""
    with pytest.raises(ModelError, match=r"neither model\.onnx nor"):
        OnnxDirectory(tmp_path / "nowhere")
    (tmp_path / "model.onnx").write_bytes(b"x")
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        OnnxDirectory(tmp_path)
    small(tmp_path)
    for text, said in (("{", "cannot be read"), ("[]", "no JSON dict")):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ModelError, match=said):
            OnnxDirectory(tmp_path)


def test_what_is_not_done_here(tmp_path: Path) -> None:
    """Other pooling, further modules and other inputs are refused, saying what to do."""
    small(tmp_path)
    write(tmp_path / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    with pytest.raises(ModelError, match=r"lasttoken.*export"):
        OnnxDirectory(tmp_path)
    write(tmp_path / "1_Pooling" / "config.json", {})
    kinds = ("Transformer", "Pooling", "Dense", "Normalize")
    write(tmp_path / "modules.json", [{"type": f"sentence_transformers.models.{kind}"} for kind in kinds])
    with pytest.raises(ModelError, match=r"module Dense.*export"):
        OnnxDirectory(tmp_path)
    write(tmp_path / "modules.json", [{"type": "sentence_transformers.models.Transformer"}])
    small(tmp_path, ("input_ids", "pixels"))
    with pytest.raises(ModelError, match=r"pixels.*export"):
        OnnxDirectory(tmp_path)


def test_texts_are_checked(minilm: Path) -> None:
    """One string instead of a list is refused."""
    with pytest.raises(InputError, match="list of strings"):
        OnnxDirectory(minilm).embed_queries("dog")
