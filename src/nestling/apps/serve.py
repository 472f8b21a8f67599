"""The command that serves a nest over HTTP."""

from __future__ import annotations

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.answering import MODEL_VARIABLE
from nestling.apps.server.serving import GRACE, HOST, MAX_BODY, MAX_REQUESTS, MAX_SECONDS, MAX_UPLOAD, Serving
from nestling.apps.terminal import complain, finish, print_json


@click.command(epilog="Example: nestling serve --nest handbook.nest --workers 2")
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    metavar="N",
    help="Where to listen; 0 for any port that is free.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that share the nest.",
)
@click.option("--create", is_flag=True, help="Make the nest if it does not exist.")
@click.option(
    "--model",
    metavar="SPEC",
    envvar=MODEL_VARIABLE,
    help=f"The language model that answers; else ${MODEL_VARIABLE}; else sentences of the passages.",
)
@click.option(
    "--max-body",
    type=click.FloatRange(min=0, min_open=True),
    default=MAX_BODY,
    show_default=True,
    metavar="MB",
    help="The most a request holds, and a document of a bulk upload.",
)
@click.option(
    "--max-upload",
    type=click.FloatRange(min=0, min_open=True),
    default=MAX_UPLOAD,
    show_default=True,
    metavar="MB",
    help="The most a bulk upload holds.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=MAX_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Until an answer must have begun.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=MAX_REQUESTS,
    show_default=True,
    metavar="N",
    help="Requests of a worker at once, running and waiting; more are told to come again.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=1),
    default=GRACE,
    show_default=True,
    metavar="SECONDS",
    help="How long running requests may go on when the server is stopped.",
)
@click.option("--access-log", is_flag=True, help="Log each request on stderr, without what was asked.")
@options.reranker_option
@options.on_a_nest
def serve(
    host: str,
    port: int,
    workers: int,
    create: bool,
    model: str | None,
    max_body: float,
    max_upload: float,
    max_seconds: float,
    max_requests: int,
    grace: float,
    access_log: bool,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Serve the nest over HTTP (docs/http.md), until Ctrl-C.

    Only this machine is served, unless there are keys: `nestling keys add`.
    """
    try:
        from nestling.apps.server.running import run
    except ImportError as error:
        raise nestling.MissingExtraError(
            f"{error.name}, which the server needs, is not installed; run: pip install 'nestling[serve]'"
        ) from error
    path = (nest or options.NEST_HERE) if create else options.local(nest)
    if create:
        nestling.open(path, create=True, timeout=timeout).close()
    serving = Serving(
        path=path,
        folder="",
        host=host,
        scopes=options.scopes_asked(),
        timeout=timeout,
        model=model or None,
        reranker=options.reranker_asked(),
        max_body=max_body,
        max_upload=max_upload,
        max_seconds=max_seconds,
        max_requests=max_requests,
        access_log=access_log,
    )

    def ready(address: str) -> None:
        complain(f"serving {path} at {address}; Ctrl-C stops")
        if as_json:
            print_json(wire.serving(path, address), indent=None)
            finish()

    run(serving, port, workers, grace, ready)
