"""The compression of .ttm files: one Huffman code over the bytes of the whole body, its tree first. Knows nothing of
what the bytes mean.

The tree is a bit string: a 1 and eight bits are a leaf, a 0 is a node and its two subtrees follow, the one for code bit
0 first. The code words follow at once. The most significant bit of a byte comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST = 48
"""Bits of the longest code that is read; a longer one needs billions of bytes to arise."""
_PREFIX = 16
_CHUNK = 4096
"""Bits that are decoded in a row; many chunks are decoded side by side."""
_LEAD, _GUESSES = 256, 8
_TREE_BYTES = 400
"""A tree of 256 leaves has 2559 bits."""


class DamagedCode(Exception):
    """The bits are no Huffman code of that length."""


@dataclass(frozen=True)
class _Code:
    """The leaves from left to right."""

    starts: NDArray[np.uint64]
    """Their codes, from the most significant bit on."""
    lengths: NDArray[np.int64]
    symbols: NDArray[np.uint8]
    by_prefix: NDArray[np.int16]
    """The leaf of all codes that begin with these `_PREFIX` bits, -1 where these do not tell."""

    def leaves(self, window: NDArray[np.uint64]) -> NDArray[np.int16]:
        """Which leaf each of the words (n,) begins with."""
        found: NDArray[np.int16] = self.by_prefix[window >> np.uint64(64 - _PREFIX)]
        unclear = np.flatnonzero(found < 0)
        if len(unclear):
            found[unclear] = np.searchsorted(self.starts, window[unclear], side="right") - 1
        return found


def decode(body: bytes, length: int) -> bytes:
    """The `length` bytes that a compressed body holds. Raises `DamagedCode`.

    Where a code word begins is known only after all those before it. But decoders that begin at different bits mostly
    fall into step after a few words, so there are few places where a chunk of bits can begin. All of them are decoded
    at once, then what their ends add, until every end is a known start; then the right ones are strung together."""
    code, first = _read_tree(body)
    words, end = _words(body), 8 * len(body)
    edges = np.arange(first, end, _CHUNK)
    guesses = (edges[1:, None] - _LEAD + np.arange(_GUESSES)).ravel()
    starts = np.append(first, _decode(code, words, guesses, edges[1:].repeat(_GUESSES))[0])
    decoded: dict[int, tuple[int, bytes]] = {}
    while len(
        starts := np.array([s for s in set(starts.tolist()) if s < end and s not in decoded], np.int64)
    ):
        ends = np.minimum(edges[(starts - first) // _CHUNK] + _CHUNK, end)
        stops, pieces = _decode(code, words, starts, ends)
        decoded.update(zip(starts.tolist(), zip(stops.tolist(), pieces, strict=True), strict=True))
        starts = stops
    whole, at = [], first
    while at < end:
        at, piece = decoded[at]
        whole.append(piece)
    content = b"".join(whole)
    if len(content) < length:
        raise DamagedCode(f"it holds {len(content)} of {length} bytes")
    return content[:length]


def _decode(
    code: _Code, words: NDArray[np.uint64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[bytes]]:
    """Decode code words side by side from the bits `starts` (n,) until `ends` (n,) are reached or passed; where that was,
    and the symbols of each."""
    at = starts.copy()
    live = np.flatnonzero(at < ends)
    shortest = int(code.lengths.min())
    longest = int((ends - starts).max(initial=0)) // shortest + 1
    symbols = np.empty((longest, len(starts)), np.uint8)
    counts = np.zeros(len(starts), np.int64)
    step = 0
    while len(live):
        here = at[live]
        leaves = code.leaves(words[here >> 3].astype(np.uint64) << (here & 7).astype(np.uint64))
        symbols[step, live] = code.symbols[leaves]
        counts[live] += 1
        here += code.lengths[leaves]
        at[live] = here
        live = live[here < ends[live]]
        step += 1
    rows = np.ascontiguousarray(symbols[:step].T)
    return at, [row[:count].tobytes() for row, count in zip(rows, counts.tolist(), strict=True)]


def _read_tree(body: bytes) -> tuple[_Code, int]:
    """The code, and the bit at which the first code word begins."""
    bits = np.unpackbits(np.frombuffer(body[:_TREE_BYTES], np.uint8))
    starts, lengths, symbols = [], [], []
    at = 0
    waiting = [(0, 0)]
    while waiting:
        prefix, length = waiting.pop()
        leaf = bits[at : at + 9]
        if not len(leaf) or length > _LONGEST:
            raise DamagedCode("it does not begin with a tree of codes")
        if not leaf[0]:
            at += 1
            waiting += [(prefix << 1 | 1, length + 1), (prefix << 1, length + 1)]
            continue
        at += 9
        starts.append(prefix << (64 - length) if length else 0)
        lengths.append(length)
        symbols.append(int(np.packbits(leaf[1:])[0]))
    if len(symbols) < 2 or at > len(bits):
        raise DamagedCode("it does not begin with a tree of codes")
    order = np.array(starts, np.uint64)
    prefixes = np.arange(1 << _PREFIX, dtype=np.uint64) << np.uint64(64 - _PREFIX)
    first = np.searchsorted(order, prefixes, side="right")
    last = np.searchsorted(order, prefixes | np.uint64((1 << (64 - _PREFIX)) - 1), side="right")
    by_prefix = np.where(first == last, first - 1, -1).astype(np.int16)
    return _Code(order, np.array(lengths), np.array(symbols, np.uint8), by_prefix), at


def _words(body: bytes) -> NDArray[np.uint64]:
    """The 64 bits from each byte on, and zeros after the last: a view, in the byte order of the file."""
    return np.ndarray(len(body) + 8, np.dtype(">u8"), body + bytes(16), strides=(1,))
