"""A cross-encoder in a local directory: an ONNX export that classifies pairs of a query and a text."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestling.errors import ModelError
from nestling.models.onnx_directory import find_files, read_json, read_max_tokens
from nestling.models.onnx_text import INPUTS, open_session, open_tokenizer, processors
from nestling.models.spec_text import write_spec
from nestling.models.vectors import check_texts

# Pairs per run, of about the same length so that little is padded; a run each keeps several processors busy.
BATCH = 8
# Needed among a model's inputs: without a mask, padding would change scores.
NEEDED = frozenset({"input_ids", "attention_mask"})
LOGITS = "logits"


class CrossEncoder:
    """A `Reranker` on a local directory. Making one loads the model. Safe to use from several threads.

    Read: ``model.onnx`` or ``onnx/model.onnx``, exported for sequence classification with one logit, or two (the
    second's lead over the first is the score); ``tokenizer.json``; the most tokens from ``tokenizer_config.json``
    or ``config.json``, else 512. Where a pair is longer, its text is cut, and a query only where it takes more
    than half of the room. Nothing is downloaded.

    Args:
        path: The directory.

    Raises:
        ModelError: A file is missing or damaged, or the model does not read pairs as it should.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).absolute()
        self._file, tokenizer = find_files(self._path)
        self._most: int = read_max_tokens(self._path)
        self._padding = int(read_json(self._path / "config.json").get("pad_token_id") or 0)
        self._counter, self._tokenizer = open_tokenizer(tokenizer), open_tokenizer(tokenizer)
        self._tokenizer.enable_truncation(self._most, strategy="only_second")
        self._session = open_session(self._file)
        self._inputs = [each.name for each in self._session.get_inputs()]
        if not NEEDED <= set(self._inputs) <= INPUTS:
            raise ModelError(
                f"{self._file} reads {self._inputs}; export it for sequence classification, so that it reads "
                "input_ids and attention_mask, and no more than token_type_ids beside"
            )
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = LOGITS if LOGITS in outputs else outputs[0]
        self.name: str = self._path.name
        self.spec: str = write_spec("onnx", str(self._path), {})

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's logit of each pair, in order.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The model cannot be run, or gives something else than one or two logits.
        """
        check_texts(texts)
        if not texts:
            return []
        asked = self._cut(query)
        pairs = [self._encode(asked, text) for text in texts]
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].ids))
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        run = partial(self._run, pairs)
        workers = min(len(batches), processors())
        if workers == 1:
            parts = [run(batch) for batch in batches]
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="nestling-rerank") as pool:
                parts = list(pool.map(run, batches))
        scores = np.empty(len(pairs))
        scores[order] = np.concatenate(parts)
        found: list[float] = scores.tolist()
        return found

    def _cut(self, query: str) -> str:
        """The query, or as much of its beginning as half of the model's tokens hold."""
        offsets = self._spans(query)
        most = max(self._most // 2, 1)
        return query if len(offsets) <= most else query[: offsets[most - 1][1]]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        try:
            spans: list[tuple[int, int]] = self._counter.encode(text, add_special_tokens=False).offsets
        except Exception as error:
            raise self._unreadable(text, error) from error
        return spans

    def _encode(self, query: str, text: str) -> Any:
        try:
            return self._tokenizer.encode(query, text)
        except Exception as error:
            raise self._unreadable(text, error) from error

    def _unreadable(self, text: str, error: Exception) -> ModelError:
        return ModelError(
            f"the tokenizer of {self._path} cannot read {text[:40]!r} in {self._most} tokens: {error};"
            " give text that is valid Unicode, and check the model's most tokens"
        )

    def _run(self, pairs: Sequence[Any], batch: Sequence[int]) -> NDArray[np.float64]:
        """The scores of the pairs at these places, padded to the longest of them."""
        longest = max(len(pairs[place].ids) for place in batch)
        known = {
            "input_ids": np.full((len(batch), longest), self._padding, np.int64),
            "attention_mask": np.zeros((len(batch), longest), np.int64),
            "token_type_ids": np.zeros((len(batch), longest), np.int64),
        }
        for row, place in enumerate(batch):
            length = len(pairs[place].ids)
            known["input_ids"][row, :length] = pairs[place].ids
            known["attention_mask"][row, :length] = 1
            known["token_type_ids"][row, :length] = pairs[place].type_ids
        try:
            [out] = self._session.run([self._output], {name: known[name] for name in self._inputs})
        except Exception as error:
            raise ModelError(
                f"{self._file} failed on {len(batch)} pairs of up to {longest} tokens: {error}; check the model"
            ) from error
        return self._scored(np.asarray(out, np.float64), len(batch))

    def _scored(self, out: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        match out.shape:
            case (rows,) | (rows, 1) if rows == count:
                return out.reshape(count)
            case (rows, 2) if rows == count:
                return np.asarray(out[:, 1] - out[:, 0])
        raise ModelError(
            f"{self._file} gives {self._output} of shape {out.shape} for {count} pairs; "
            "export a model that judges a pair by one logit, or two"
        )

    def __repr__(self) -> str:
        return f"CrossEncoder({str(self._path)!r})"
