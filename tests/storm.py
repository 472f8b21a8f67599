"""Writers of every kind on one nest, killed again and again while readers look. Run by test_storm.py.

    python tests/storm.py FOLDER KILLS SEED

Two writers add, replace and remove documents of their own, one keeps a folder in step, one rebuilds, switches,
rolls back and prunes. They are forked, so that thousands can be killed in minutes; a reader, which is never
killed, ends the storm where it sees anything but whole documents. Prints, as JSON, what was done.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import nestling
from wordhash import WordHash

OWN = 12
WORKERS: dict[str, Callable[[Path, random.Random], None]] = {}


def text(id: str, version: int, chance: random.Random) -> str:
    """Several parents that all name their document and version."""
    line = f"Document {id} in version {version}, said once more. " * 10
    return "\n\n".join(line for _ in range(chance.randint(1, 5)))


def note(folder: Path, id: str, version: int | None, done: bool) -> None:
    """Write into the journal, in one call, what is about to be done, or is done; None is a removal."""
    entry = json.dumps({"id": id, "version": version, "done": done}) + "\n"
    descriptor = os.open(folder / f"journal-{id[0]}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, entry.encode())
    os.close(descriptor)


def write(folder: Path, chance: random.Random, name: str) -> None:
    """Add, replace and remove documents that nobody else touches."""
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        while True:
            id, version = f"{name}{chance.randrange(OWN)}", time.time_ns()
            removal = chance.random() < 0.3
            note(folder, id, None if removal else version, False)
            if removal:
                nest.remove(id)
            else:
                document = nestling.Document(id, text(id, version, chance), metadata={"version": version})
                assert not nest.add(document).failed
            note(folder, id, None if removal else version, True)


def sync(folder: Path, chance: random.Random) -> None:
    """Change a folder and bring the nest in step with it."""
    files = folder / "files"
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        while True:
            file, version = files / f"s{chance.randrange(OWN)}.md", time.time_ns()
            draft = files / f".draft{os.getpid()}"
            draft.write_text(f"# {file.name}\n\n{text(file.name, version, chance)}", "utf-8")
            draft.replace(file)
            if chance.random() < 0.3:
                file.replace(files / f"s{chance.randrange(OWN)}.md")
            assert not nest.sync(files, pattern="*.md").failed


def rebuild(folder: Path, chance: random.Random) -> None:
    """Build editions, switch to them and back, and remove them."""
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        while True:
            nest.rebuild(nestling.Recipe(child_size=chance.choice((90, 120, 200)), parent_size=400))
            if chance.random() < 0.4 and any(e.state == "retired" and e.switched for e in nest.editions()):
                nest.rollback()
            if chance.random() < 0.4:
                nest.prune()


def read(folder: Path, chance: random.Random) -> None:
    """Search and look, for ever: whole documents, k passages, and the same order from the same state."""
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        while True:
            before = nest.stats()
            found = nest.search("document version said once more", k=5)
            again = nest.search("document version said once more", k=5)
            if nest.stats()["change"] == before["change"]:
                assert [p.id for p in found] == [p.id for p in again]
                assert len(found) == min(5, before["parents"])
            for passage in found:
                assert len(set(re.findall(r"version (\d+)", passage.text))) == 1, passage
                assert all(passage.text[e.start : e.end].strip() for e in passage.evidence), passage
            tree = nest.show(chance.choice("ab") + str(chance.randrange(OWN)))
            if tree is not None:
                assert set(re.findall(r"version (\d+)", tree.document.text)) == {
                    str(tree.document.metadata["version"])
                }
                whole = "".join(tree.document.text[p.start : p.end] for p in tree.parents)
                assert whole == tree.document.text
            with (folder / "snapshots").open("a") as file:
                file.write(".")


WORKERS |= {
    "adder": lambda folder, chance: write(folder, chance, "a"),
    "replacer": lambda folder, chance: write(folder, chance, "b"),
    "syncer": sync,
    "rebuilder": rebuild,
    "reader": read,
}


def fork(role: str, folder: Path, seed: int) -> int:
    """Start a worker; an error in it is written down, and ends it with 1."""
    child = os.fork()
    if child:
        return child
    try:
        WORKERS[role](folder, random.Random(seed))
    except BaseException as error:
        with (folder / "errors").open("a") as file:
            file.write(f"{role}: {type(error).__name__}: {error}\n")
    os._exit(1)


def storm(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Kill so many workers at random moments; returns what was done."""
    chance = random.Random(seed)
    (folder / "files").mkdir(exist_ok=True)
    nestling.open(folder / "x.nest", create=True, embedder=WordHash()).close()
    running = {role: fork(role, folder, chance.getrandbits(32)) for role in WORKERS}
    killed: Counter[str] = Counter()
    try:
        while killed.total() < kills and not (folder / "errors").exists():
            role = chance.choice([role for role in WORKERS if role != "reader"])
            # most die young, some get far
            time.sleep(chance.expovariate(30))
            os.kill(running[role], signal.SIGKILL)
            os.waitpid(running[role], 0)
            killed[role] += 1
            running[role] = fork(role, folder, chance.getrandbits(32))
    finally:
        for process in running.values():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    snapshots = folder / "snapshots"
    return {"killed": killed, "snapshots": snapshots.stat().st_size if snapshots.exists() else 0}


if __name__ == "__main__":
    print(json.dumps(storm(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
