"""The frame of a .ttm file: its header, and the records in its body. Knows no object of a scene.

A file is a header of 1021 bytes and a compressed body. The body is a sequence of records: three letters, an int32
with the length, and so many bytes, which may be records again. `NXT` (the next part of an object), `EOO` (the end of one)
and `EOF` have neither length nor content. Numbers are little endian."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.rlbench.ttm import huffman
from harness.failures import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS = (21, 22)
"""Serialisation numbers that are read: those of the models of RLBench. CoppeliaSim 4.2 and later write others."""
_MAGIC = b"VREP"
_HEADER = struct.Struct("<4siiBi")
_HEADER_BYTES = 1021
_BARE = frozenset({"NXT", "EOO", "EOF"})


class Damaged(Exception):
    """What is wrong, and at which byte of the body."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(f"{what} at byte {offset} of the uncompressed body")


@dataclass(frozen=True)
class Record:
    """A tag and where its content lies in `body`."""

    tag: str
    body: bytes
    start: int
    end: int

    def parts(self) -> dict[str, Record]:
        """The records in this one by tag; of several with one tag, the first."""
        found: dict[str, Record] = {}
        for part in records(self.body, self.start, self.end):
            found.setdefault(part.tag, part)
        return found

    def sequence(self) -> list[Record]:
        """The records in this one, in their order."""
        return list(records(self.body, self.start, self.end))

    def array(self, dtype: str, count: int = -1, skip: int = 0) -> NDArray[Any]:
        """The content from byte `skip` on as numbers; all of them, or the first `count`. Raises `Damaged`."""
        size = np.dtype(dtype).itemsize
        here = self.end - self.start - skip
        if count < 0:
            count = here // size
        if here < count * size:
            raise Damaged(f"{self.tag} has {self.end - self.start} bytes and should have more", self.start)
        return np.frombuffer(self.body, dtype, count, self.start + skip)

    def integer(self, dtype: str = "<i4") -> int:
        return int(self.array(dtype, 1)[0])

    def text(self) -> str:
        """The content as an int32 length and so many characters. Raises `Damaged`."""
        return bytes(self.array("u1", self.integer(), skip=4)).decode("utf-8", "replace")


def records(body: bytes, start: int, end: int) -> Iterator[Record]:
    """The records between two bytes, without those that have no content. Raises `Damaged`."""
    at = start
    while at < end:
        tag = body[at : at + 3].decode("latin-1")
        if tag in _BARE:
            at += 3
            continue
        if not (len(tag) == 3 and tag.isascii() and tag.isalnum()) or at + 7 > end:
            raise Damaged(f"no record begins with {tag!r}", at)
        content = at + 7
        (length,) = struct.unpack_from("<i", body, at + 3)
        if not 0 <= length <= end - content:
            raise Damaged(f"{tag} has a length of {length} bytes where {end - content} are left", at)
        yield Record(tag, body, content, content + length)
        at = content + length


def read_body(path: Path) -> bytes:
    """The uncompressed body of a file. Raises `UsageError`, which names the file, the place and what to do."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    if content[:4] != _MAGIC:
        raise UsageError(
            f"{path} is no CoppeliaSim model: it begins with {content[:4]!r} at byte 0, not with {_MAGIC!r}. "
            "Give the path of a .ttm file; one that a clone left as a pointer needs `git lfs pull`."
        )
    if len(content) <= _HEADER_BYTES:
        raise UsageError(
            f"{path} is cut off at byte {len(content)}, within its header of {_HEADER_BYTES} bytes. Copy or clone it anew."
        )
    _, version, _, compression, length = _HEADER.unpack_from(content)
    if version not in VERSIONS:
        raise UsageError(
            f"{path} has serialisation number {version} at byte 4; {' and '.join(map(str, VERSIONS))} are read. Save "
            "the model with CoppeliaSim 4.1."
        )
    if compression != 1:
        raise UsageError(
            f"{path} has compression {compression} at byte 12; only 1 (Huffman) is read. Save the model compressed."
        )
    try:
        return huffman.decode(content[_HEADER_BYTES:], length)
    except huffman.DamagedCode as damage:
        raise UsageError(
            f"{path} is cut off or damaged: of the body that begins at byte {_HEADER_BYTES}, {damage}. "
            "Copy or clone it anew."
        ) from None
