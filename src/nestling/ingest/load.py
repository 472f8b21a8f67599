"""From whatever the user names (documents, files, folders, JSONL cards) to documents, one at a time.

What cannot be read becomes a ``Failure``, a value among the documents, so that the rest goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from nestling.errors import DocumentError
from nestling.ingest.cards import card_of, cards
from nestling.ingest.check import checked, is_storable
from nestling.ingest.front import front_matter
from nestling.ingest.sniff import MARKDOWN_SUFFIXES, PLAIN_SUFFIXES
from nestling.ingest.structure import first_title
from nestling.ingest.text import decoded
from nestling.types import Document, Failure

Source: TypeAlias = "Document | str | os.PathLike[str] | Mapping[str, Any] | Iterable[Source]"
Inodes: TypeAlias = Collection[tuple[int, int]]
# Reads a file, whose id is given, to documents; an error in the place of one leaves the others standing.
Reader: TypeAlias = Callable[[Path, str], Iterable[Document | DocumentError]]

_JUNK = frozenset(("__pycache__", "node_modules", "venv", "Thumbs.db", "desktop.ini"))


class Files:
    """Which file each document was read from: an absolute path, links not followed.

    Documents are told apart as objects, so that one given by hand is never taken for one of a file.
    """

    def __init__(self) -> None:
        self._noted: dict[int, tuple[Document, str]] = {}

    def note(self, document: Document, path: str) -> None:
        """Remember the file of a document."""
        self._noted[id(document)] = document, path

    def take(self, document: Document) -> str | None:
        """The file of a document, once; None where it was not read from one."""
        _, path = self._noted.pop(id(document), (None, None))
        return path


def load(
    item: Source,
    root: str | os.PathLike[str] | None = None,
    closed: Inodes = frozenset(),
    files: Files | None = None,
) -> Iterator[Document | Failure]:
    """Read documents, in order.

    A folder is read recursively, by name. Hidden files and folders, ``__pycache__``, ``node_modules``,
    ``venv`` and links to folders are left out; files of no readable kind are reported. A file that is named
    itself is read whatever its suffix, unless it is binary. Byte order marks are dropped, since they are no
    text; line ends stay as they are. An empty file is an empty document.

    Args:
        item: A document; a path of a file, a folder or a ``.jsonl`` file of cards; a card (a mapping with
            ``id`` and ``text``); or an iterable of these, to any depth.
        root: The folder to which the ids of files are relative, written with ``/``. None: the id of a file is
            its name, or its path relative to the folder that was named.
        closed: Files that must not be opened, by device and inode: the nest's own, since this process would
            lose its locks on them. In a folder they are left out.
        files: Where to note which file a document was read from, before it is yielded.

    Yields:
        Documents that passed ``checked``, their ``source`` the path as given; failures in the places of those
        that could not be read, named by the path as given, or by the id of the document or card.
    """
    if isinstance(item, Document):
        yield from _settled([item], f"document {item.id!r:.80}")
    elif isinstance(item, Mapping):
        yield from _settled(map(_card, [item]), f"card {item.get('id', '')!r:.80}")
    elif isinstance(item, (str, os.PathLike)):
        yield from _path(os.fspath(item), root, closed, files)
    elif isinstance(item, Iterable) and not isinstance(item, (bytes, bytearray, memoryview)):
        for each in item:
            yield from load(each, root, closed, files)
    else:
        reason = "this can be no document; give a Document, a path, a card (dict), or a list of these"
        yield Failure(f"{item!r:.80}", reason)


def _card(card: Mapping[str, Any]) -> Document:
    return card_of(card, None)


def _settled(found: Iterable[Document | DocumentError], name: str) -> Iterator[Document | Failure]:
    """Check documents, and turn errors into failures: those yielded, and one that ends the reading."""
    documents = iter(found)
    while True:
        try:
            each = next(documents)
            if isinstance(each, DocumentError):
                raise each
            document = checked(each)
        except StopIteration:
            return
        except DocumentError as error:
            yield Failure(printable(name), str(error))
        except OSError as error:
            yield Failure(printable(name), f"it cannot be read ({error.strerror}); check its permissions")
        else:
            yield document


def _path(
    given: str, root: str | os.PathLike[str] | None, closed: Inodes, files: Files | None
) -> Iterator[Document | Failure]:
    path = Path(given)
    try:
        if path.is_dir():
            for each in walk(path, closed):
                if isinstance(each, Failure):
                    yield each
                else:
                    yield from read(each, path if root is None else Path(root), files)
            return
        readable = path.is_file()
    except (OSError, ValueError):
        readable = False
    if not readable:
        reason = "there is no such file or folder; check the path, or give text as Document(id=…, text=…)"
        yield Failure(printable(f"{given:.200}"), reason)
    elif _inode(path) in closed:
        yield Failure(printable(given), "this is the nest itself; name the files to add to it")
    else:
        yield from read(path, path.parent if root is None else Path(root), files)


def walk(folder: Path, closed: Inodes = frozenset()) -> Iterator[Path | Failure]:
    """List the files of a folder that `load` reads, by name, folder by folder.

    Args:
        folder: Where to begin.
        closed: As for `load`.

    Yields:
        Paths that begin with the folder as given; failures in the places of what is not read.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        reason = f"the folder cannot be read ({error.strerror}); check its permissions"
        yield Failure(printable(str(folder)), reason)
        return
    for entry in entries:
        path = folder / entry.name
        if is_left_out(entry.name) or _inode(path) in closed:
            continue
        try:
            is_file, is_folder = entry.is_file(), entry.is_dir()
        except OSError:
            is_file = is_folder = False  # a link that leads in a circle, or where we may not look
        if is_folder and not entry.is_symlink():
            yield from walk(path, closed)
        elif is_file and path.suffix.lower() in READERS:
            yield path
        elif not is_folder:
            yield _unread(path, is_file)


def is_left_out(name: str) -> bool:
    """Whether a file or folder of this name is passed over in a folder without being reported."""
    return name.startswith(".") or name in _JUNK


def holds_cards(path: str) -> bool:
    """Whether the documents of a file have ids of their own, so that the file's name does not give them."""
    return READERS.get(Path(path).suffix.lower()) is cards


def _unread(path: Path, is_file: bool) -> Failure:
    if is_file:
        reason = f"{path.suffix.lower()} files are not read; convert it to text or Markdown, or leave it out"
    elif path.is_symlink():
        reason = "this is a link to nothing; mend it, or leave it out"
    else:
        reason = "this is no file; leave it out"
    return Failure(printable(str(path)), reason, skipped=True)


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def read(path: Path, root: Path, files: Files | None = None) -> Iterator[Document | Failure]:
    """Read one file, whatever its suffix; the arguments and what is yielded are those of `load`."""
    reader = READERS.get(path.suffix.lower(), _text)
    for each in _settled(reader(path, Path(os.path.relpath(path, root)).as_posix()), str(path)):
        if (
            files is not None
            and isinstance(each, Document)
            and is_storable(absolute := os.path.abspath(path))  # noqa: PTH100 - resolve() follows links
        ):
            files.note(each, absolute)
        yield each


def path_exists(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, folder or anything else at a path."""
    try:
        return os.path.lexists(path)
    except ValueError:
        return False


def are_two_files(one: str | None, other: str | None) -> bool:
    """Whether both sources are files that exist, and not the same one."""
    try:
        return one is not None and other is not None and not Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def is_new_place(file: str, recorded: str | None, same_source: bool) -> bool:
    """Whether a document that is stored with equal content is from now on taken to come from a file.

    Args:
        file: The file that it was read from now.
        recorded: The file that it was read from before, or None. As long as that exists it stays.
        same_source: Whether the stored document names the same source. One that was not read from a file, and
            does not, was given by hand and stays so.
    """
    return same_source if recorded is None else file != recorded and not os.path.lexists(recorded)


def printable(name: str) -> str:
    """A name that can be printed and stored, even of a file whose name is no UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text(path: Path, identity: str) -> Iterator[Document]:
    yield Document(identity, decoded(path.read_bytes()), path.stem, source=str(path))


def _markdown(path: Path, identity: str) -> Iterator[Document]:
    text = decoded(path.read_bytes())
    metadata = front_matter(text)
    title = str(metadata.pop("title", None) or "").strip() or first_title(text) or path.stem
    yield Document(identity, text, title, metadata, str(path))


# The seam for other formats: a reader for each suffix (lower case, with the dot).
READERS: dict[str, Reader] = {
    **dict.fromkeys(PLAIN_SUFFIXES, _text),
    **dict.fromkeys(("", ".txt", ".text"), _text),
    **dict.fromkeys(MARKDOWN_SUFFIXES, _markdown),
    **dict.fromkeys((".jsonl", ".ndjson"), cards),
}
