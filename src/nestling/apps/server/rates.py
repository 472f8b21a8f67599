"""How often a key may ask, counted together by all processes of a server."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

MINUTE = 60.0
# Seconds to wait for another worker that counts.
_TIMEOUT = 1.0

# One number a key: when its bucket, which holds a minute's requests and is refilled evenly, is full again. A time
# further ahead than that can be is left from before the clock was set back.
_FULL = "CASE WHEN full BETWEEN :now AND :now + 61 THEN full ELSE :now END"
_TAKE = f"""
INSERT INTO buckets VALUES (:key, :now + :each)
ON CONFLICT (key) DO UPDATE SET full = {_FULL} + :each WHERE {_FULL} + :each <= :now + 60.000001
RETURNING full
"""


class Rates:
    """Buckets in a file that all workers share. Nothing of it outlives the server."""

    def __init__(self, folder: str) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(
            Path(folder, "rates"), timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        self._db.execute("PRAGMA journal_mode = MEMORY")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS buckets (key TEXT PRIMARY KEY, full REAL) WITHOUT ROWID")

    def take(self, key: str, rate: int) -> float:
        """Count one request of a key that may ask ``rate`` times a minute.

        Returns:
            0.0 where it may go on; else the seconds until it may ask again, and it was not counted.
        """
        now, each = time.time(), MINUTE / rate
        with self._lock:
            if self._db.execute(_TAKE, {"key": key, "now": now, "each": each}).fetchone():
                return 0.0
            (full,) = self._db.execute("SELECT full FROM buckets WHERE key = ?", (key,)).fetchone()
        wait: float = max(full + each - MINUTE - now, 0.001)
        return wait

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()
