"""``nestling mcp``: a nest for assistants."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

import nestling
from nestling.apps import options
from nestling.apps.terminal import complain

KEY_VARIABLE = "NESTLING_MCP_KEY"


@click.command(epilog="Example: nestling mcp --nest handbook.nest")
@click.option(
    "--http",
    metavar="HOST:PORT",
    help=f"Serve streamable HTTP at http://HOST:PORT/mcp instead of stdio; with a key in ${KEY_VARIABLE}, only who"
    " bears it.",
)
@options.reranker_option
@options.on_a_nest
def mcp(http: str | None, nest: str | None, timeout: float, as_json: bool) -> None:
    """Serve a nest to assistants, by the Model Context Protocol.

    They can search, get contexts, read passages and list documents (docs/mcp.md), and change nothing. Without
    --http it talks to the program that started it, until that goes away. With --http it goes on until Ctrl-C or
    SIGTERM; on another address than loopback it wants a key. It needs: pip install 'nestling[mcp]'.
    """
    try:
        from nestling.apps import mcp_server
    except ImportError as error:
        if (error.name or "").startswith("nestling"):
            raise
        raise nestling.MissingExtraError(
            "mcp, the SDK of the Model Context Protocol, is not installed; run: pip install 'nestling[mcp]'"
        ) from error
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened, _until_stopped():
        if http is None:
            mcp_server.serve_stdio(opened)
            return
        host, port = address(http)
        key = key_of(os.environ.get(KEY_VARIABLE), host)
        with listening(host, port) as bound:
            place = f"[{host}]" if ":" in host else host
            complain(f"serving {path} at http://{place}:{bound.getsockname()[1]}/mcp")
            mcp_server.serve_http(mcp_server.http_app(opened, is_loopback(host), key), bound)


def address(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; port 0 is any that is free.

    Raises:
        SettingError: It is none.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 65536):
        raise nestling.SettingError(f"--http {text}: not HOST:PORT; write --http 127.0.0.1:8765")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def key_of(given: str | None, host: str) -> str | None:
    """The key that requests must bear, or None for no key.

    Raises:
        SettingError: There is none, and other machines could reach the server.
    """
    key = (given or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise nestling.SettingError(f"the key in {KEY_VARIABLE} holds characters that no header can")
    if not key and not is_loopback(host):
        raise nestling.SettingError(
            f"whoever reaches {host} could read the nest; set {KEY_VARIABLE} to a key that they must bear, or serve"
            " on 127.0.0.1"
        )
    return key or None


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        SettingError: It cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise nestling.SettingError(
            f"{host}:{port} cannot be listened at ({error.strerror or error}); give another port, or 0 for any"
        ) from error


@contextmanager
def _until_stopped() -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end a block, and nothing more."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
