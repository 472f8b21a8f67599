"""The seam of language models: what Nestling asks of one, in two names."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nestling.errors import ModelError, NestlingError
from nestling.tracing import Span, Value, captures_text, span


@dataclass(frozen=True, slots=True)
class Generated:
    """What a language model wrote.

    Attributes:
        text: All of it.
        prompt_tokens: What it read, in its own tokens, or None where it does not tell.
        answer_tokens: What it wrote, likewise.
        stopped: Why it ended early (``length``: at its limit of tokens), or None.
    """

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    stopped: str | None = None


@runtime_checkable
class LanguageModel(Protocol):
    """Writes text. A plain attribute does for the name."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    def generate(self, system: str, prompt: str, on_text: Callable[[str], None]) -> Generated:
        """Answer a prompt.

        Args:
            system: What the model is to do, before everything else.
            prompt: The user's turn.
            on_text: To be called with each piece of the text as it comes; the pieces make up the text. What it
                raises ends the generation and is passed on.
        """
        ...


def generated(model: LanguageModel, system: str, prompt: str, on_text: Callable[[str], None]) -> Generated:
    """What a model writes, whoever's it is.

    Raises:
        ModelError: It raised something of its own, or gave no text.
    """
    with _span(model) as told:
        written = _checked(model, system, prompt, on_text)
        if told:
            told.set(_outcome(written), characters=len(written.text))
            if captures_text():
                told.set(_messages(system, prompt, written))
    return written


def _checked(model: LanguageModel, system: str, prompt: str, on_text: Callable[[str], None]) -> Generated:
    own: list[Exception] = []

    def passed_on(text: str) -> None:
        try:
            on_text(text)
        except Exception as error:
            own.append(error)
            raise

    try:
        written = model.generate(system, prompt, passed_on)
    except NestlingError:
        raise
    except Exception as error:
        if error in own:
            raise
        raise ModelError(f"{model.name} failed: {error!r}; mend the language model") from error
    if not isinstance(written, Generated) or not isinstance(written.text, str):
        raise ModelError(
            f"{model.name} gave {type(written).__name__}, not Generated; mend the language model"
        )
    return written


def _span(model: LanguageModel) -> AbstractContextManager[Span]:
    """One call of a model, named and described as OpenTelemetry has it."""
    kind, colon, _ = str(getattr(model, "spec", "")).partition(":")
    conventional: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": kind if colon else "custom",
        "gen_ai.request.model": model.name,
    }
    return span(f"chat {model.name}", conventional, remote=True)


def _outcome(written: Generated) -> dict[str, Value]:
    tokens = {
        "gen_ai.usage.input_tokens": written.prompt_tokens,
        "gen_ai.usage.output_tokens": written.answer_tokens,
    }
    counted: dict[str, Value] = {name: value for name, value in tokens.items() if value is not None}
    return {**counted, "gen_ai.response.finish_reasons": [written.stopped or "stop"]}


def _messages(system: str, prompt: str, written: Generated) -> dict[str, Value]:
    def part(text: str) -> dict[str, str]:
        return {"type": "text", "content": text}

    output = {"role": "assistant", "parts": [part(written.text)], "finish_reason": written.stopped or "stop"}
    return {
        "gen_ai.system_instructions": json.dumps([part(system)]),
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [part(prompt)]}]),
        "gen_ai.output.messages": json.dumps([output]),
    }
