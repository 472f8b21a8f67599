"""What comes before everything: from whom requests may come, and what every answer says to browsers."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import nestling
from nestling.apps.server.failing import RefusedError, told
from nestling.apps.server.keys import Keys
from nestling.apps.server.serving import is_loopback

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # only the page itself is allowed more: see page.py
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_PROXY = ("forwarded", "x-forwarded-for", "x-forwarded-host")


class Guard:
    """Wraps an app: refuses what other sites' pages send, and where no key is needed, what does not mean here.

    Without keys anyone on this machine is served. Then a request must name this machine (else a page of another
    site could reach it by a name of its own that leads here) and must not come through a proxy.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        if refusal is None:
            await self._app(scope, receive, with_headers)
        else:
            error = RefusedError(HTTPStatus.FORBIDDEN, nestling.AccessError(refusal))
            await told(error)(scope, receive, with_headers)

    def _refusal(self, headers: Headers) -> str | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"the page that asks is of {origin[:100]!r}; only pages of this server itself may"
        if self._keys.wanted:
            return None
        if not is_loopback(urlsplit(f"//{host}").hostname or ""):
            return (
                f"the request is for {host[:100]!r}, and without keys only this machine is served;"
                " ask for localhost, or make a key with `nestling keys add`"
            )
        if any(name in headers for name in _PROXY):
            return (
                "the request came through a proxy, and without keys only this machine is served;"
                " make a key with `nestling keys add`"
            )
        return None
