"""A real server on loopback, in a thread of the test, on a quick embedder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import uvicorn

from nestling.apps.server.app import make_app
from nestling.apps.server.keys import Keys
from nestling.apps.server.service import Service
from nestling.apps.server.serving import Serving


class Served:
    """A nest that is served until the block ends.

    Attributes:
        url: Its address.
        keys: Its keys.
        http: A client without a key.
    """

    def __init__(self, nest: Path, folder: Path, **options: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.serving = Serving(str(nest), str(folder), **options)
        self.keys = Keys(str(nest))
        self._app = make_app(self.serving)
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=0,
            lifespan="on",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
        self.server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self.server.run)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self.server.started:
            assert self._thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=self.url, timeout=60, limits=httpx.Limits(max_connections=200))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.http.close()
        self.server.should_exit = True
        self._thread.join()
        self.keys.close()

    @property
    def service(self) -> Service:
        """What the requests share."""
        app: Any = self._app
        while not hasattr(app, "state"):
            app = app._app
        service: Service = app.state.service
        return service

    @property
    def now(self) -> float:
        """How many requests are being answered."""
        (sample,) = self.service.metrics.now.collect()[0].samples
        return sample.value

    def bearer(self, name: str, rights: str = "read", **options: Any) -> dict[str, str]:
        """The headers of a new key."""
        return {"Authorization": f"Bearer {self.keys.add(name, rights, **options)}"}


Serve = Callable[..., Served]
