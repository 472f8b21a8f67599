"""A file that is made whole or not at all, and never in the place of another."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nestling.errors import FullError, InputError, NestlingError, NotFoundError, ReadOnlyError, StoreError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a draft to write beside ``path``, and put it there when the block ends well.

    Whatever goes wrong, ``path`` does not exist afterwards, nor anything beside it. When the block has ended
    well, the file is on the disk.

    Raises:
        InputError: There is something at ``path``, or it came while the draft was written.
        NotFoundError: There is no folder for it.
        ReadOnlyError: The folder cannot be written.
        FullError: The disk, or a quota on it, is full.
        StoreError: It cannot be written for another reason.
    """
    _refuse_existing(path)
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent} to make {path.name} in; make it first")
    if not os.access(path.parent, os.W_OK):
        raise _unwritable(path)
    draft = path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex}.tmp")
    try:
        yield draft
        _sync(draft)
        _publish(draft, path)
        _sync(path.parent)
    except OSError as error:
        raise _mapped(error, path) from error
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            # a read-only disk refuses to remove even what is not there
            if os.path.lexists(f"{draft}{end}"):
                Path(f"{draft}{end}").unlink()


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        kind = "a folder" if path.is_dir() else "there already"
        raise InputError(f"{path} is {kind} and is left as it is; give the path of a new file")


def _publish(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        _refuse_existing(path)
        raise
    except OSError:
        # a file system without links: take the name first, so that no other file is replaced
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            _refuse_existing(path)
            raise
        draft.replace(path)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name != "posix":
        return  # only there can a folder be opened
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mapped(error: OSError, path: Path) -> NestlingError:
    if error.errno in _FULL:
        return FullError(f"the disk of {path} is full; nothing was left there; make room and run it again")
    if error.errno in _UNWRITABLE:
        return _unwritable(path)
    return StoreError(f"{path} cannot be written: {error}; check the path and the disk")


def _unwritable(path: Path) -> ReadOnlyError:
    return ReadOnlyError(f"{path} cannot be made: its folder cannot be written; check its permissions")
