"""Reads or writes a cached nest for ever, until it is killed. Run by test_cache.py."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from cached import answers_of, changed, small_sizes

from nestling.stores.layouts import Layouts, State
from nestling.stores.sqlite import SQLiteStore


def main(task: str, path: str, seed: int) -> None:
    """Write and search; or search, and compare every answer with one that was made without files."""
    small_sizes(setattr)
    chance = random.Random(seed)
    store = SQLiteStore(Path(path))
    print("begun", flush=True)
    while True:
        if task == "write":
            changed(store, chance)
        with store.view() as view:
            found = answers_of(view, seed)
            if task == "read":
                view._state = State(Layouts(None), view._db, "", view.edition, Layouts(None).known())
                view._forget()
                assert found == answers_of(view, seed)
                print(view.change, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
