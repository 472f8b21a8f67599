"""How a served nest holds under load: 50 readers at once by wrk, beside one who writes; and nothing is lost.

    python benchmarks/serve.py [--seconds 20] [--readers 50] [--workers 1 2]

The nest is the Python reference under the built-in model. Each row is a server of its own, started by `nestling
serve`. The readers search with the words of the reference's topics, drawn by chance; the writer puts one document
after the other, each of a few hundred words, and notes what was answered for. At last every one of them must be in
the nest, whole, and `check` must find nothing. `wrk` must be installed (`apt-get install wrk`). These machines are
noisy, and wrk takes its share of the processors: read the orders of magnitude.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics

import httpx

import nestling

# One request of many, another each time, as a script of wrk's; what is not 200 is counted by status.
SCRIPT = """
local bodies = {%s}
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init(args) math.randomseed(os.time()) failed = 0 end
function request()
  return wrk.format("POST", "/v1/search", {["Content-Type"] = "application/json"}, bodies[math.random(#bodies)])
end
function response(status, headers, body) if status ~= 200 then failed = failed + 1 end end
function done(summary, latency, requests)
  local failed = 0
  for _, thread in ipairs(threads) do failed = failed + thread:get("failed") end
  local e = summary.errors
  io.write(string.format("figures %%d %%d %%d %%d %%d %%d %%d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency.max, failed,
    e.connect + e.read + e.write + e.timeout))
end
"""


@dataclass
class Writer:
    """Writes one document after the other until it is stopped.

    Attributes:
        seconds: What each took.
        stored: What was answered for, by id.
        failed: What was answered with an error; a server that is busy is asked again.
    """

    url: str
    pause: float
    seconds: list[float] = field(default_factory=list)
    stored: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Write."""
        chance = random.Random(7)
        words = [word for text in topics.values() for word in text.split()]
        with httpx.Client(base_url=self.url, timeout=120) as http:
            while not self.stop.wait(self.pause):
                id = f"written/{len(self.stored)}"
                start = chance.randrange(len(words) - 300)
                text = " ".join(words[start : start + 300])
                began = time.perf_counter()
                answer = http.put(f"/v1/documents/{id}", json={"text": text})
                self.seconds.append(time.perf_counter() - began)
                if answer.status_code == 201:
                    self.stored[id] = text
                elif answer.status_code == 503:
                    self.stop.wait(float(answer.headers["retry-after"]))
                else:
                    self.failed.append(answer.text)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that the writer waits in between")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed; run: apt-get install wrk")
    print(
        "| server | searches/s | p50 | p99 | longest | not answered | writes/s | write p50 | lost |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reference.nest")
        with nestling.open(path, create=True) as nest:
            nest.add(nestling.Document(name, text, name) for name, text in topics.items())
            print(f"<!-- {nest.stats()['children']:,} children -->", file=sys.stderr)
        script = Path(folder, "search.lua")
        script.write_text(SCRIPT % ", ".join(map(quoted, bodies())))
        for workers in options.workers:
            for writing in (False, True):
                row(path, script, workers, writing, options)


def bodies() -> list[str]:
    """Searches: a few words in a row of each topic."""
    chance = random.Random(3)
    found = []
    for text in topics.values():
        words = re.findall(r"[A-Za-z]{3,}", text)
        start = chance.randrange(max(1, len(words) - 8))
        found.append(json.dumps({"query": " ".join(words[start : start + 8])}))
    return found


def quoted(text: str) -> str:
    """A text in Lua."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def row(path: Path, script: Path, workers: int, writing: bool, options: argparse.Namespace) -> None:
    """Serve a copy of the nest under load, and print what came of it."""
    copy = path.with_name(f"copy-{workers}-{writing}.nest")
    shutil.copy(path, copy)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "nestling", "serve", "--nest", str(copy), "--port", str(port)]
    server = subprocess.Popen([*command, "--workers", str(workers)], stderr=subprocess.DEVNULL)
    try:
        wait(url)
        writer = Writer(url, options.pause)
        thread = threading.Thread(target=writer.run)
        wrk(url, script, options.readers, 3)  # what is read at first is read
        if writing:
            thread.start()
        figures = wrk(url, script, options.readers, options.seconds)
        writer.stop.set()
        if writing:
            thread.join()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    requests, duration, p50, p99, longest, failed, broken = figures
    with nestling.open(copy) as nest:
        damage = nest.check()
        trees = {id: nest.show(id) for id in writer.stored}
    lost = [id for id, tree in trees.items() if tree is None or tree.document.text != writer.stored[id]]
    took = sorted(writer.seconds)
    middle = f"{1000 * took[len(took) // 2]:.0f} ms" if took else ""
    told = [
        f"{workers} worker{'s' if workers > 1 else ''}{', one writing' if writing else ''}",
        f"{requests / duration * 1e6:,.0f}",
        *(f"{each / 1000:,.0f} ms" for each in (p50, p99, longest)),
        f"{failed + broken} of {requests:,}",
        f"{len(took) / options.seconds:.1f}" if took else "",
        middle,
        f"{len(lost) + len(writer.failed)} of {len(took)}" if took else "",
    ]
    print(f"| {' | '.join(told)} |", flush=True)
    if lost or writer.failed or damage:
        sys.exit(f"lost: {lost[:5]}; refused: {writer.failed[:5]}; damage: {damage[:5]}")


def wrk(url: str, script: Path, readers: int, seconds: int) -> list[int]:
    """Load a server; the figures that the script writes."""
    command = ["wrk", "-t2", f"-c{readers}", f"-d{seconds}s", "--timeout", "30s", "-s", str(script), url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"^figures (.*)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return [int(each) for each in found[1].split()]


def wait(url: str) -> None:
    """Wait until a server is ready."""
    for _ in range(600):
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    sys.exit("the server did not start")


if __name__ == "__main__":
    os.environ.pop("NESTLING_KEY", None)
    main()
