"""A text-to-vector ONNX model and its tokenizer: loaded on first use, run one text at a time.

One text per run, and as many runs at once as there are processors, is about as fast as batches and makes a text's
vector independent of the texts beside it: there is no padding and no scale shared by a batch.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nestling.errors import ModelError
from nestling.models.embedder import Vectors
from nestling.models.vectors import check_texts, unit_rows

Pooling = Literal["mean", "cls"]

INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
POOLED = "sentence_embedding"


class OnnxText:
    """An ONNX model that reads token ids, with its tokenizer. Safe to use from several threads.

    Args:
        model: The ``.onnx`` file. It reads ``input_ids`` and, where it wants them, ``attention_mask`` and
            ``token_type_ids``. Its output ``sentence_embedding``, else its first one, is one vector per text, or
            one per token.
        tokenizer: Its ``tokenizer.json``.
        max_tokens: Texts are cut after so many tokens, special tokens included; at least 1.
        pooling: How the vectors of tokens become one; without effect if the model pools.
    """

    def __init__(self, model: Path, tokenizer: Path, *, max_tokens: int, pooling: Pooling = "mean") -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._pooling = pooling
        self._lock = threading.Lock()
        self._session: Any = None
        self._inputs: list[str] = []
        self._output = ""
        self._cutter: Any = None
        self._counter: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: one float32 row of length 1 for each, in order. Without texts, shape ``(0, 0)``.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The model or its tokenizer cannot be loaded or run, or does not give vectors.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        self._load()
        workers = min(len(texts), processors())
        if workers == 1:
            rows = [self._row(text) for text in texts]
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="nestling-embed") as pool:
                rows = list(pool.map(self._row, texts))
        return unit_rows(np.stack(rows), str(self._model))

    def count_tokens(self, text: str) -> int:
        """The number of tokens of ``text``, without special tokens and without cutting.

        Raises:
            ModelError: The tokenizer cannot be loaded, or refuses the text.
        """
        with self._lock:
            if self._counter is None:
                self._counter = open_tokenizer(self._tokenizer)
        return len(self._encode(self._counter, text, special=False))

    def _row(self, text: str) -> Vectors:
        ids = self._encode(self._cutter, text, special=True)
        row = np.array([ids], dtype=np.int64)
        known = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        try:
            [out] = self._session.run([self._output], {name: known[name] for name in self._inputs})
        except Exception as error:
            raise ModelError(
                f"{self._model} failed on a text of {len(ids)} tokens: {error}; check the model"
            ) from error
        vector: Vectors = np.asarray(out, dtype=np.float32)[0]
        if vector.ndim == 2:
            vector = vector[0] if self._pooling == "cls" else vector.mean(axis=0)
        if vector.ndim != 1:
            raise ModelError(
                f"{self._model} gives {self._output} of shape {np.shape(out)}; "
                "export it so that this is one vector per text or one per token"
            )
        return vector

    def _encode(self, tokenizer: Any, text: str, *, special: bool) -> list[int]:
        try:
            ids: list[int] = tokenizer.encode(text, add_special_tokens=special).ids
        except Exception as error:
            raise ModelError(
                f"{self._tokenizer} cannot read the text {text[:40]!r}: {error}; give text that is valid Unicode"
            ) from error
        return ids

    def _load(self) -> None:
        with self._lock:
            if self._session is not None:
                return
            self._cutter = open_tokenizer(self._tokenizer)
            self._cutter.enable_truncation(self._max_tokens)
            session = open_session(self._model)
            self._inputs = [each.name for each in session.get_inputs()]
            if "input_ids" not in self._inputs or not INPUTS.issuperset(self._inputs):
                raise ModelError(
                    f"{self._model} reads {self._inputs}; export it for feature extraction, so that it reads "
                    "input_ids, and no more than attention_mask and token_type_ids beside"
                )
            outputs = [each.name for each in session.get_outputs()]
            self._output = POOLED if POOLED in outputs else outputs[0]
            self._session = session


def open_tokenizer(path: Path) -> Any:
    """The tokenizer of a ``tokenizer.json``, without padding and without cutting.

    Raises:
        ModelError: The file cannot be read as one.
    """
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelError(f"the tokenizer {path} cannot be loaded: {error}; get the model again") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def open_session(model: Path) -> Any:
    """An onnxruntime session on one processor, which does not spin between runs.

    Raises:
        ModelError: onnxruntime cannot be imported, or refuses the file.
    """
    # since 1.29 it tells its maker of the model that is loaded, unless it is told not to before it is imported
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelError(f"the model {model} cannot be loaded: {error}; get the model again") from error


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
