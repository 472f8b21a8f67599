"""A real HTTP server on loopback that answers ``/embeddings``, or what else it is told to, as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the server does once: wait, then answer a status, headers, and JSON or raw bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Service:
    """A running server: its address, the requests it got, and the answers it has yet to give.

    Without an answer waiting, text ``t`` gets the vector ``[len(t), 1, 0]``, or what ``serve`` was given.
    """

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


def good(
    texts: list[str], vector: Callable[[str], list[float]] = lambda text: [len(text), 1, 0]
) -> dict[str, Any]:
    """The body of a good answer."""
    data = [
        {"object": "embedding", "index": place, "embedding": vector(text)} for place, text in enumerate(texts)
    ]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def embeddings(request: dict[str, Any]) -> dict[str, Any]:
    """A good answer to a request for embeddings."""
    return good(request["input"])


@contextmanager
def serve(usual: Callable[[dict[str, Any]], Any] = embeddings) -> Iterator[Service]:
    """Run a server as long as the block; ``usual`` makes the body where no answer waits with one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.requests.append(request)
            service.headers.append({name.lower(): value for name, value in self.headers.items()})
            service.paths.append(self.path)
            answer = service.answers.pop(0) if service.answers else Answer()
            time.sleep(answer.delay)
            body = usual(request) if answer.body is None else answer.body
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *arguments: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *arguments: object) -> None:
            pass  # a client that timed out has hung up

    with Server(("127.0.0.1", 0), Handler) as server:
        service = Service(f"http://127.0.0.1:{server.server_port}/v1")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield service
        server.shutdown()
