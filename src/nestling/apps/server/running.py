"""Running the server: one process or several, until it is asked to stop."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import uvicorn

import nestling
from nestling.apps.server.app import worker
from nestling.apps.server.keys import Keys
from nestling.apps.server.metrics import SHARED
from nestling.apps.server.serving import Serving, open_nest

# Seconds for which a connection without a request is kept.
IDLE = 15
# Seconds between two looks whether the server listens yet.
SOON = 0.02


def run(serving: Serving, port: int, workers: int, grace: float, ready: Callable[[str], None]) -> None:
    """Serve a nest until the process is interrupted or terminated.

    Running requests are finished, for ``grace`` seconds at most. ``ready`` is told the address once it can be
    connected to; what it raises ends the server, and is raised.

    Raises:
        AccessError: Others could reach the server, and there are no keys.
        ServerError: The address cannot be listened on.
        NestlingError: The nest cannot be opened.
    """
    check_keys(serving)
    check_address(serving.host, port)
    # what would fail in every worker is told here, once
    open_nest(serving).close()
    with (
        tempfile.TemporaryDirectory(prefix="nestling-serve-") as folder,
        _told(serving.host, port, ready),
    ):
        if workers > 1:
            os.environ[SHARED] = folder
        replace(serving, folder=folder).leave()
        uvicorn.run(
            f"{worker.__module__}:{worker.__name__}",
            factory=True,
            host=serving.host,
            port=port,
            workers=workers,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE,
            timeout_graceful_shutdown=max(1, round(grace)),
        )


@contextmanager
def _told(host: str, port: int, ready: Callable[[str], None]) -> Iterator[None]:
    """Tell the address as soon as a server in the block listens: uvicorn tells it of one worker only."""
    ended = threading.Event()
    failures: list[BaseException] = []

    def tell() -> None:
        reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        while not ended.wait(SOON):
            try:
                socket.create_connection((reached, port), timeout=1).close()
            except OSError:
                continue
            try:
                ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
            except BaseException as error:
                failures.append(error)
                signal.raise_signal(signal.SIGINT)
            return

    teller = threading.Thread(target=tell, name="nestling-ready", daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        if failures:
            raise failures[0]


def check_keys(serving: Serving) -> None:
    """Refuse to be reached by others where there is no key.

    Raises:
        AccessError: It would be.
    """
    if not serving.loopback and not Keys(serving.path).list():
        raise nestling.AccessError(
            f"{serving.host} can be reached by others, and there is no key to {serving.path}; make one with"
            f" `nestling keys add NAME --nest {serving.path}`, or serve 127.0.0.1 only"
        )


def check_address(host: str, port: int) -> None:
    """Refuse an address that cannot be listened on.

    Raises:
        ServerError: It cannot.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        raise nestling.ServerError(
            f"{host} cannot be listened on at port {port} ({error.strerror}); give another --host or --port"
        ) from error
