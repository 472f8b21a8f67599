"""Every error Nestling raises, in one tree.

::

    NestlingError
    ├── InputError            what was given cannot be used (also a ValueError)
    │   ├── DocumentError     a document, file or JSONL line cannot be read or stored
    │   ├── FilterError       a ``where`` is not a filter
    │   └── SettingError      a size, budget, k or other option is out of range
    ├── NotFoundError         no such nest, document or passage (also a LookupError)
    ├── StoreError            the nest itself cannot serve
    │   ├── NotANestError     the file is not a nest, or is damaged
    │   ├── NewerNestError    the nest was written by a newer Nestling
    │   ├── LockedError       another process kept the write lock for too long
    │   ├── ReadOnlyError     a change was asked of a nest that can only be read
    │   ├── ScopeError        a scope was asked for what concerns the whole nest
    │   └── FullError         the disk is full
    ├── EmbedderMismatchError the nest was built with another embedding model
    ├── ModelError            an embedding model or endpoint failed
    │   └── MissingExtraError an optional package is not installed
    └── ServerError           a Nestling server cannot be reached, or failed
        ├── AccessError       its key is missing or unknown, or may not do this
        └── BusyError         it has too much to do, or the key asked too often

A message says what was wrong with which input, and ends with what to do next. Errors of other libraries
are mapped where they enter and kept as ``__cause__``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nestling.results import Report


class NestlingError(Exception):
    """The root: catch this to catch everything Nestling raises on purpose.

    Attributes:
        report: Where adding was interrupted: what had been done by then; else None.
    """

    report: Report | None = None


class InputError(NestlingError, ValueError):
    """What was given cannot be used."""


class DocumentError(InputError):
    """A document, file or JSONL line cannot be read or stored."""


class FilterError(InputError):
    """A ``where`` is not a filter: unknown operator, wrong type of value, wrong shape."""


class SettingError(InputError):
    """An option is of the wrong type or out of its range."""


class NotFoundError(NestlingError, LookupError):
    """No such nest, document or passage."""


class StoreError(NestlingError):
    """The nest itself cannot serve the request."""


class NotANestError(StoreError):
    """The file is not a nest, or is too damaged to be read as one."""


class NewerNestError(StoreError):
    """The nest was written by a newer Nestling."""


class LockedError(StoreError):
    """Another process kept the write lock for longer than the time-out."""


class ReadOnlyError(StoreError):
    """A change was asked of a nest that can only be read."""


class ScopeError(StoreError):
    """A scope was asked for what concerns the whole nest: its editions, settings, damage."""


class FullError(StoreError):
    """The disk, or the quota on it, is full; nothing of the change was kept."""


class EmbedderMismatchError(NestlingError):
    """The nest was built with another embedding model than the one given."""


class ModelError(NestlingError):
    """An embedding model or endpoint failed, or answered with something unusable."""


class MissingExtraError(ModelError):
    """An optional package is not installed; the message names the pip command."""


class ServerError(NestlingError):
    """A Nestling server cannot be reached, or failed."""


class AccessError(ServerError):
    """A server serves nobody without a key, does not know the key, or the key may not do this."""


class BusyError(ServerError):
    """A server has too much to do, or the key asked more often than it may.

    Attributes:
        retry_after: After how many seconds it makes sense to try again.
    """

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
