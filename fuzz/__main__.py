"""Fuzz the splitter and the query: ``python -m fuzz split|query [--seconds N]``.

It starts from ``fuzz/corpus`` and collects what reaches new code in ``fuzz/found``; an input that breaks a promise
is left there as ``crash-…``. ``--keep`` writes the corpus anew: of all that was found, what is needed to go every
way through the code that any of it goes. Needs `atheris` (``pip install nestling[fuzz]``: Linux and macOS).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.corpus import read

HERE = Path(__file__).parent
Arcs = set[tuple[str, int, int]]


def main() -> None:
    """Run libFuzzer on one target; it ends the process itself."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("target", choices=["split", "query"])
    arguments.add_argument("--seconds", type=int, default=300, help="how long to look (300)")
    arguments.add_argument(
        "--keep", action="store_true", help="write the corpus anew from all that was found"
    )
    given = arguments.parse_args()
    found = HERE / "found" / given.target
    found.mkdir(parents=True, exist_ok=True)
    if given.keep:
        keep(given.target, found)
        return
    for data in read(given.target):
        (found / hashlib.sha1(data).hexdigest()).write_bytes(data)

    import atheris

    with atheris.instrument_imports(include=["nestling"]):
        from fuzz.targets import TARGETS

    options = ["-max_len=400", "-timeout=20", f"-max_total_time={given.seconds}", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={found}/", str(found)], TARGETS[given.target])
    atheris.Fuzz()


def keep(target: str, found: Path) -> None:
    """Write the inputs, the shortest first, that go a way through the code that none before went."""
    from fuzz.targets import TARGETS

    inputs = {*read(target), *(file.read_bytes() for file in found.iterdir())}
    known: Arcs = set()
    kept = []
    for data in sorted(inputs, key=lambda data: (len(data), data)):
        new = ways(TARGETS[target], data) - known
        if new:
            known |= new
            kept.append(base64.b64encode(data).decode())
    (HERE / "corpus" / f"{target}.txt").write_text("".join(f"{line}\n" for line in kept))
    print(f"{len(kept)} of {len(inputs)} inputs kept, {len(known)} ways")


def ways(target: Callable[[bytes], None], data: bytes) -> Arcs:
    """From which line to which the package's code went."""
    found: Arcs = set()

    def begin(frame: FrameType, event: str, _: Any) -> Any:
        if "/nestling/" not in frame.f_code.co_filename:
            return None
        last = [0]

        def step(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                found.add((frame.f_code.co_filename, last[0], frame.f_lineno))
                last[0] = frame.f_lineno
            return step

        return step

    sys.settrace(begin)
    try:
        target(data)
    finally:
        sys.settrace(None)
    return found


if __name__ == "__main__":
    main()
