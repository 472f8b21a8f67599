"""Which files of a folder are meant, and which of them are there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from unicodedata import normalize

from nestling.errors import DocumentError, InputError, NotFoundError, SettingError
from nestling.ingest.check import is_storable
from nestling.ingest.load import Inodes, is_left_out, walk
from nestling.types import Failure

Pattern = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """Some files of a folder, whether they exist or not.

    Attributes:
        path: Of the folder, as given.
        patterns: One of them matches the file's path in the folder; none: all files.
        closed: Files that must not be opened, by device and inode.
    """

    path: Path
    patterns: tuple[Pattern, ...]
    closed: Inodes

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], pattern: str | Sequence[str] | None, closed: Inodes = frozenset()
    ) -> Scope:
        """Read patterns: `*`, `?` and `[…]` inside a name, `**` for any number of folders.

        A pattern without a `/` is matched with the name alone.

        Raises:
            SettingError: A pattern is no pattern.
        """
        if pattern is None:
            return cls(Path(path), (), closed)
        given = pattern if isinstance(pattern, list | tuple) else [pattern]
        if not given:
            raise SettingError("the list of patterns is empty; leave it out to mean all files")
        return cls(Path(path), tuple(map(_parsed, given)), closed)

    def name(self, file: str) -> str | None:
        """The path in the folder, with ``/``, of a file given by its absolute path; None where it is outside."""
        root = os.path.join(_absolute(self.path), "")  # noqa: PTH118 - "/" stays "/"
        return file[len(root) :].replace(os.sep, "/") if file.startswith(root) else None

    def holds(self, file: str) -> bool:
        """Whether a file, given by its absolute path, would be listed if it existed."""
        name = self.name(file)
        if name is None or any(map(is_left_out, name.split("/"))):
            return False
        parts = normalize("NFC", name).split("/")
        return not self.patterns or any(_matches(parts, pattern) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds at a moment.

    Attributes:
        entries: Files to read, as paths that begin with the folder as given, and failures in their places.
        files: Absolute paths of those to read; links are not followed.
        unread: Absolute paths of files and folders that failed.
    """

    entries: Sequence[Path | Failure]
    files: frozenset[str]
    unread: frozenset[str]

    @classmethod
    def of(cls, scope: Scope) -> Listing:
        """List a folder.

        Raises:
            NotFoundError: There is no such folder.
            DocumentError: The folder cannot be listed.
            InputError: It is no folder, or its path cannot be stored.
        """
        refuse_unlistable(scope.path)
        entries: list[Path | Failure] = []
        files, unread = set[str](), set[str]()
        for each in walk(scope.path, scope.closed):
            failed = isinstance(each, Failure)
            file = _absolute(each.name if isinstance(each, Failure) else each)
            # a folder that cannot be read may hold files that match
            if scope.holds(file) or (isinstance(each, Failure) and not each.skipped):
                entries.append(each)
                (unread if failed else files).add(file)
        return cls(entries, frozenset(files), frozenset(unread))

    def may_hold(self, file: str) -> bool:
        """Whether a file is there, or it or a folder above it could not be read."""
        if file in self.files:
            return True
        return bool(self.unread) and any(str(p) in self.unread for p in (Path(file), *Path(file).parents))


def _absolute(path: str | Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - resolve() follows links


def refuse_unlistable(path: Path) -> None:
    """Look whether a folder can be listed; raises as `Listing.of`."""
    name = str(path)
    if not is_storable(_absolute(path)):
        raise InputError(f"the path of the folder {name!r} is no UTF-8 and cannot be stored; rename it")
    try:
        os.scandir(path).close()
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no folder {name!r}; check the path, and whether its disk is mounted (nothing was removed)"
        ) from error
    except NotADirectoryError as error:
        raise InputError(f"{name!r} is no folder; give a folder, or add the file with `add`") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DocumentError(
            f"the folder {name!r} cannot be listed ({reason}); check its permissions (nothing was removed)"
        ) from error


def _parsed(pattern: object) -> Pattern:
    parts = normalize("NFC", pattern).split("/") if isinstance(pattern, str) else [""]
    if not all(parts) or {".", ".."} & set(parts):
        raise SettingError(
            f"the pattern {pattern!r} can match no file of a folder; give one such as '*.md' or 'guides/**'"
        )
    return ("**", *parts) if len(parts) == 1 else tuple(parts)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[n:], pattern[1:]) for n in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
