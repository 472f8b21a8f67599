"""A folder beside what is stored of it: what is read, what has gone, and what has another name now.

Only documents that are known to have been read from the folder can be gone. What fails to be read is not gone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from nestling.errors import InputError
from nestling.ingest.listing import Listing, Scope
from nestling.ingest.load import Files, holds_cards, read
from nestling.types import Document, Failure


class Folder:
    """What a folder holds now, of which every file is read once, and what is stored of it.

    Attributes:
        listing: Its files.
        stored: The documents that were read from files of it, now or before: the file by id.
    """

    def __init__(
        self,
        scope: Scope,
        files: Mapping[str, str],
        text_of: Callable[[str], str],
    ) -> None:
        """List the folder.

        Args:
            scope: Which folder, and which files of it.
            files: The file that each stored document was read from, of any folder.
            text_of: The text of a stored document.

        Raises:
            NotFoundError: There is no such folder.
            DocumentError: The folder cannot be listed.
            InputError: It is no folder, or its path cannot be stored.
        """
        self.scope = scope
        self.listing = Listing.of(scope)
        # a text file that was added by its own name has another id than in the folder: it stays
        self.stored = {
            id: file
            for id, file in files.items()
            if scope.holds(file) and (holds_cards(file) or id == scope.name(file))
        }
        self._met: set[str] = set()
        self._failed: set[str] = set()
        self._lost: dict[bytes, list[str]] = {}
        for id, file in self.stored.items():
            if not holds_cards(file) and not self.listing.may_hold(file):
                text = text_of(id)
                if text.strip():
                    self._lost.setdefault(_digest(text), []).append(id)

    def refuse_empty(self) -> None:
        """Take a folder without any files for one whose disk is not there, if documents are stored of it.

        Raises:
            InputError: So it is.
        """
        if self.stored and not self.listing.files:
            raise InputError(
                f"the folder {str(self.scope.path)!r} holds no file to read"
                f"{' that matches' if self.scope.patterns else ''}, and {len(self.stored):,} documents are stored"
                " of it: none was removed. Check whether its disk is mounted; if the files are really gone, allow"
                " it with allow_empty=True (--allow-empty)"
            )

    def count(self) -> int | None:
        """How many inputs there are; None where files hold several each."""
        return None if any(map(holds_cards, self.listing.files)) else len(self.listing.entries)

    def documents(self, files: Files) -> Iterator[Document | Failure]:
        """Read what is listed; a file that is written to meanwhile becomes a failure.

        Args:
            files: As for `nestling.ingest.load.load`.
        """
        for each in self.listing.entries:
            if isinstance(each, Failure):
                yield each
                continue
            for found in _steadily(each, self.scope.path, files):
                if isinstance(found, Document):
                    self._met.add(found.id)
                else:
                    self._failed.add(os.path.abspath(each))  # noqa: PTH100 - resolve() follows links
                yield found

    def former(self, document: Document) -> str | None:
        """The id under which a new document was stored until its file got another name; told once for each."""
        ids = self._lost.get(_digest(document.text))
        if not ids:
            return None
        name = document.id.rsplit("/")[-1]
        id = next((id for id in ids if id.rsplit("/")[-1] == name), ids[0])
        ids.remove(id)
        self._met.add(id)
        return id

    def gone(self) -> dict[str, str]:
        """Stored documents that are no longer in the folder, after all was read: the file by id.

        The folder is listed once more, since programs replace a file by removing it first.

        Raises:
            NotFoundError: The folder has vanished meanwhile.
            DocumentError: The folder cannot be listed any more.
        """
        unmet = {id: file for id, file in self.stored.items() if id not in self._met}
        now = Listing.of(self.scope) if unmet else self.listing
        return {id: file for id, file in unmet.items() if self._is_gone(file, now)}

    def _is_gone(self, file: str, now: Listing) -> bool:
        if file in self.listing.files:
            return file not in self._failed  # it was read, and holds the document no more
        if self.listing.may_hold(file) or now.may_hold(file):
            return False
        # cards may have been added by the name of a file that no folder lists
        return not holds_cards(file) or not os.path.lexists(file)


def _steadily(path: Path, root: Path, files: Files) -> Iterator[Document | Failure]:
    """Read a file to documents, and to a failure where it changed under the reader."""
    before = _state(path)
    changed = Failure(str(path), "it was written to while it was read; sync again when that is done")
    many = holds_cards(str(path))
    for each in read(path, root, files):
        if not many and isinstance(each, Document) and _state(path) != before:
            yield changed
            return
        yield each
    if many and _state(path) != before:
        yield changed


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
