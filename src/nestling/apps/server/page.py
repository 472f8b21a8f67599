"""The page at ``/``: the files of the folder ``page``, for browsers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Response

# Nothing inline, nothing of another host.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    # no text can become markup or script, not even by a mistake in the page
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}


def page_router() -> APIRouter:
    """A route for each file of the page; none where there is no page."""
    router = APIRouter(include_in_schema=False)
    folder = files("nestling.apps").joinpath("page")
    for file in folder.iterdir() if folder.is_dir() else ():
        kind = KINDS.get(file.name.rpartition(".")[2])
        if kind:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            router.add_api_route(path, _file(file, kind), methods=["GET"])
    return router


def _file(file: Traversable, kind: str) -> Callable[[], Awaitable[Response]]:
    content = file.read_bytes()

    async def page() -> Response:
        return Response(content, headers=HEADERS, media_type=kind)

    return page
