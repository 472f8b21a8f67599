"""Opening a nest: the right file, the right model, the right recipe, or a clear refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nestling.errors import EmbedderMismatchError, NotANestError, SettingError, StoreError
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.models.embedder import Embedder
from nestling.models.spec import embedder_from
from nestling.nest import Nest
from nestling.settings import Recipe
from nestling.stores.sqlite import SQLiteStore
from nestling.stores.sqlite_file import MEMORY


def open_nest(
    path: str | Path,
    *,
    create: bool = False,
    embedder: Embedder | str | None = None,
    recipe: Recipe | None = None,
    timeout: float = 30.0,
) -> Nest:
    """Open a nest; it is `nestling.open`.

    Args:
        path: Of the file, or ``:memory:`` for one that lives only as long as the object.
        create: Make it if it does not exist.
        embedder: For a new nest, the model to use (the built-in one where not given), or its spec (`minilm`,
            `onnx:DIRECTORY`, …). For an existing nest it must be the model that it was built with, and is
            needed only where that cannot be made from its spec.
        recipe: For a new nest, the sizes; for an existing one it must be the same.
        timeout: Seconds to wait for another process that is writing; 0 or more.

    Raises:
        NotFoundError: There is no such nest and ``create`` is false.
        EmbedderMismatchError: The nest was built with another model. Where none was given, this is
            raised when the model is first needed, so that a nest can be looked at without it.
        SettingError: The nest was built with another recipe, or an option is out of its range.
        StoreError: The file is not a nest, is newer than this Nestling, or cannot be read.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout < float("inf"):
        raise SettingError(f"timeout is {timeout!r}; give seconds, 0 or more")
    if isinstance(embedder, str):
        embedder = embedder_from(embedder)
    if str(path) == MEMORY or create:
        new = _meta(embedder or embedder_from("minilm"), recipe or Recipe())
        store = SQLiteStore.create(path, new, timeout=timeout)
    else:
        store = SQLiteStore(path, timeout=timeout)
    try:
        meta = store.meta
        stored = _recipe_of(meta, str(path))
        if embedder is not None:
            _embedder_of(meta, embedder, str(path))
        if recipe is not None and recipe != stored:
            raise SettingError(
                f"{path} was built with {_differing(stored, recipe)}; leave the sizes out, or build a new nest"
            )
        if (meta["analyzer"], meta["splitter"]) != (ANALYZER, SPLITTER):
            raise StoreError(
                f"{path} was built by other rules of splitting or analysis; add its documents to a new nest"
            )
    except BaseException:
        store.close()
        raise
    return Nest(store, lambda: _embedder_of(meta, embedder, str(path)))


def _recipe_of(meta: Mapping[str, Any], path: str) -> Recipe:
    try:
        meta["embedder"]["fingerprint"], meta["embedder"]["spec"]
        return Recipe(**meta["recipe"])
    except (TypeError, LookupError, SettingError) as error:
        reason = f"it does not say its recipe and embedder ({error!r})"
        raise NotANestError(f"{path} is damaged: {reason}; restore a backup") from error


def _differing(stored: Recipe, given: Recipe) -> str:
    pairs = zip(asdict(stored).items(), asdict(given).values(), strict=True)
    return ", ".join(f"{name}={old!r} and not {new!r}" for (name, old), new in pairs if old != new)


def _meta(embedder: Embedder, recipe: Recipe) -> dict[str, Any]:
    return {
        "recipe": asdict(recipe),
        "embedder": {"fingerprint": embedder.fingerprint, "spec": getattr(embedder, "spec", None)},
        "analyzer": ANALYZER,
        "splitter": SPLITTER,
    }


def _embedder_of(meta: Mapping[str, Any], embedder: Embedder | None, path: str) -> Embedder:
    built = meta["embedder"]
    if embedder is None:
        if built["spec"] is None:
            raise EmbedderMismatchError(
                f"{path} was built with the embedder {built['fingerprint']}; give it to nestling.open as embedder="
            )
        embedder = embedder_from(built["spec"])
    if embedder.fingerprint != built["fingerprint"]:
        raise EmbedderMismatchError(
            f"{path} was built with the embedder {built['fingerprint']}, not {embedder.fingerprint};"
            " open it with that one, or add its documents to a new nest built with the other"
        )
    return embedder
