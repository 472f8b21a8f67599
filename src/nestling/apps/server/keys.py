"""Who may ask: the keys of a nest, of which only hashes are kept, in a file beside it."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import nestling
from nestling.apps.server.rights import RIGHTS

# A key looks like nk_1f2e3d4c_…: what it is, its number, its secret of 256 random bits.
_PREFIX = "nk"
_NO_DIGEST = bytes(32)
# Seconds to wait for another process that changes the keys.
_TIMEOUT = 5.0

_TABLE = """CREATE TABLE IF NOT EXISTS keys (
    number TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    name TEXT NOT NULL UNIQUE,
    rights TEXT NOT NULL,
    scope TEXT,
    rate INTEGER,
    made TEXT NOT NULL
)"""
_COLUMNS = "number, name, rights, scope, rate, made"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; not the key itself.

    Attributes:
        number: Which tells it from others; its second part.
        name: As it was given.
        rights: ``read``, ``write`` (and read), or ``admin`` (and everything).
        scope: The metadata that its documents have: it sees and writes no others. None: all.
        rate: Requests a minute, or None for any number.
        made: When, ISO 8601 in UTC.
    """

    number: str
    name: str
    rights: str
    scope: Mapping[str, Any] | None
    rate: int | None
    made: str

    def may(self, right: str) -> bool:
        """Whether a right is among its rights."""
        return RIGHTS.index(self.rights) >= RIGHTS.index(right)


class Keys:
    """The keys of one nest, in the file ``NEST.keys``. Threads may share it.

    A copy of the nest elsewhere has no keys. While the file exists, also when no key is left in it, nothing is
    served without a key.
    """

    def __init__(self, nest: str) -> None:
        self.path = Path(f"{nest}.keys")
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    @property
    def wanted(self) -> bool:
        """Whether a key is needed."""
        return self.path.exists()

    def add(
        self, name: str, rights: str, scope: Mapping[str, Any] | None = None, rate: int | None = None
    ) -> str:
        """Make a key and return it; it cannot be had again.

        Raises:
            SettingError: The name is empty or taken, a value is out of its range, or an admin key has a scope.
            StoreError: The file cannot be read or written.
        """
        if not name.strip():
            raise nestling.SettingError("the key has no name; give one that tells who uses it")
        if rights not in RIGHTS:
            raise nestling.SettingError(f"rights is {rights!r}; give one of {', '.join(RIGHTS)}")
        if rights == "admin" and scope:
            raise nestling.SettingError(
                "an admin key is for the whole nest; leave the scope or the rights out"
            )
        if rate is not None and rate < 1:
            raise nestling.SettingError(f"rate is {rate}; give requests a minute, 1 or more")
        number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        row = (number, _digest(secret), name, rights, None if scope is None else json.dumps(scope), rate)
        with self._reading(make=True) as db:
            try:
                db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _now()))
            except sqlite3.IntegrityError as error:
                raise nestling.SettingError(
                    f"there is a key {name!r} already; choose another name, or `nestling keys remove` that first"
                ) from error
        return f"{_PREFIX}_{number}_{secret}"

    def list(self) -> Sequence[Key]:
        """All keys, by name."""
        if not self.wanted:
            return []
        with self._reading() as db:
            return [_key(row) for row in db.execute(f"SELECT {_COLUMNS} FROM keys ORDER BY name")]

    def remove(self, name: str) -> None:
        """Remove a key by its name; it is refused from now on.

        Raises:
            NotFoundError: There is none of this name.
            StoreError: The file cannot be read or written.
        """
        removed = 0
        if self.wanted:
            with self._reading() as db:
                removed = db.execute("DELETE FROM keys WHERE name = ?", (name,)).rowcount
        if not removed:
            raise nestling.NotFoundError(f"{self.path} holds no key {name!r}; see `nestling keys list`")

    def find(self, key: str) -> Key | None:
        """The key that this text is, or None."""
        prefix, _, rest = key.partition("_")
        number, _, secret = rest.partition("_")
        if prefix != _PREFIX or not key.isascii() or not self.wanted:
            return None
        with self._reading() as db:
            query = f"SELECT {_COLUMNS}, digest FROM keys WHERE number = ?"
            row = db.execute(query, (number,)).fetchone()
        stored = _NO_DIGEST if row is None else row[-1]
        # in the same time whether or not the number is known
        same = hmac.compare_digest(stored, _digest(secret))
        return _key(row[:-1]) if same and row is not None else None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db = self._identity = None

    @contextmanager
    def _reading(self, make: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._open(make)
        except sqlite3.Error as error:
            raise nestling.StoreError(
                f"the keys in {self.path} cannot be used ({error}); check its permissions, or restore it"
            ) from error
        except OSError as error:
            raise nestling.StoreError(
                f"the keys in {self.path} cannot be used ({error.strerror}); check its folder"
            ) from error

    def _open(self, make: bool) -> sqlite3.Connection:
        if make and not self.wanted:
            # so that nobody else can read it at any time
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        found = self.path.stat()
        identity = found.st_dev, found.st_ino
        if self._db is None or identity != self._identity:
            if self._db is not None:
                self._db.close()
            self._db = sqlite3.connect(
                self.path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._identity = identity
            if not self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'keys'").fetchone():
                self._db.execute(_TABLE)
        return self._db


def _digest(secret: str) -> bytes:
    # a secret of 256 random bits cannot be guessed, so that a slow hash would only cost time
    return sha256(secret.encode()).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _key(row: Sequence[Any]) -> Key:
    number, name, rights, scope, rate, made = row
    return Key(number, name, rights, None if scope is None else json.loads(scope), rate, made)
