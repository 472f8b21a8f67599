"""From one line of text to a language model: how the command line names one."""

from __future__ import annotations

from nestling.errors import SettingError
from nestling.models.language_model import LanguageModel
from nestling.models.spec_text import read_spec


def language_model_from(spec: str) -> LanguageModel:
    """The language model that a line of text names.

    Args:
        spec: ``openai:MODEL@URL``, perhaps with options:
            ``openai:qwen3@http://localhost:8080/v1#temperature=0.2&max_tokens=500``; ``temperature=default``
            leaves it to the server.

    Raises:
        SettingError: The line is not of this form, or has an unknown option.
    """
    from nestling.models.chat import ChatEndpoint  # its HTTP library is slow to import

    kind, place, options = read_spec(spec)
    model, _, url = place.partition("@http")
    if kind != "openai" or not model or not url:
        raise SettingError(f"the language model {spec!r} is not known; give openai:MODEL@URL")
    temperature, most = options.pop("temperature", "0"), options.pop("max_tokens", None)
    if options:
        raise SettingError(
            f"the language model {spec!r} has no option {', '.join(sorted(options))}; leave it out"
        )
    try:
        return ChatEndpoint(
            f"http{url}",
            model,
            temperature=None if temperature == "default" else float(temperature),
            max_tokens=None if most is None else int(most),
        )
    except ValueError as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            f"the language model {spec!r} has an option that is no number; correct it"
        ) from error
