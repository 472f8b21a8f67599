"""The seam of language models: what Nestling asks of one, in two names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nestling.errors import ModelError, NestlingError


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
