"""Running the server: one process or several, until it is asked to stop."""

from __future__ import annotations

import errno
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import uvicorn

import nestling
from nestling.apps.server.app import worker
from nestling.apps.server.keys import Keys
from nestling.apps.server.metrics import SHARED
from nestling.apps.server.serving import Serving, open_nest

# Seconds for which a connection without a request is kept.
IDLE = 15
# Seconds after which a worker that gives no sign is replaced. On a busy machine uvicorn's 5 hit ones that work.
HUNG = 30
# Connections that may wait to be taken.
BACKLOG = 2048


def run(serving: Serving, port: int, workers: int, grace: float, ready: Callable[[str], None]) -> None:
    """Serve a nest until the process is interrupted or terminated.

    Running requests are finished, for ``grace`` seconds at most. ``ready`` is told the address beforehand. Where
    ``port`` is 0, it is any that is free.

    Raises:
        AccessError: Others could reach the server, and there are no keys.
        ServerError: The address cannot be listened on, or the server cannot start.
        NestlingError: The nest cannot be opened.
    """
    check_keys(serving)
    with ExitStack() as stack:
        sockets = [stack.enter_context(each) for each in listening(serving.host, port)]
        port = sockets[0].getsockname()[1]
        # what would fail in every worker is told here, once
        open_nest(serving).close()
        ready(f"http://{f'[{serving.host}]' if ':' in serving.host else serving.host}:{port}")
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nestling-serve-"))
        replace(serving, folder=folder).leave()
        options: dict[str, Any] = {
            "app": f"{worker.__module__}:{worker.__name__}",
            "factory": True,
            "host": serving.host,
            "port": port,
            "workers": workers,
            "log_level": "warning",
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "timeout_keep_alive": IDLE,
            "timeout_graceful_shutdown": max(1, round(grace)),
            "timeout_worker_healthcheck": HUNG,
        }
        if workers > 1:
            os.environ[SHARED] = folder
            # uvicorn shares no sockets but its own with its workers
            for each in sockets:
                each.close()
            uvicorn.run(**options)
        else:
            _run_here(options, sockets)


def _run_here(options: dict[str, Any], sockets: list[socket.socket]) -> None:
    server = uvicorn.Server(uvicorn.Config(**options))
    # when all has ended, uvicorn raises the signal again: what is left to do here must still be done
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=sockets)
    finally:
        signal.signal(signal.SIGTERM, before)
    if not server.started:
        raise nestling.ServerError("the server did not start; what it said before this tells why")


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


def listening(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at all addresses of a host, at one port; which one is up to the system where it is 0.

    Raises:
        ServerError: The address cannot be listened on.
    """
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            try:
                sockets.append(_bound(family, (address[0], port, *address[2:])))
            except OSError as error:
                # localhost may have an address of IPv6 where the machine has none
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                absent = error
            else:
                port = sockets[-1].getsockname()[1]
        if absent and not sockets:
            raise absent
    except OSError as error:
        for each in sockets:
            each.close()
        raise nestling.ServerError(
            f"{host} cannot be listened on at port {port} ({error.strerror}); give another --host or --port"
        ) from error
    return sockets


def _bound(family: int, address: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    return made
