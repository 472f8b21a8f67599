"""A byte of the file changes on the disk: check says so, or nothing that Nestling reads has changed."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestling
from test_repair import DOCUMENTS
from wordhash import WordHash

# where a document came from, and its language as long as its words stay the same, are held by nothing else
READ = {
    "documents": "row, id, title, metadata, digest, characters, CAST(text AS BLOB)",
    "indexed": "*",
    "parents": "*",
    "children": "*",
    "words": "*",
    "fields": "path, kind, value, element, document, parent",
}


def rows(path: Path) -> dict[str, Any]:
    """All that searching and showing read, but for vectors."""
    db = sqlite3.connect(path)
    found = {
        table: sorted(db.execute(f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in READ.items()
    }
    db.close()
    return found


def vectors(path: Path) -> np.ndarray:
    """Every vector, both as it is scanned and as it is scored."""
    db = sqlite3.connect(path)
    found = []
    for level in ("child", "parent", "document"):
        for scale, codes, exact in db.execute(
            f"SELECT scale, codes, exact FROM {level}_vectors ORDER BY row"
        ):
            found += [np.frombuffer(codes, np.int8) * scale, np.frombuffer(exact, "<f2")]
    db.close()
    return np.array(found, np.float64)


def flip_and_look(
    sound: Path, path: Path, chance: random.Random, wanted: dict[str, Any], exact: np.ndarray
) -> str:
    """Flip one bit, or a byte; returns what came of it."""
    data = bytearray(sound.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
    path.write_bytes(data)
    try:
        with nestling.open(path, embedder=WordHash()) as nest:
            found = nest.check()
    except nestling.NestlingError:
        return "refused"
    if found:
        return "found"
    assert rows(path) == wanted, f"byte {at} changed what is read, and check was silent"
    # a last bit of a number moves a score by less than its rounding shows
    np.testing.assert_allclose(vectors(path), exact, atol=0.02, err_msg=f"byte {at}")
    return "harmless"


def run(folder: Path, times: int) -> None:
    """Flip so often; some must be found, and some must hit what nobody reads."""
    sound = folder / "sound.nest"
    with nestling.open(sound, create=True, embedder=WordHash()) as nest:
        nest.add(DOCUMENTS)
        nest.add([nestling.Document(f"d{n}", f"Text {n} of a dozen texts. " * 9) for n in range(12)])
        nest.remove([f"d{n}" for n in range(0, 12, 3)])
    chance, wanted, exact = random.Random(times), rows(sound), vectors(sound)
    ways = [flip_and_look(sound, folder / "flipped.nest", chance, wanted, exact) for _ in range(times)]
    assert set(ways) >= {"found", "harmless"}


def test_a_flipped_byte_is_found_or_harmless(tmp_path: Path) -> None:
    """Some hundred bytes, one at a time."""
    run(tmp_path, 50)


@pytest.mark.slow
def test_many_flipped_bytes_are_found_or_harmless(tmp_path: Path) -> None:
    """Some thousand bytes, one at a time."""
    run(tmp_path, 5000)
