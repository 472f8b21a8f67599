"""A real HTTP server on loopback that answers ``/chat/completions`` as it is told, streamed or not."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = b"data: [DONE]\n\n"


@dataclass
class Reply:
    """What the server does once.

    Attributes:
        text: Streamed word by word as a good answer, if there is no ``chunks`` or ``body``.
        chunks: Raw bytes of an event stream, one write each; written until the client hangs up, where they have no
            end.
        body: JSON or raw bytes, sent whole.
        status: Of the answer.
        headers: Further headers.
        delay: Seconds before the answer.
        pauses: Seconds before each write of the stream.
        held: What is waited for before a write of the stream, by its place.
        reset: Whether the connection is reset instead of ended.
    """

    text: str = "All is well."
    chunks: Iterable[bytes] | None = None
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pauses: list[float] = field(default_factory=list)
    held: dict[int, threading.Event] = field(default_factory=dict)
    reset: bool = False


@dataclass
class Service:
    """A running server; ``answer`` writes where no reply waits."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    answer: Callable[[str, str], str] = lambda system, prompt: "All is well."
    hung_up: threading.Event = field(default_factory=threading.Event)


def event(text: str = "", finish: str | None = None) -> bytes:
    """One piece of a streamed answer."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


def usage(prompt: int, answer: int) -> bytes:
    """The piece that tells the counts of tokens."""
    counts = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    return b"data: " + json.dumps({"choices": [], "usage": counts}).encode() + b"\n\n"


def good(text: str) -> list[bytes]:
    """A whole answer, a word at a time."""
    words = text.split(" ")
    pieces = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    return [*(event(piece) for piece in pieces), event(finish="stop"), usage(10, len(words)), DONE]


@contextmanager
def serve() -> Iterator[Service]:
    """Run a server as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.requests.append(request)
            service.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = service.replies.pop(0) if service.replies else None
            if reply is None:
                system, prompt = (message["content"] for message in request["messages"])
                reply = Reply(service.answer(system, prompt))
            time.sleep(reply.delay)
            try:
                self._send(reply)
            except OSError:
                service.hung_up.set()

        def _send(self, reply: Reply) -> None:
            if reply.body is not None or reply.status != 200:
                body = reply.body
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self._head(reply, "application/json", {"Content-Length": str(len(raw))})
                self.wfile.write(raw)
                return
            self._head(reply, "text/event-stream; charset=utf-8", {"Connection": "close"})
            chunks = good(reply.text) if reply.chunks is None else reply.chunks
            for place, chunk in enumerate(chunks):
                time.sleep(reply.pauses[place] if place < len(reply.pauses) else 0)
                if place in reply.held:
                    reply.held[place].wait()
                self.wfile.write(chunk)
                self.wfile.flush()
            self.close_connection = True
            if reply.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()

        def _head(self, reply: Reply, kind: str, more: dict[str, str]) -> None:
            self.send_response(reply.status)
            for name, value in {"Content-Type": kind, **more, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *arguments: object) -> None:
            pass  # a client that timed out has hung up

    with Server(("127.0.0.1", 0), Handler) as server:
        service = Service(f"http://127.0.0.1:{server.server_port}/v1")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield service
        server.shutdown()
