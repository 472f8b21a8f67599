"""The models of a nest: those of its editions, each by its fingerprint, and its reranker."""

from __future__ import annotations

from nestling.errors import EmbedderMismatchError
from nestling.models.embedder import Embedder
from nestling.models.reranker import Reranker
from nestling.models.spec import embedder_from
from nestling.view import Edition


class Embedders:
    """Models that were given, and those made from their spec when they are first needed.

    Attributes:
        reranker: What judges the best children of each question, whichever edition is asked; None: nothing does.
    """

    def __init__(self, path: str, *given: Embedder, reranker: Reranker | None = None) -> None:
        self._path = path
        self.reranker = reranker
        self._known = {embedder.fingerprint: embedder for embedder in given}

    def keep(self, embedder: Embedder) -> None:
        """Take one more, for the editions that were built with it."""
        self._known[embedder.fingerprint] = embedder

    def of(self, edition: Edition) -> Embedder:
        """The model that an edition was built with.

        Raises:
            EmbedderMismatchError: It was not given and cannot be made from a spec, or what the spec makes by now
                is another.
            ModelError: It cannot be read, or needs a package that is not installed.
        """
        fingerprint, spec = edition.build.embedder, edition.build.spec
        if fingerprint not in self._known:
            built = f"edition {edition.number} of {self._path} was built with the embedder {fingerprint}"
            change = change_embedder(self._path)
            if spec is None:
                raise EmbedderMismatchError(f"{built}; give it to nestling.open as embedder=, or {change}")
            made = embedder_from(spec)
            if made.fingerprint != fingerprint:
                raise EmbedderMismatchError(
                    f"{built}, and {spec} is now {made.fingerprint}; restore the model, or {change}"
                )
            self._known.setdefault(fingerprint, made)
        return self._known[fingerprint]


def change_embedder(path: str) -> str:
    """How to say that another model can be had."""
    return (
        "build the nest anew with another: nest.rebuild(embedder=…),"
        f" or `nestling rebuild --embedder SPEC --nest {path}`"
    )
