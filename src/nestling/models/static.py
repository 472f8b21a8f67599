"""Static embeddings by model2vec: averaged token vectors, far faster than a transformer and coarser."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nestling.errors import MissingExtraError, ModelError
from nestling.models.embedder import Vectors
from nestling.models.spec_text import write_languages, write_spec
from nestling.models.vectors import check_texts, unit_rows

# What model2vec reads of a text where the model sets no limit.
UNLIMITED_TOKENS = 1_000_000
# The files that decide a model's vectors.
FILES = frozenset({"model.safetensors", "tokenizer.json", "config.json"})


class Static:
    """An `Embedder` on a local model2vec directory. Safe to use from several threads.

    A text without a token the model knows gets the first axis, since a vector of length 1 is due.

    Args:
        path: The directory, as model2vec saves it; nothing is downloaded.
        languages: ISO 639-1 codes the model can represent, or None for any.

    Raises:
        MissingExtraError: model2vec is not installed.
        ModelError: The directory is not a model2vec model.
    """

    def __init__(self, path: str | Path, *, languages: Iterable[str] | None = None) -> None:
        self._path = Path(path).absolute()
        self._model = load(self._path)
        self._lock = threading.Lock()
        self.dimension: int = int(self._model.dim)
        self.max_tokens: int = self._model.max_length or UNLIMITED_TOKENS
        self.languages: frozenset[str] | None = None if languages is None else frozenset(languages)
        self.fingerprint: str = f"model2vec/{digest(self._path)[:16]}"
        options = {"languages": write_languages(self.languages)}
        self.spec: str | None = write_spec("model2vec", str(self._path), options)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape ``(len(texts), dimension)``, float32, rows of length 1, in order.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The model failed.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        try:
            with self._lock:  # encode sets the tokenizer's limit and sets it back
                rows = self._model.encode(list(texts), use_multiprocessing=False)
        except Exception as error:
            raise ModelError(f"the model2vec model {self._path} failed: {error}; check the model") from error
        rows = np.array(rows, dtype=np.float32)
        rows[~rows.any(axis=1), 0] = 1
        return unit_rows(rows, str(self._path))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, which these models treat like documents."""
        return self.embed_documents(texts)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of ``text``, up to the model's limit.

        Raises:
            ModelError: The tokenizer refuses the text.
        """
        try:
            with self._lock:
                return len(self._model.tokenizer.encode(text, add_special_tokens=False).ids)
        except Exception as error:
            raise ModelError(
                f"{self._path} cannot read the text {text[:40]!r}: {error}; give text that is valid Unicode"
            ) from error

    def __repr__(self) -> str:
        return f"Static({str(self._path)!r})"


def load(path: Path) -> Any:
    """The model2vec model in a directory.

    Raises:
        MissingExtraError: model2vec is not installed.
        ModelError: There is no such model.
    """
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise MissingExtraError(
            f"model2vec, which reads {path}, is not installed; run: pip install 'nestling[model2vec]'"
        ) from error
    if not path.is_dir():
        raise ModelError(f"there is no directory {path}; give one that model2vec has saved")
    try:
        return StaticModel.from_pretrained(path)
    except Exception as error:
        raise ModelError(
            f"{path} is not a model2vec model: {error}; give a directory that model2vec has saved"
        ) from error


def digest(path: Path) -> str:
    """The sha256 of the files that decide a model's vectors."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")):  # the sentence-transformers layout has them a level down
        if file.name in FILES:
            total.update(file.relative_to(path).as_posix().encode())
            with file.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()
