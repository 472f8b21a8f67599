"""What a server is started with: plain values, so that every worker process gets the same."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from typing import Any

import nestling
from nestling.settings import TIMEOUT

# Where the values are left for the worker processes.
VARIABLE = "NESTLING_SERVING"

MEGABYTE = 1_000_000
# Only this machine is served unless another address is asked for.
HOST = "127.0.0.1"
# The largest request body, in megabytes: a long book is two. It is kept on disk until a thread reads it.
MAX_BODY = 32.0
# The largest bulk upload, in megabytes; each of its documents is held to the largest body.
MAX_UPLOAD = 1024.0
# Seconds until the answer must have begun: far more than a search takes, and less than a proxy waits.
MAX_SECONDS = 60.0
# Requests of a worker at once, running and waiting; more are sent away to come again.
MAX_REQUESTS = 100
# Seconds that running requests get to end when the server is stopped.
GRACE = 30.0


@dataclass(frozen=True, slots=True)
class Serving:
    """How a nest is served.

    Attributes:
        path: Of the nest.
        folder: Where the processes of this server keep what they share; it goes with the server.
        host: The address that is listened on.
        scopes: The metadata values that documents must have to be served, one after the other.
        timeout: Seconds to wait for another process that is writing.
        model: The spec of the language model that answers, or None for extractive answers.
        reranker: The spec of what judges the best children of each question, or None.
        max_body: Megabytes of one request, or of one document of an upload.
        max_upload: Megabytes of a bulk upload.
        max_seconds: Until an answer must have begun.
        max_requests: Of one worker at once, running and waiting.
        access_log: Whether each request is logged.
    """

    path: str
    folder: str
    host: str = HOST
    scopes: Sequence[Mapping[str, Any]] = ()
    timeout: float = TIMEOUT
    model: str | None = None
    reranker: str | None = None
    max_body: float = MAX_BODY
    max_upload: float = MAX_UPLOAD
    max_seconds: float = MAX_SECONDS
    max_requests: int = MAX_REQUESTS
    access_log: bool = False

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def leave(self) -> None:
        """Leave the values where the worker processes find them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def found(cls) -> Serving:
        """The values that the process which started this one left."""
        return cls(**json.loads(os.environ[VARIABLE]))


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is one of this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def open_nest(serving: Serving) -> nestling.Nest:
    """Open the nest and load its model, so that the first request does not wait for it.

    Raises:
        NestlingError: It cannot be opened, or its model is not to be had.
    """
    nest = nestling.open(serving.path, reranker=serving.reranker, timeout=serving.timeout)
    try:
        for values in serving.scopes:
            nest = nest.scope(**values)
        # as good as no passage is what this gate lets pass: no language model is asked, but its spec is read
        nest.ask("ready", 1, model=serving.model, min_similarity=1, min_coverage=1)
    except BaseException:
        nest.close()
        raise
    return nest
