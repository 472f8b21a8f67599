"""Static embeddings, with the real model2vec and a model of six words."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from nestling.errors import InputError, MissingExtraError, ModelError
from nestling.models.embedder import Embedder
from nestling.models.spec import embedder_from
from nestling.models.static import Static

WORDS = ("[UNK]", "dog", "cat", "house", "the", "bark")


def save(path: Path, scale: float = 1.0) -> Path:
    """Save a model that knows five words."""
    model2vec = pytest.importorskip("model2vec")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.eye(len(WORDS), 4, dtype=np.float32) * scale + 0.1
    model2vec.StaticModel(vectors, tokenizer, max_length=8).save_pretrained(path)
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A saved model."""
    return save(tmp_path / "model")


def test_promises_of_the_protocol(directory: Path) -> None:
    """Float32 unit rows in the order given, the mean of the tokens' vectors."""
    model = Static(directory, languages=["en"])
    assert isinstance(model, Embedder)
    vectors = model.embed_documents(["dog", "the dog", "cat"])
    assert (vectors.shape, vectors.dtype, model.dimension) == ((3, 4), np.float32, 4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    table = np.eye(len(WORDS), 4) + 0.1
    expected = table[4] + table[1]
    np.testing.assert_allclose(vectors[1], expected / np.linalg.norm(expected), atol=1e-6)
    assert (model.embed_queries(["dog"]) == vectors[0]).all()
    assert model.embed_documents([]).shape == (0, 4)
    assert (model.max_tokens, model.languages) == (8, frozenset({"en"}))


def test_text_without_a_known_token(directory: Path) -> None:
    """It gets the first axis: a unit vector, always the same."""
    assert Static(directory).embed_documents(["", "zebra"]).tolist() == [[1, 0, 0, 0]] * 2


def test_count_tokens(directory: Path) -> None:
    """Tokens are counted up to the model's limit."""
    model = Static(directory)
    assert [model.count_tokens(text) for text in ("", "the dog", "dog " * 20)] == [0, 2, 8]


def test_fingerprint_and_spec(directory: Path, tmp_path: Path) -> None:
    """The fingerprint follows the files, not their place; the spec makes another like it."""
    model = Static(directory, languages=["en"])
    again = embedder_from(str(model.spec))
    assert (again.fingerprint, again.languages) == (model.fingerprint, model.languages)
    assert Static(save(tmp_path / "copy")).fingerprint == model.fingerprint
    assert Static(save(tmp_path / "other", 2.0)).fingerprint != model.fingerprint


def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without model2vec the error names the pip command."""
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nestling\[model2vec\]'") as caught:
        Static(tmp_path)
    assert isinstance(caught.value.__cause__, ImportError)


def test_no_model_there(directory: Path, tmp_path: Path) -> None:
    """A path without a model is refused, and nothing is looked for elsewhere."""
    with pytest.raises(ModelError, match="no directory"):
        Static(tmp_path / "minishlab" / "potion-base-8M")
    (directory / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ModelError, match="not a model2vec model") as caught:
        Static(directory)
    assert caught.value.__cause__ is not None


def test_wrong_texts(directory: Path) -> None:
    """One string and broken Unicode are refused."""
    model = Static(directory)
    with pytest.raises(InputError, match="list of strings"):
        model.embed_documents("dog")
    with pytest.raises(ModelError, match="failed"):
        model.embed_documents(["\ud800"])
    with pytest.raises(ModelError, match="valid Unicode"):
        model.count_tokens("\ud800")
