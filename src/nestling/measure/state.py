"""What tuning knows so far, in one file or in memory, so that it can be stopped and gone on with."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestling.errors import InputError, SettingError

Vectors = NDArray[np.float32]

APPLICATION_ID = 0x54554E45
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE outcomes (
    candidate TEXT, question TEXT, score REAL NOT NULL, tokens REAL NOT NULL, PRIMARY KEY (candidate, question)
) WITHOUT ROWID;
CREATE TABLE costs (recipe TEXT PRIMARY KEY, cost TEXT NOT NULL) WITHOUT ROWID;
"""


class Outcome(NamedTuple):
    """What a candidate did on one question.

    Attributes:
        score: 0 to 1.
        tokens: That a reader was given, mean over the budgets.
    """

    score: float
    tokens: float


class State:
    """Vectors by the digest of their text, outcomes by candidate and question, costs by recipe.

    Every method that keeps something has written it when it returns.
    """

    def __init__(self, path: str | Path | None, identity: str) -> None:
        """Open or make a state.

        Args:
            path: Of the file; None for memory.
            identity: Of documents, questions and model: what is known of others is of no use.

        Raises:
            InputError: The file is something else, or cannot be written.
            SettingError: It is the state of a tuning with another identity.
        """
        self._path = ":memory:" if path is None else str(path)
        with self._mapped():
            self._db = sqlite3.connect(self._path, isolation_level=None)
            try:
                self._prepare(identity)
            except BaseException:
                self._db.close()
                raise

    def _prepare(self, identity: str) -> None:
        if not self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            self._db.executescript(f"BEGIN; {_TABLES} PRAGMA application_id = {APPLICATION_ID}; COMMIT;")
            self._db.execute("INSERT INTO meta VALUES ('identity', ?)", (identity,))
        if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise InputError(f"{self._path} is not the state of a tuning; give the path of a new file")
        if self._db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone() != (identity,):
            raise SettingError(
                f"{self._path} is the state of a tuning with other documents, questions or another model;"
                " give the path of a new file"
            )

    def vectors(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are known of these texts."""
        found: dict[bytes, Vectors] = {}
        for digest in digests:
            row = self._db.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
            if row:
                found[digest] = np.frombuffer(row[0], np.float16).astype(np.float32)
        return found

    def keep_vectors(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep vectors by the digest of their text, as float16."""
        rows = [(digest, vector.astype(np.float16).tobytes()) for digest, vector in vectors.items()]
        with self._writing():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def outcomes(self, candidate: str) -> dict[str, Outcome]:
        """What is known of a candidate, by question id."""
        query = "SELECT question, score, tokens FROM outcomes WHERE candidate = ?"
        return {question: Outcome(*known) for question, *known in self._db.execute(query, (candidate,))}

    def keep_outcomes(self, candidate: str, outcomes: Mapping[str, Outcome]) -> None:
        """Keep what a candidate did, by question id."""
        rows = [(candidate, question, *outcome) for question, outcome in outcomes.items()]
        with self._writing():
            self._db.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", rows)

    def cost(self, recipe: str) -> dict[str, Any] | None:
        """What the index of a recipe costs, where it is known."""
        row = self._db.execute("SELECT cost FROM costs WHERE recipe = ?", (recipe,)).fetchone()
        return json.loads(row[0]) if row else None

    def keep_cost(self, recipe: str, cost: Mapping[str, Any]) -> None:
        """Keep what the index of a recipe costs."""
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO costs VALUES (?, ?)", (recipe, json.dumps(dict(cost))))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._mapped():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"{self._path} cannot be used as the state of a tuning ({error}); give the path of a new file"
            ) from error
