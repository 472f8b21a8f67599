"""Where an endpoint is, and the key that it is given."""

from __future__ import annotations

import httpx

from nestling.errors import SettingError


def usable_key(key: str, variable: str) -> str | None:
    """A key as it can be sent in a header, or None where there is none.

    Args:
        key: As given, or as it is in the environment.
        variable: Of the environment, where it may have come from; for the message.

    Raises:
        SettingError: It cannot be sent.
    """
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingError(f"the API key holds characters that no key has; check api_key or {variable}")
    return key or None


def endpoint_url(url: str, path: str, variable: str) -> str:
    """The address of an endpoint itself, ``path`` put to its end where it is missing.

    Args:
        url: As given.
        path: What the endpoint's own path ends with, from its ``/`` on.
        variable: Of the environment, that may hold the key; for the message.

    Raises:
        SettingError: It is no http address, or holds a user name or password.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError) as error:
        raise SettingError(f"the address {url!r} is not one: {error}; give http(s)://host/path") from error
    if parsed.userinfo:
        raise SettingError(
            f"the address of {parsed.host} holds a user name or password; give the key as api_key, or in the "
            f"environment variable {variable}"
        )
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SettingError(f"the address {url!r} is not one; give http(s)://host/path")
    own = parsed.path.rstrip("/")
    return str(parsed.copy_with(path=own if own.endswith(path) else f"{own}{path}"))
