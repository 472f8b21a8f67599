"""The endpoint embedder against a real server on loopback."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from models.embedding_server import Answer, Service, good, serve
from nestling.errors import InputError, ModelError, SettingError
from nestling.models import patience
from nestling.models.embedder import Embedder
from nestling.models.endpoint import Endpoint, embeddings_url


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A server, no key and no proxy in the environment, and short waits."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NESTLING_API_KEY", raising=False)
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    with serve() as running:
        yield running


def test_unit_rows_in_order_and_in_batches(service: Service) -> None:
    """150 texts travel in batches of 64, and come back as unit rows in the order given."""
    texts = ["x" * (length % 7 + 1) for length in range(150)]
    vectors = Endpoint(service.url, "m").embed_documents(texts)
    assert [len(request["input"]) for request in service.requests] == [64, 64, 22]
    assert vectors.shape == (150, 3)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [len(text) for text in texts], rtol=1e-5)


def test_order_by_index(service: Service) -> None:
    """Vectors are put in the order of their index, not of their arrival."""
    body = good(["a", "bb", "ccc"])
    body["data"].reverse()
    service.answers.append(Answer(body=body))
    vectors = Endpoint(service.url, "m").embed_queries(["a", "bb", "ccc"])
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [1, 2, 3], rtol=1e-5)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_retries_what_may_pass(service: Service, status: int) -> None:
    """A busy or broken server is asked again, and its later answer is used."""
    service.answers += [Answer(status, {"error": "busy"}), Answer(status, {"error": "busy"})]
    assert Endpoint(service.url, "m").embed_queries(["a"]).shape == (1, 3)
    assert len(service.requests) == 3


def test_gives_up(service: Service) -> None:
    """After the last retry the error names the status and the number of tries."""
    service.answers += [Answer(500, b"out of memory")] * 3
    with pytest.raises(ModelError, match=r"500 in 3 tries: out of memory; try again later"):
        Endpoint(service.url, "m", retries=2).embed_queries(["a"])
    assert len(service.requests) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_no_retry_of_a_refusal(service: Service, status: int) -> None:
    """A request that is refused is not sent again."""
    service.answers.append(Answer(status, {"error": "no such model"}))
    with pytest.raises(ModelError, match=rf"{status}.*no such model.*; check"):
        Endpoint(service.url, "m").embed_queries(["a"])
    assert len(service.requests) == 1


def test_honours_retry_after(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's Retry-After decides the wait, up to a minute."""
    waits: list[float] = []
    monkeypatch.setattr(patience, "time", SimpleNamespace(sleep=waits.append))
    service.answers += [Answer(429, headers={"Retry-After": value}) for value in ("7", "9999", "soon")]
    Endpoint(service.url, "m").embed_queries(["a"])
    assert waits[:2] == [7, 60]
    assert 0.002 <= waits[2] <= 0.006


def test_retry_after_as_a_date() -> None:
    """A date in Retry-After is understood; one in the past means no wait, a strange one our own."""
    assert patience.wait_after(0, "Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert patience.wait_after(0, "Wed, 21 Oct 2715 07:28:00 GMT") == 60
    assert 0.25 <= patience.wait_after(0, None) <= 0.75
    assert 2 <= patience.wait_after(3, "later") <= 6


def test_time_out_then_answer(service: Service) -> None:
    """A silent server counts as failed after the time-out, and is asked again."""
    service.answers.append(Answer(delay=1.5))
    assert Endpoint(service.url, "m", timeout=0.8).embed_queries(["a"]).shape == (1, 3)
    assert len(service.requests) == 2


def test_nobody_listens(service: Service) -> None:
    """Without a server the error says how often and where it was tried."""
    with pytest.raises(
        ModelError, match=r"127\.0\.0\.1:9/v1/embeddings could not be reached in 2 tries"
    ) as caught:
        Endpoint("http://127.0.0.1:9/v1", "m", retries=1).embed_queries(["a"])
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "no JSON"),
        ([], "something else than embeddings"),
        ({"data": [{"embedding": [1.0]}]}, "something else than embeddings"),
        ({"data": [{"index": 0, "embedding": "x"}]}, "something else than embeddings"),
        (good(["a"]), "1 vectors for 2 texts"),
        (good(["a", "b", "c"]), "3 vectors for 2 texts"),
        (
            {"data": [{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}]},
            "numbered otherwise",
        ),
        (good(["a", "bb"], lambda text: [1.0] * len(text)), "shapes"),
        (good(["a", "b"], lambda text: [[1.0]]), "shapes"),
        (good(["a", "b"], lambda text: []), "zero or not finite"),
        (
            good(["a", "b"], lambda text: [math.nan if text == "b" else 1.0]),
            "zero or not finite for text 1 of 2",
        ),
        (good(["a", "b"], lambda text: [1e300]), "zero or not finite"),
        (good(["a", "b"], lambda text: [0.0]), "zero or not finite"),
    ],
)
def test_unusable_answers(service: Service, body: object, said: str) -> None:
    """An answer that is not one finite vector of one length per text is refused."""
    service.answers.append(Answer(body=body))
    with pytest.raises(ModelError, match=said):
        Endpoint(service.url, "m").embed_documents(["a", "b"])
    assert len(service.requests) == 1


def test_dimension_stays(service: Service) -> None:
    """A server that starts to give vectors of another length is noticed."""
    endpoint = Endpoint(service.url, "m")
    endpoint.embed_queries(["a"])
    service.answers.append(Answer(body=good(["a"], lambda text: [1.0, 2.0])))
    with pytest.raises(ModelError, match="length 2, not 3"):
        endpoint.embed_queries(["a"])


def test_dimension_is_learnt_when_asked(service: Service) -> None:
    """Nothing is sent until the dimension or a vector is wanted, and the dimension only once."""
    endpoint = Endpoint(service.url, "m")
    assert service.requests == []
    assert (endpoint.dimension, endpoint.dimension) == (3, 3)
    assert endpoint.embed_documents([]).shape == (0, 3)
    assert len(service.requests) == 1
    assert "dimensions" not in service.requests[0]


def test_dimension_is_asked_for(service: Service) -> None:
    """A dimension given is asked of the server and expected of it, without a request to learn it."""
    endpoint = Endpoint(service.url, "m", dimension=2)
    assert endpoint.dimension == 2
    with pytest.raises(ModelError, match="length 3, not 2"):
        endpoint.embed_queries(["a"])
    assert service.requests[0]["dimensions"] == 2


def test_prefixes(service: Service) -> None:
    """Questions and documents get their own prefix."""
    endpoint = Endpoint(service.url, "m", query_prefix="query: ", document_prefix="passage: ")
    endpoint.embed_queries(["a"])
    endpoint.embed_documents(["b"])
    assert [request["input"] for request in service.requests] == [["query: a"], ["passage: b"]]


def test_key_is_sent_and_never_shown(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key, given or from the environment, is in the header only, even where the server repeats it."""
    monkeypatch.setenv("NESTLING_API_KEY", "sk-environment\n")
    Endpoint(service.url, "m").embed_queries(["a"])
    endpoint = Endpoint(service.url, "m", api_key="sk-secret")
    service.answers.append(Answer(401, b"wrong key sk-secret"))
    with pytest.raises(ModelError) as caught:
        endpoint.embed_queries(["a"])
    sent = [headers["authorization"] for headers in service.headers]
    assert sent == ["Bearer sk-environment", "Bearer sk-secret"]
    for shown in (str(caught.value), repr(endpoint), endpoint.fingerprint, endpoint.spec):
        assert "secret" not in str(shown)


def test_no_key_no_header(service: Service) -> None:
    """A server without keys gets no Authorization."""
    Endpoint(service.url, "m").embed_queries(["a"])
    assert "authorization" not in service.headers[0]


def test_fingerprint() -> None:
    """What changes vectors changes the fingerprint; what does not, does not."""
    plain = Endpoint("http://h/v1", "m")
    assert plain.fingerprint == "openai:m@http://h/v1"
    assert (
        Endpoint("http://h/v1", "m", batch=3, languages=["en"], api_key="k").fingerprint == plain.fingerprint
    )
    others = [
        Endpoint("http://h/v1", "n"),
        Endpoint("http://i/v1", "m"),
        Endpoint("http://h/v1", "m", dimension=5),
        Endpoint("http://h/v1", "m", query_prefix="q"),
        Endpoint("http://h/v1", "m", document_prefix="q"),
    ]
    assert len({plain.fingerprint, *(other.fingerprint for other in others)}) == 6


def test_count_tokens_is_an_estimate() -> None:
    """A token is counted for every four characters begun."""
    endpoint = Endpoint("http://h/v1", "m")
    assert [endpoint.count_tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_addresses() -> None:
    """``/embeddings`` is added where it is missing, and a query stays behind it."""
    assert embeddings_url("http://h/v1") == "http://h/v1/embeddings"
    assert embeddings_url("http://h/v1/") == "http://h/v1/embeddings"
    assert embeddings_url("http://h/v1/embeddings") == "http://h/v1/embeddings"
    assert embeddings_url("http://h/d/embeddings?api-version=2") == "http://h/d/embeddings?api-version=2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"url": "h/v1"}, "give http"),
        ({"url": "ftp://h/v1"}, "give http"),
        ({"url": "http://me:hunter2@h/v1"}, "api_key"),
        ({"dimension": 0}, "dimension is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"retries": -1}, "retries is -1"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"timeout": 0}, "timeout is 0"),
        ({"api_key": "sk-\n-hunter2"}, "API key"),
    ],
)
def test_settings_are_checked(arguments: dict[str, object], said: str) -> None:
    """Arguments out of range are refused at once, without repeating a secret."""
    with pytest.raises(SettingError, match=said) as caught:
        Endpoint(**{"url": "http://h/v1", "model": "m"} | arguments)  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)


def test_texts_are_checked(service: Service) -> None:
    """One string instead of a list is refused before anything is sent."""
    with pytest.raises(InputError, match="list of strings"):
        Endpoint(service.url, "m").embed_documents("one")
    assert service.requests == []


def test_is_an_embedder(service: Service) -> None:
    """It fits the protocol."""
    assert isinstance(Endpoint(service.url, "m"), Embedder)
