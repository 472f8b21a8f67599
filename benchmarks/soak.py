"""Whether a nest stays as it is under steady replacing and removing: memory, file, log, and speed over an hour.

Run ``python benchmarks/soak.py --minutes 60``. It ends with 1 where memory or a file grew beyond what the first
tenth of the time made of it, or the nest is not sound at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import nestling
from nestling import Document, Nest

# Growth that is still called flat, over the most seen in the first tenth: texts differ in length by chance.
MOST = {"memory": 1.25, "file": 1.3, "log": 1.5}
COLUMNS = {"memory": "11.1f", "file": "9.1f", "log": "8.1f", "free": "12,", "changes": "9,"}
WORDS = [
    f"{a}{b}{c}" for a in ("ber", "lo", "tan", "mi", "su") for b in ("da", "ke", "ri", "vo") for c in "nsmtk"
]


class Hashed:
    """A vector of 384 dimensions drawn by the text's checksum: quick, so that writing is what counts."""

    fingerprint, dimension, max_tokens, languages, spec = "hashed-384", 384, 512, None, None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        rows = [np.random.default_rng(crc32(text.encode())).normal(size=self.dimension) for text in texts]
        return np.array(rows, np.float32)

    embed_queries = embed_documents

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())


def text(chance: random.Random) -> str:
    """One to twenty paragraphs of words that are common or rare, as words are."""
    paragraphs = range(chance.randint(1, 20))
    sizes = ((int(chance.paretovariate(0.7)) for _ in range(chance.randint(20, 90))) for _ in paragraphs)
    return "\n\n".join(
        " ".join(WORDS[n % len(WORDS)] + (str(n) if n > 99 else "") for n in size) for size in sizes
    )


def turn(nest: Nest, chance: random.Random, ids: list[str], made: int) -> int:
    """Replace three documents, remove one, add one, search once; returns the number of the next new one."""
    nest.add(
        Document(id, text(chance), metadata={"n": chance.randrange(100)}) for id in chance.sample(ids, 3)
    )
    nest.remove(ids.pop(chance.randrange(len(ids))))
    ids.append(f"d{made}")
    nest.add(Document(ids[-1], text(chance), metadata={"n": chance.randrange(100)}))
    assert nest.search(" ".join(chance.sample(WORDS, 3)), 5, where={"n": {"$lt": 50}})
    return made + 1


def figures(path: Path) -> dict[str, float]:
    """Megabytes of memory, of the file and of the log beside it; free pages, entries of the log of changes."""
    log = Path(f"{path}-wal")
    db = sqlite3.connect(path)
    free, changes = (
        db.execute(query).fetchone()[0]
        for query in (
            "SELECT freelist_count FROM pragma_freelist_count",
            "SELECT count(*) FROM changes",
        )
    )
    db.close()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "file": path.stat().st_size / 1e6,
        "log": log.stat().st_size / 1e6 if log.exists() else 0.0,
        "free": free,
        "changes": changes,
    }


def main() -> int:
    """Print a line for each fortieth of the time."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--minutes", type=float, default=60)
    arguments.add_argument("--documents", type=int, default=500)
    given = arguments.parse_args()
    chance, seconds = random.Random(1), given.minutes * 60
    highest: dict[str, float] = {}
    later: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.nest"
        ids = [f"d{n}" for n in range(given.documents)]
        with nestling.open(path, create=True, embedder=Hashed()) as nest:
            nest.add(Document(id, text(chance), metadata={"n": chance.randrange(100)}) for id in ids)
            made, turns, began, told = given.documents, 0, time.monotonic(), 0.0
            print(
                "minutes    turns turns/s  memory MB  file MB  log MB  free pages  changes",
                flush=True,
            )
            while (now := time.monotonic() - began) < seconds:
                made = turn(nest, chance, ids, made)
                turns += 1
                if now - told >= seconds / 40:
                    found = figures(path)
                    seen = highest if now <= seconds / 10 else later
                    seen.update({name: max(seen.get(name, 0), found[name]) for name in MOST})
                    line = f"{now / 60:7.1f} {turns:8,} {turns / now:7.1f}" + "".join(
                        f"{found[name]:{width}}" for name, width in COLUMNS.items()
                    )
                    print(line, flush=True)
                    told = now
            damage = nest.check()
    grown = {name: later[name] / highest[name] for name in MOST if later[name] > MOST[name] * highest[name]}
    for sentence in damage:
        print(sentence)
    for name, times in grown.items():
        print(f"the {name} grew to {times:.2f} times what it was")
    print("flat" if not grown and not damage else "not flat")
    return 1 if grown or damage else 0


if __name__ == "__main__":
    sys.exit(main())
