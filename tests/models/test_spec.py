"""Embedders named by one line of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.errors import ModelError, SettingError
from nestling.models.builtin import MiniLM
from nestling.models.endpoint import Endpoint
from nestling.models.spec import embedder_from
from nestling.models.spec_text import read_spec, write_spec

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def test_minilm() -> None:
    """The built-in model is known by its name, and gives that name."""
    model = embedder_from("minilm")
    assert isinstance(model, MiniLM)
    assert model.spec == "minilm"


def test_endpoint_again() -> None:
    """The spec of an endpoint, with all that is not a secret, makes another like it."""
    model = Endpoint(
        "https://h:8080/v1?api-version=2",
        "nomic/embed@2",
        dimension=256,
        api_key="sk-secret",
        max_tokens=512,
        query_prefix="search_query: ",
        document_prefix="search_document: ",
        languages=["de", "en"],
    )
    again = embedder_from(str(model.spec))
    assert isinstance(again, Endpoint)
    names = ("fingerprint", "spec", "dimension", "max_tokens", "languages")
    assert [getattr(again, name) for name in names] == [getattr(model, name) for name in names]
    assert "secret" not in str(model.spec)


def test_plain_endpoint() -> None:
    """Without options the line is kind, model and address."""
    spec = "openai:text-embedding-3-small@https://api.openai.com/v1"
    assert getattr(embedder_from(spec), "spec", None) == spec


@pytest.mark.parametrize("spec", ["", "bert", "minilm:x", "onnx", "onnx:", "model2vec:", "sentence: x"])
def test_unknown(spec: str) -> None:
    """An unknown line is refused with the list of forms."""
    with pytest.raises(SettingError, match=r"minilm, onnx:DIRECTORY, model2vec:DIRECTORY, openai:MODEL@URL"):
        embedder_from(spec)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("openai:model", "openai:MODEL@URL"),
        ("openai:@http://h", "openai:MODEL@URL"),
        ("openai:m@http://h#colour=red", "no option colour"),
        ("openai:m@http://h#dimension=many", "whole number"),
        ("openai:m@http://h#dimension", "name=value"),
        ("minilm#languages=de", "no option languages"),
    ],
)
def test_wrong_parts(spec: str, said: str) -> None:
    """A line of a known kind with a wrong part is refused, naming the part."""
    with pytest.raises(SettingError, match=said):
        embedder_from(spec)


def test_directory_that_is_not_there() -> None:
    """A directory without a model is the model's error, not the line's."""
    with pytest.raises(ModelError, match="nowhere"):
        embedder_from("onnx:/nowhere")


@given(place=words, options=st.dictionaries(words, st.text(st.characters(exclude_categories=["Cs"]))))
def test_written_and_read(place: str, options: dict[str, str]) -> None:
    """Any place and options come back from the line as they were."""
    assert read_spec(write_spec("onnx", place, options)) == ("onnx", place, options)
