"""A segment in a file that is mapped into memory, written once and never changed.

::

    arrays, each at a multiple of 64 bytes │ index: JSON │ its length │ its checksum │ magic     8 bytes each

The index gives each array's type, shape, place and checksum. What ends before the magic was not written whole.
What is mapped is checked when a process first uses the file. In a large file single vectors and postings, which
have checksums of their own, are not mapped, and checked each time they are read.
"""

from __future__ import annotations

import json
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_64, xxh3_64_intdigest

from nestling.stores.segment import Array, CacheDamagedError, Positions, Segment, postings_sum, row_sums
from nestling.stores.segment_merging import Pieces

MAGIC = b"NESTSEG1"
ALIGNED = 64
# Files up to so many bytes may be in memory as a whole.
MAPPED = 2**29
# read here and there, and checked where they are read
_LOOKED_UP = {"document.exact", "parent.exact", "child.exact", "posting.child", "posting.count"}

Identity = tuple[int, int, int, int]


class FileLookups:
    """Reads vectors and postings from a file.

    A page of the map would bring hundreds of its neighbours into the process, and soon all of the file.
    """

    def __init__(
        self, path: Path, descriptor: int, arrays: Mapping[str, Array], index: Mapping[str, Any]
    ) -> None:
        """``arrays`` are the file's, mapped, and ``index`` says where they are in it."""
        self._path, self._descriptor, self._arrays, self._index = path, descriptor, arrays, index
        weakref.finalize(self, os.close, descriptor)

    def rows(self, name: str, positions: Positions) -> Array:
        """The rows of an array at these positions."""
        at, array = self._index[name]["at"], self._arrays[name]
        size = array.shape[1] * array.itemsize
        data = b"".join([os.pread(self._descriptor, size, at + n * size) for n in positions.tolist()])
        return self._array(data, array.dtype, len(positions) * array.shape[1]).reshape(-1, array.shape[1])

    def span(self, name: str, begin: int, end: int) -> Array:
        """The values of an array from one position up to another."""
        at, array = self._index[name]["at"], self._arrays[name]
        size = array.itemsize
        data = os.pread(self._descriptor, (end - begin) * size, at + begin * size)
        return self._array(data, array.dtype, end - begin)

    def check(self, names: Iterable[str] | None = None) -> None:
        """Read these arrays, or all.

        Raises:
            CacheDamagedError: One does not hold what was written.
        """
        for name in self._index if names is None else names:
            if xxh3_64_intdigest(self._arrays[name].data) != self._index[name]["sum"]:
                raise CacheDamagedError(f"{name} in {self._path} is damaged")

    def _array(self, data: bytes, kind: np.dtype[Any], count: int) -> Array:
        if len(data) != count * kind.itemsize:
            raise CacheDamagedError(f"{self._path} ends before it should")
        return np.frombuffer(data, kind)


@dataclass(eq=False)
class SegmentFile:
    """An open file: its segment, and what it was when it was mapped."""

    path: Path
    segment: Segment
    identity: Identity
    file: FileLookups
    _checked: bool = field(default=False)

    def check(self, again: bool = False) -> None:
        """Check, once, all that is not checked where it is read; ``again`` and the rest too, if that is said.

        Raises:
            CacheDamagedError: The file does not hold what was written.
        """
        if again:
            self.file.check(self.segment.arrays.keys())
        elif not self._checked:
            looked_up = _LOOKED_UP if self.segment.lookups else set()
            self.file.check(self.segment.arrays.keys() - looked_up)
            self._checked = True


def write(path: Path, arrays: Mapping[str, Pieces]) -> None:
    """Write a segment's arrays, with the checksums of what is looked up."""
    index: dict[str, dict[str, Any]] = {}
    with path.open("wb") as file:
        for name, pieces in arrays.items():
            own: list[Array] = []
            index[name] = _write(file, _summed(pieces(), own) if name.endswith(".exact") else pieces())
            if own:
                index[f"{name}_sum"] = _write(file, [np.concatenate(own)])
        sums = _word_sums(arrays)
        index["word.sum"] = _write(file, [sums])
        text = json.dumps(index).encode()
        file.write(text)
        file.write(len(text).to_bytes(8, "little") + xxh3_64_intdigest(text).to_bytes(8, "little") + MAGIC)


def _summed(pieces: Iterable[Array], sums: list[Array]) -> Iterator[Array]:
    for piece in pieces:
        sums.append(row_sums(piece))
        yield piece


def _write(file: Any, pieces: Iterable[Array]) -> dict[str, Any]:
    file.write(bytes(-file.tell() % ALIGNED))
    at, rows, digest = file.tell(), 0, xxh3_64()
    last = None
    for piece in pieces:
        last = np.ascontiguousarray(piece)
        file.write(last.data)
        digest.update(last.data)
        rows += len(last)
    assert last is not None
    return {"type": last.dtype.str, "shape": [rows, *last.shape[1:]], "at": at, "sum": digest.intdigest()}


def _word_sums(arrays: Mapping[str, Pieces]) -> Array:
    first, child, count = (
        np.concatenate(list(arrays[name]())) for name in ("word.first", "posting.child", "posting.count")
    )
    at = first.tolist()
    sums = (postings_sum(child[begin:end], count[begin:end]) for begin, end in pairwise(at))
    return np.fromiter(sums, np.uint64, len(at) - 1)


def map_file(path: Path, name: str) -> SegmentFile:
    """Map a file.

    Raises:
        CacheDamagedError: It was not written whole, or its index is damaged.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size < 24:
            raise CacheDamagedError(f"{path} was not written whole")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        descriptor = os.dup(file.fileno())
    index = _index(path, data)
    arrays = {
        key: np.frombuffer(data, np.dtype(entry["type"]), int(np.prod(entry["shape"])), entry["at"]).reshape(
            entry["shape"]
        )
        for key, entry in index.items()
    }
    own = FileLookups(path, descriptor, arrays, index)
    large = status.st_size > MAPPED and hasattr(os, "pread")
    return SegmentFile(path, Segment(arrays, name, own if large else None), identity(status), own)


def _index(path: Path, data: mmap.mmap) -> dict[str, Any]:
    tail = data[-24:]
    length = int.from_bytes(tail[:8], "little")
    text = data[-24 - length : -24] if length <= len(data) - 24 else b""
    if tail[16:] != MAGIC or xxh3_64_intdigest(text) != int.from_bytes(tail[8:16], "little"):
        raise CacheDamagedError(f"{path} was not written whole, or its index is damaged")
    index: dict[str, Any] = json.loads(text)
    return index


def identity(status: os.stat_result) -> Identity:
    """What differs once a file was replaced or written to: device, inode, time, size."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
