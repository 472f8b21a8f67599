"""Opening a nest: the right file, the right model, the right recipe, or a clear refusal."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from nestling.errors import EmbedderMismatchError, SettingError
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.models.embedder import Embedder
from nestling.models.known import Embedders, change_embedder
from nestling.models.rerank_spec import reranker_from
from nestling.models.reranker import Reranker
from nestling.models.spec import embedder_from
from nestling.nest import Nest
from nestling.observing import event
from nestling.ranges import amount
from nestling.settings import TIMEOUT, Recipe
from nestling.stores.sqlite import SQLiteStore
from nestling.stores.sqlite_file import MEMORY
from nestling.view import Build


def open_nest(
    path: str | Path,
    *,
    create: bool = False,
    embedder: Embedder | str | None = None,
    recipe: Recipe | None = None,
    reranker: Reranker | str | None = None,
    timeout: float = TIMEOUT,
    key: str | None = None,
) -> Nest:
    """Open a nest; it is `nestling.open`.

    Args:
        path: Of the file, or ``:memory:`` for one that lives only as long as the object; or the address of a
            server, ``http://HOST:PORT`` (docs/http.md).
        create: Make it if it does not exist.
        embedder: For a new nest, the model to use (the built-in one where not given), or its spec (`minilm`,
            `onnx:DIRECTORY`, …). For an existing nest it must be the model that it was built with, and is
            needed only where that cannot be made from its spec.
        recipe: For a new nest, the sizes; for an existing one it must be the same.
        reranker: Judges the best children of every question, or its spec (`jina:MODEL@URL`, `onnx:DIRECTORY`;
            docs/reranking.md). It is not stored: it is given at each opening.
        timeout: Seconds to wait for another process that is writing, or for a connection; 0 or more.
        key: The key to a server, else the environment variable ``NESTLING_KEY``; files have none.

    Raises:
        NotFoundError: There is no such nest and ``create`` is false.
        EmbedderMismatchError: The nest was built with another model. Where none was given, this is
            raised when the model is first needed, so that a nest can be looked at, and built anew, without it.
        SettingError: The nest was built with another recipe, or an option is out of its range.
        ModelError: A model that a spec names cannot be read.
        StoreError: The file is not a nest, is newer than this Nestling, or cannot be read; or it is older, and
            cannot be upgraded where it is.
        ServerError: The server cannot be reached, or refuses the key.
    """
    amount("timeout", timeout, unit="seconds")
    if str(path).startswith(("http://", "https://")):
        return _remote(str(path), embedder, recipe, reranker, timeout, key)
    if key is not None:
        raise SettingError(f"a key is given, and {path} is no address of a server; leave the key out")
    given = embedder_from(embedder) if isinstance(embedder, str) else embedder
    judging = reranker_from(reranker) if isinstance(reranker, str) else reranker
    if str(path) == MEMORY or create:
        made_with = embedder_from("minilm") if given is None else given
        store = SQLiteStore.create(path, build_of(made_with, recipe or Recipe()), timeout=timeout)
        known = Embedders(str(path), made_with, reranker=judging)
    else:
        store = SQLiteStore(path, timeout=timeout)
        known = Embedders(str(path), *([] if given is None else [given]), reranker=judging)
    try:
        with store.view() as view:
            _check(view.edition.build, given, recipe, str(path))
            built = view.edition
    except BaseException:
        store.close()
        raise
    event("opened", nest=str(path), edition=built.number, embedder=built.build.embedder)
    return Nest(store, known)


def _remote(
    url: str,
    embedder: Embedder | str | None,
    recipe: Recipe | None,
    reranker: Reranker | str | None,
    timeout: float,
    key: str | None,
) -> Nest:
    if embedder is not None or recipe is not None:
        raise SettingError(
            f"the nest at {url} has its embedder and its sizes already; leave embedder and recipe out"
        )
    if reranker is not None:
        raise SettingError(f"the nest at {url} is reranked by its server, if at all; leave reranker out")
    # what they need is slow to import
    from nestling.client import RemoteNest
    from nestling.connection import Connection

    nest = RemoteNest(Connection(url, key, timeout))
    try:
        nest.stats()
    except BaseException:
        nest.close()
        raise
    return nest


def build_of(embedder: Embedder, recipe: Recipe) -> Build:
    """How this Nestling builds with a model and sizes."""
    return Build(recipe, embedder.fingerprint, ANALYZER, SPLITTER, getattr(embedder, "spec", None))


def _check(built: Build, embedder: Embedder | None, recipe: Recipe | None, path: str) -> None:
    """Refuse what an existing nest was not built with."""
    if embedder is not None and embedder.fingerprint != built.embedder:
        raise EmbedderMismatchError(
            f"{path} was built with the embedder {built.embedder}, not {embedder.fingerprint};"
            f" open it with that one, or {change_embedder(path)}"
        )
    if recipe is not None and recipe != built.recipe:
        raise SettingError(
            f"{path} was built with {_differing(built.recipe, recipe)}; leave the sizes out, or build it anew with"
            f" the others: nest.rebuild(recipe), or `nestling rebuild --nest {path}` and the sizes"
        )


def _differing(stored: Recipe, given: Recipe) -> str:
    pairs = zip(asdict(stored).items(), asdict(given).values(), strict=True)
    return ", ".join(f"{name}={old!r} and not {new!r}" for (name, old), new in pairs if old != new)
