"""From one line of text to a reranker: how the command line names one."""

from __future__ import annotations

from nestling.errors import SettingError
from nestling.models.reranker import Reranker
from nestling.models.spec_text import read_spec

FORMS = ("jina:MODEL@URL", "onnx:DIRECTORY")


def reranker_from(spec: str) -> Reranker:
    """The reranker that a line of text names.

    Args:
        spec: ``jina:MODEL@URL``, an endpoint of the form that Jina, Cohere and local servers have; or
            ``onnx:DIRECTORY``, a cross-encoder.

    Raises:
        SettingError: The line names no known kind, lacks a part, or has an option.
        ModelError: The model cannot be read.
    """
    kind, place, options = read_spec(spec)
    model, _, url = place.partition("@http")
    if options:
        raise SettingError(f"the reranker {spec!r} has no option {', '.join(sorted(options))}; leave it out")
    # what they need is slow to import
    if kind == "jina" and model and url:
        from nestling.models.rerank_endpoint import RerankEndpoint

        return RerankEndpoint(f"http{url}", model)
    if kind == "onnx" and place:
        from nestling.models.cross_encoder import CrossEncoder

        return CrossEncoder(place)
    raise SettingError(f"the reranker {spec!r} is not known; give one of {', '.join(FORMS)}")
