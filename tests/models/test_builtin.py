"""The model in the package."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nestling.errors import InputError, ModelError
from nestling.models import builtin, onnx_text
from nestling.models.builtin import DIRECTORY, MiniLM
from nestling.models.embedder import Embedder

CARD = [
    "That is a happy person",
    "That is a happy dog",
    "That is a very happy person",
    "Today is a sunny day",
]
TEXTS = [
    "Take the tablets with a glass of water, at least half an hour before food.",
    "",
    "x",
    "def cosine(a, b): return a @ b / norm(a) / norm(b)  # 3.14159, ünïcode, 漢字, 🙂",
    "The quick brown fox jumps over the lazy dog. " * 60,
    "…",
]


def test_nothing_is_told_to_others(tmp_path: Path) -> None:
    """The runtime of the model reports nothing to its maker, and keeps no file to do so."""
    # it would not in a test of theirs, nor where it takes the machine for one that builds software
    unset = ("ORT_", "CI", "GITHUB_ACTIONS", "TF_BUILD", "GITLAB_CI", "JENKINS_URL", "BUILD_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    script = "from nestling.models.builtin import MiniLM; MiniLM().embed_documents(['x'])"
    home = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env={**environment, **home}, check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The model, loaded once."""
    return MiniLM()


def test_known_good_scores(model: MiniLM) -> None:
    """The pairs of the model's card score as the card says."""
    vectors = model.embed_queries(CARD)
    np.testing.assert_allclose(vectors[1:] @ vectors[0], [0.695, 0.943, 0.257], atol=0.02)


def test_promises_of_the_protocol(model: MiniLM) -> None:
    """Float32 unit rows of length 384 in the order given, for any text."""
    assert isinstance(model, Embedder)
    vectors = model.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (model.dimension, model.max_tokens, model.languages) == (384, 256, frozenset({"en"}))
    for texts in ([], ()):
        assert model.embed_documents(texts).shape == (0, 384)


def test_a_vector_depends_on_its_text_only(model: MiniLM) -> None:
    """Alone, among others, as a question, or from many threads: the same bits."""
    together = model.embed_documents(TEXTS)
    alone = np.concatenate([model.embed_queries([text]) for text in TEXTS])
    assert (together == alone).all()
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: MiniLM().embed_documents(TEXTS[:4]), range(4)):
            assert (vectors == together[:4]).all()


def test_loads_once_for_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that embed with a fresh model at once load it once."""
    opened: list[Path] = []
    real = onnx_text.open_session

    def counted(path: Path) -> object:
        opened.append(path)
        return real(path)

    monkeypatch.setattr(onnx_text, "open_session", counted)
    fresh = MiniLM()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: fresh.embed_queries([text]), CARD))
    assert len(opened) == 1


def test_cut_after_256_tokens(model: MiniLM) -> None:
    """Of a long text the first 254 word pieces and the two special tokens are read."""
    read = "dog " * 254
    one, same, less = model.embed_documents([read, read + "cat " * 500, "dog " * 253])
    assert (one == same).all()
    assert not (one == less).all()


def test_count_tokens(model: MiniLM) -> None:
    """Word pieces are counted without special tokens and without cutting."""
    counts = [model.count_tokens(text) for text in ("", "dog", "a happy person", "dog " * 1000)]
    assert counts == [0, 1, 3, 1000]


def test_wrong_texts(model: MiniLM) -> None:
    """One string, something else than text, and broken Unicode are refused."""
    with pytest.raises(InputError, match="list of strings"):
        model.embed_documents("one text")
    with pytest.raises(InputError, match="text 1 is of type int"):
        model.embed_documents(["a", 1])  # type: ignore[list-item]
    with pytest.raises(ModelError, match="valid Unicode") as caught:
        model.embed_documents(["a", "\ud800"])
    assert caught.value.__cause__ is not None


def test_making_one_loads_nothing() -> None:
    """Fingerprint and dimension are known without onnxruntime and tokenizers."""
    code = (
        "import sys; from nestling.models.spec import embedder_from; m = embedder_from('minilm');"
        "print(m.fingerprint, m.dimension, {'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"{MiniLM().fingerprint} 384 set()"


def test_facts_match_the_files() -> None:
    """The checksums in model.json and NOTICE are those of the files, and the fingerprint follows the model."""
    facts = json.loads((DIRECTORY / "model.json").read_text("utf-8"))
    for name, digest in facts["sha256"].items():
        assert hashlib.sha256((DIRECTORY / name).read_bytes()).hexdigest() == digest
        assert digest in (DIRECTORY / "NOTICE").read_text("utf-8")
    assert facts["fingerprint"].endswith(facts["sha256"]["model.onnx"][:16])
    assert {file.name for file in DIRECTORY.iterdir()} == {
        "LICENSE",
        "NOTICE",
        "model.json",
        *facts["sha256"],
    }


def test_damaged_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing or damaged files give an error that names them and the next step."""
    monkeypatch.setattr(builtin, "DIRECTORY", tmp_path)
    with pytest.raises(ModelError, match="install nestling again"):
        MiniLM()
    for name in ("model.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((DIRECTORY / name).read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded") as caught:
        MiniLM().embed_queries(["a"])
    assert caught.value.__cause__ is not None
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match=r"tokenizer\.json cannot be loaded"):
        MiniLM().count_tokens("a")
