"""From one line of text to an embedder: how the command line names a model, and a nest finds its own again."""

from __future__ import annotations

import re
from collections.abc import Callable

from nestling.errors import SettingError
from nestling.models.builtin import MiniLM
from nestling.models.embedder import Embedder
from nestling.models.onnx_directory import OnnxDirectory
from nestling.models.spec_text import read_languages, read_spec
from nestling.models.static import Static

Options = dict[str, str]

FORMS = (
    "minilm",
    "onnx:DIRECTORY",
    "model2vec:DIRECTORY",
    "openai:MODEL@URL",
)


def embedder_from(spec: str) -> Embedder:
    """The embedder that a line of text names.

    Args:
        spec: ``minilm``, the built-in model; ``onnx:DIRECTORY``; ``model2vec:DIRECTORY``; or
            ``openai:MODEL@URL``. The last three may end with options, as the ``spec`` of an embedder does
            (``openai:bge-m3@http://localhost:8080/v1#languages=de,en``).

    Returns:
        A new embedder. Its own ``spec`` makes another like it.

    Raises:
        SettingError: The line names no known kind, lacks a part, or has an unknown option.
        ModelError: The model cannot be read, or needs a package that is not installed.
    """
    kind, place, options = read_spec(spec)
    make = KINDS.get(kind)
    if make is None or bool(place) == (kind == "minilm"):
        raise SettingError(f"the embedder {spec!r} is not known; give one of {', '.join(FORMS)}")
    embedder = make(place, options)
    if options:
        raise SettingError(f"the embedder {spec!r} has no option {', '.join(sorted(options))}; leave it out")
    return embedder


def _minilm(place: str, options: Options) -> Embedder:
    return MiniLM()


def _onnx(place: str, options: Options) -> Embedder:
    return OnnxDirectory(
        place,
        query_prefix=options.pop("query_prefix", None),
        document_prefix=options.pop("document_prefix", None),
        languages=read_languages(options.pop("languages", None)),
    )


def _model2vec(place: str, options: Options) -> Embedder:
    return Static(place, languages=read_languages(options.pop("languages", None)))


def _openai(place: str, options: Options) -> Embedder:
    from nestling.models.endpoint import Endpoint  # its HTTP library is slow to import

    parts = re.fullmatch(r"(?P<model>.+?)@(?P<url>https?://.+)", place)
    if parts is None:
        raise SettingError(f"the embedder openai:{place} lacks a model or an address; give openai:MODEL@URL")
    return Endpoint(
        parts["url"],
        parts["model"],
        dimension=_whole(options.pop("dimension", None)),
        max_tokens=_whole(options.pop("max_tokens", None)),
        query_prefix=options.pop("query_prefix", ""),
        document_prefix=options.pop("document_prefix", ""),
        languages=read_languages(options.pop("languages", None)),
    )


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal():
        raise SettingError(f"the embedder has the option {text!r} where a whole number is due; correct it")
    return int(text)


KINDS: dict[str, Callable[[str, Options], Embedder]] = {
    "minilm": _minilm,
    "onnx": _onnx,
    "model2vec": _model2vec,
    "openai": _openai,
}
