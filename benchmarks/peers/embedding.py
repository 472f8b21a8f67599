"""Nestling's built-in model, its vectors kept by text in one file for all systems, so that a run is bounded."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import nestling
from nestling.models.embedder import Vectors

# variables in one statement of SQLite
TOGETHER = 500


class Remembered(nestling.MiniLM):
    """The built-in embedder, and what it was asked for.

    Attributes:
        texts: How many texts were given to be embedded as documents.
        missed: How many of all texts were not in the file.
        seconds: Time spent in here, which is no time of the system that asks.
    """

    def __init__(self) -> None:
        super().__init__()
        folder = Path(os.environ.get("NESTLING_PEERS_CACHE", tempfile.gettempdir()))
        name = self.fingerprint.replace("/", "-")
        self._kept = sqlite3.connect(folder / f"vectors-{name}.sqlite", timeout=60, check_same_thread=False)
        self._kept.execute("pragma journal_mode=wal")
        self._kept.execute(
            "create table if not exists kept (text blob primary key, vector blob) without rowid"
        )
        self.texts = self.missed = 0
        self.seconds = 0.0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, counting them."""
        self.texts += len(texts)
        return self._vectors(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions."""
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        began = time.perf_counter()
        keys = [
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
        ]
        known = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            self.missed += len(missing)
            made = super().embed_documents(list(missing.values()))
            known |= dict(zip(missing, made, strict=True))
            rows = [(key, known[key].tobytes()) for key in missing]
            with self._kept:
                self._kept.executemany("insert or ignore into kept values (?, ?)", rows)
        found = np.array([known[key] for key in keys], np.float32).reshape(len(keys), self.dimension)
        self.seconds += time.perf_counter() - began
        return found

    def _read(self, keys: list[bytes]) -> dict[bytes, np.ndarray]:
        known = {}
        for first in range(0, len(keys), TOGETHER):
            part = keys[first : first + TOGETHER]
            marks = ",".join("?" * len(part))
            rows = self._kept.execute(f"select text, vector from kept where text in ({marks})", part)
            known |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return known
