"""Reads an lmdb without mapping it into memory.

The lmdb library trusts its file: one that was cut short ends the process with a
bus error. This reader follows the B+tree (the on-disk format of lmdb 0.9 on
64-bit little-endian machines) with bounds checked and ordinary reads.
"""

import os
import pathlib
import struct
from collections.abc import Iterator
from typing import NamedTuple

from srmcmc_tf.files import paths

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_HEADER = struct.Struct("<QHHHH")  # page number, pad, flags, lower, upper
_META = struct.Struct("<IIQQ")  # magic, version, address, size of the map
_TREE = struct.Struct(
    "<IHHQQQQQ"
)  # pad, flags, depth, pages (3), entries, root
_NODE = struct.Struct("<HHHH")  # low, high, flags, length of the key
_META_SIZE = _HEADER.size + _META.size + 2 * _TREE.size + 16
_BRANCH, _LEAF, _OVERFLOW = 1, 2, 4  # kinds of pages
_KINDS = 0x67
_ELSEWHERE = 1  # flag of a node: the value has pages of its own
_NO_PAGE = 2**64 - 1
_MAX_VALUE = 2**28


class Value(NamedTuple):
    """Where a value is: its page, if it has pages of its own, and its bytes."""

    page: int | None
    offset: int
    length: int


class LmdbFile:
    """The main database of an lmdb.

    Args:
        path: the file `data.mdb`.

    Attributes:
        size: number of entries.

    Raises:
        ValueError: here and in all methods, if the file is not a sound lmdb;
            one line without the file's name.
    """

    def __init__(self, path: pathlib.Path) -> None:
        paths.regular(path)
        self._file = open(path, "rb", buffering=0)
        self._bytes = os.fstat(self._file.fileno()).st_size
        self._page_size = 4096
        metas = [self._meta(0)]
        if metas[0]:
            self._page_size = metas[0][1][0]
        metas.append(self._meta(self._page_size))
        found = [meta for meta in metas if meta]
        if not found:
            raise ValueError("not an lmdb, or one of another kind of machine")
        _, (self._page_size, *_), tree = max(found)
        _, flags, self._depth, _, self._leaves, _, self.size, self._root = tree
        if flags & 4:
            raise ValueError("an lmdb with several values per key")

    def values(self) -> Iterator[tuple[bytes, Value]]:
        """Yields keys in order, and where their values are.

        Every entry is known to lie inside the file.
        """
        found = leaves = 0
        if self._root != _NO_PAGE:
            for page, count in self._walk(self._root, 1):
                leaves += 1
                # Pages that refer to each other could go on for very long.
                if leaves > self._leaves:
                    raise ValueError("damaged: more pages than it states")
                for i in range(count):
                    yield self._entry(*page, i)
                found += count
        if found != self.size:
            raise ValueError(f"damaged: {found:,} of {self.size:,} entries")

    def read(self, value: Value) -> bytes:
        """The bytes of a value."""
        if value.page is not None:
            number, _, flags, low, high = self._header(value.page)
            pages = low | high << 16
            needed = value.length + _HEADER.size
            if flags & _KINDS != _OVERFLOW or pages * self._page_size < needed:
                raise ValueError(f"page {number} is damaged")
        return self._read(value.offset, value.length)

    def _meta(self, place: int) -> tuple[int, tuple, tuple] | None:
        """Number of the transaction, and the two trees, of a meta page."""
        try:
            content = self._read(place, _META_SIZE)
        except ValueError:
            return None
        content = content[_HEADER.size :]
        if _META.unpack_from(content)[:2] != (_MAGIC, _VERSION):
            return None
        free = _TREE.unpack_from(content, _META.size)
        main = _TREE.unpack_from(content, _META.size + _TREE.size)
        page_size = free[0]
        if not 512 <= page_size <= 2**16 or page_size & (page_size - 1):
            return None
        return struct.unpack_from("<Q", content[-8:])[0], free, main

    def _walk(
        self, number: int, level: int
    ) -> Iterator[tuple[tuple[int, bytes], int]]:
        """Yields (number and content, number of entries) of leaves in order."""
        if level > min(self._depth, 32):
            raise ValueError(f"page {number} is damaged: the tree is too deep")
        page = self._read(number * self._page_size, self._page_size)
        at, _, flags, lower, upper = _HEADER.unpack_from(page)
        count = (lower - _HEADER.size) // 2
        if at != number or not _HEADER.size <= lower <= upper <= len(page):
            raise ValueError(f"page {number} is damaged")
        if flags & _KINDS == _LEAF:
            yield (number, page), count
        elif flags & _KINDS == _BRANCH:
            for i in range(count):
                low, high, top, _ = self._node(number, page, i)[1]
                yield from self._walk(low | high << 16 | top << 32, level + 1)
        else:
            raise ValueError(f"page {number} is damaged, or of another kind")

    def _entry(self, number: int, page: bytes, i: int) -> tuple[bytes, Value]:
        place, (low, high, flags, key_length) = self._node(number, page, i)
        key = page[place : place + key_length]
        place += key_length
        length = low | high << 16
        elsewhere = flags == _ELSEWHERE
        end = place + (8 if elsewhere else length)
        if flags not in (0, _ELSEWHERE) or end > len(page):
            raise ValueError(f"page {number} is damaged, or of another kind")
        if length > _MAX_VALUE:
            raise ValueError(f"page {number} is damaged: {length:,} bytes")
        if not elsewhere:
            offset = number * self._page_size + place
            return key, Value(None, offset, length)
        first = int.from_bytes(page[place:end], "little")
        offset = first * self._page_size + _HEADER.size
        self._check(offset, length)
        return key, Value(first, offset, length)

    def _node(
        self, number: int, page: bytes, i: int
    ) -> tuple[int, tuple[int, int, int, int]]:
        """The place after the head of the i-th node, and the head."""
        at = _HEADER.size + 2 * i
        place = page[at] | page[at + 1] << 8
        if place + _NODE.size > len(page):
            raise ValueError(f"page {number} is damaged")
        return place + _NODE.size, _NODE.unpack_from(page, place)

    def _header(self, number: int) -> tuple[int, int, int, int, int]:
        content = self._read(number * self._page_size, _HEADER.size)
        header = _HEADER.unpack(content)
        if header[0] != number:
            raise ValueError(f"page {number} is damaged")
        return header

    def _check(self, offset: int, length: int) -> None:
        if offset + length > self._bytes:
            raise ValueError(
                f"it ends after {self._bytes:,} bytes, but has data at "
                f"{offset:,}: it is incomplete"
            )

    def _read(self, offset: int, length: int) -> bytes:
        self._check(offset, length)
        content = os.pread(self._file.fileno(), length, offset)
        if len(content) < length:
            raise ValueError("it became shorter while it was read")
        return content
