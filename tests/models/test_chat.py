"""The chat endpoint against a real server on loopback (X4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from types import SimpleNamespace

import pytest

from models.chat_server import DONE, Reply, Service, event, serve
from nestling.errors import ModelError, SettingError
from nestling.models import completion, patience
from nestling.models.chat import ChatEndpoint
from nestling.models.chat_spec import language_model_from
from nestling.models.language_model import Generated, LanguageModel, generated


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A server, no key and no proxy in the environment, and short waits."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NESTLING_LLM_API_KEY", raising=False)
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    with serve() as running:
        yield running


def ask(model: LanguageModel) -> tuple[Generated, list[str]]:
    """What a model writes, and the pieces it came in."""
    pieces: list[str] = []
    return model.generate("be brief", "what?", pieces.append), pieces


def test_streams_with_counts(service: Service) -> None:
    """Pieces come as they are sent, and make up the text; the counts of tokens are kept."""
    service.replies.append(Reply("Take it with food."))
    written, pieces = ask(ChatEndpoint(service.url, "m"))
    assert written == Generated("Take it with food.", 10, 4)
    assert pieces == ["Take", " it", " with", " food."]
    assert service.requests[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "what?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
    }


def test_the_first_piece_does_not_wait_for_the_last(service: Service) -> None:
    """What is passed on ends the answer where it raises, and the server notices."""
    service.replies.append(Reply(chunks=repeat(event("one ")), pauses=[0.01] * 10_000))

    class EnoughError(Exception):
        pass

    def stop(text: str) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        generated(ChatEndpoint(service.url, "m"), "s", "p", stop)
    assert service.hung_up.wait(60)


def test_a_server_that_does_not_stream(service: Service) -> None:
    """A plain completion will do."""
    message = {"role": "assistant", "content": "Well."}
    service.replies.append(Reply(body={"choices": [{"message": message, "finish_reason": "stop"}]}))
    assert ask(ChatEndpoint(service.url, "m")) == (Generated("Well."), ["Well."])


def test_pieces_that_are_cut_anywhere(service: Service) -> None:
    """Bytes may arrive cut inside a character or a line, with CRLF and comments, and with U+2028 in the JSON."""
    whole = (
        b": hello\r\n\r\n" + event("Zwölf\u2028Möwen ").replace(b"\n", b"\r\n") + event("中", "stop") + DONE
    )
    service.replies.append(Reply(chunks=[whole[i : i + 1] for i in range(len(whole))]))
    assert ask(ChatEndpoint(service.url, "m"))[0].text == "Zwölf\u2028Möwen 中"


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_retries_what_may_pass(service: Service, status: int) -> None:
    """A busy or broken server is asked again."""
    service.replies += [Reply(status=status, body={"error": "busy"})] * 2
    assert ask(ChatEndpoint(service.url, "m"))[0].text == "All is well."
    assert len(service.requests) == 3


def test_gives_up(service: Service) -> None:
    """After the last retry the error names the status and the number of tries."""
    service.replies += [Reply(status=500, body=b"out of memory")] * 3
    with pytest.raises(ModelError, match=r"answered 500: out of memory, in 3 tries; check"):
        ask(ChatEndpoint(service.url, "m", retries=2))


def test_honours_retry_after(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's Retry-After decides the wait."""
    waits: list[float] = []
    monkeypatch.setattr("nestling.models.patience.time", SimpleNamespace(sleep=waits.append))
    service.replies.append(Reply(status=429, body={}, headers={"Retry-After": "7"}))
    ask(ChatEndpoint(service.url, "m"))
    assert waits == [7]


@pytest.mark.parametrize("status", [400, 401, 404])
def test_no_retry_of_a_refusal(service: Service, status: int) -> None:
    """A request that is refused is not sent again."""
    service.replies.append(Reply(status=status, body={"error": "no such model"}))
    with pytest.raises(ModelError, match=rf"answered {status}.*no such model.*; check"):
        ask(ChatEndpoint(service.url, "m"))
    assert len(service.requests) == 1


def test_slow_then_well(service: Service) -> None:
    """A silent server counts as failed after the time-out, and is asked again."""
    service.replies.append(Reply(delay=1.5))
    assert ask(ChatEndpoint(service.url, "m", timeout=0.8))[0].text == "All is well."


def test_silence_in_the_middle(service: Service) -> None:
    """Once text has been passed on, a silence ends the answer with an error, not with a second answer."""
    service.replies.append(Reply(chunks=[event("one "), event("two")], pauses=[0.0, 1.5]))
    with pytest.raises(ModelError, match=r"broke off after 4 characters.*ask again"):
        ask(ChatEndpoint(service.url, "m", timeout=0.8))
    assert len(service.requests) == 1


@pytest.mark.parametrize("reset", [False, True])
def test_truncated_before_any_text(service: Service, reset: bool) -> None:
    """A stream that breaks before it said anything is asked for again."""
    service.replies.append(Reply(chunks=[b": hello\n\n"], reset=reset))
    assert ask(ChatEndpoint(service.url, "m"))[0].text == "All is well."
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "rest", [b"", b'data: {"choices": [{"delta": {"con', b'data: {"error": {"message": "overloaded"}}\n\n']
)
def test_truncated_in_the_middle(service: Service, rest: bytes) -> None:
    """A stream that breaks off after some text is an error that says so."""
    service.replies.append(Reply(chunks=[event("Take it "), event("with"), rest]))
    with pytest.raises(ModelError, match=r"broke off after 12 characters"):
        ask(ChatEndpoint(service.url, "m"))
    assert len(service.requests) == 1


def test_no_done_but_finished(service: Service) -> None:
    """A server that says why it stopped need not say DONE."""
    service.replies.append(Reply(chunks=[event("Well."), event(finish="length")]))
    assert ask(ChatEndpoint(service.url, "m"))[0] == Generated("Well.", stopped="length")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(body=b"<html>"), "no JSON"),
        (Reply(body=[]), "something else than a completion"),
        (Reply(body={"choices": "x"}), "something else than a completion"),
        (Reply(body={"choices": [{"message": {"content": 7}}]}), "something else than a completion"),
        (Reply(body={"choices": []}), "answered nothing"),
        (Reply(chunks=[b"data: nonsense\n\n"]), "no JSON"),
        (Reply(chunks=[event(" \n"), event(finish="stop"), DONE]), "answered nothing"),
    ],
)
def test_malformed_answers(service: Service, reply: Reply, said: str) -> None:
    """What is no completion is named, with what to check."""
    service.replies.append(reply)
    with pytest.raises(ModelError, match=f"{said}.*; "):
        ask(ChatEndpoint(service.url, "m"))


def test_a_model_that_does_not_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, or a line, without an end is cut off with an error."""
    monkeypatch.setattr(completion, "LONGEST_ANSWER", 20)
    service.replies.append(Reply(chunks=[event("again ")] * 30))
    with pytest.raises(ModelError, match="does not end; set max_tokens"):
        ask(ChatEndpoint(service.url, "m"))
    monkeypatch.setattr(completion, "LONGEST_LINE", 20)
    service.replies.append(Reply(chunks=[b"data: " + b"x" * 100]))
    with pytest.raises(ModelError, match="sent a line of more than 20 bytes"):
        ask(ChatEndpoint(service.url, "m"))


def test_nobody_listens(service: Service) -> None:
    """Without a server the error says how often and where it was tried."""
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1/chat/completions failed.*in 2 tries") as caught:
        ask(ChatEndpoint("http://127.0.0.1:9/v1", "m", retries=1))
    assert caught.value.__cause__ is not None


def test_the_key_is_sent_and_never_shown(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key goes into the header, and into no message, spec or representation."""
    monkeypatch.setenv("NESTLING_LLM_API_KEY", "sk-secret")
    model = ChatEndpoint(service.url, "m")
    service.replies.append(Reply(status=401, body={"error": "bad key sk-secret"}))
    with pytest.raises(ModelError) as caught:
        ask(model)
    assert service.headers[0]["authorization"] == "Bearer sk-secret"
    assert "secret" not in f"{caught.value} {model!r} {model.spec}"


def test_specs(service: Service) -> None:
    """A line of text names a model with its options, and is given back by it."""
    for spec in (
        "openai:m@http://x/v1",
        "openai:org/m@2:q4@https://x.y/v1#temperature=0.5&max_tokens=9",
        "openai:m@http://x/v1#temperature=default",
    ):
        model = language_model_from(spec)
        assert isinstance(model, ChatEndpoint)
        assert model.spec == spec
    assert language_model_from("openai:m@http://x").name == "m"
    made = language_model_from(f"openai:m@{service.url}#temperature=default&max_tokens=9")
    ask(made)
    assert "temperature" not in service.requests[0]
    assert service.requests[0]["max_tokens"] == 9


@pytest.mark.parametrize(
    "spec",
    [
        "gpt",
        "openai:m",
        "openai:@http://x",
        "openai:m@http://x#what=1",
        "openai:m@http://x#max_tokens=many",
        "openai:m@http://x#temperature=9",
        "openai:m@http://user:word@x/v1",
    ],
)
def test_specs_that_are_none(spec: str) -> None:
    """What cannot be read is refused, with what to write."""
    with pytest.raises(SettingError, match="; "):
        language_model_from(spec)


def test_any_object_can_be_the_model() -> None:
    """A model's own errors are mapped, those of the caller are not, and what is no text is refused."""

    class Own:
        name = "mine"

        def generate(self, system: str, prompt: str, on_text: object) -> Generated:
            raise OSError("no weights")

    assert isinstance(Own(), LanguageModel)
    with pytest.raises(ModelError, match="mine failed: OSError"):
        generated(Own(), "s", "p", print)
    Own.generate = lambda *a: "text"  # type: ignore[assignment,method-assign,return-value]
    with pytest.raises(ModelError, match="gave str, not Generated"):
        generated(Own(), "s", "p", print)
