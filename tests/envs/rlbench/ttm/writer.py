"""Writes small .ttm files for tests: Huffman code, records, and objects with what the reader looks at."""

from __future__ import annotations

import heapq
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

END = b"EOO"
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)


def record(tag: str, *content: bytes) -> bytes:
    whole = b"".join(content)
    return tag.encode() + struct.pack("<i", len(whole)) + whole


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def integers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def text(value: str) -> bytes:
    return integers(len(value.encode())) + value.encode()


def entry(
    tag: str,
    identity: int,
    parent: int,
    name: str,
    position: Sequence[float] = ORIGIN,
    quaternion: Sequence[float] = UPRIGHT,
    renderable: bool = True,
    more: bytes = b"",
    without: str = "",
) -> bytes:
    """An object: what all have in common, then `more`; the part `without` is left out."""
    common = {
        "3do": b"9:;",
        "Cfq": floats(*quaternion, *position),
        "Ids": integers(identity, parent),
        "Anm": text("another name"),
        "Nme": text(name),
        "Omp": integers(0x1F3 | renderable << 9),
    }
    kept = [record(part, content) for part, content in common.items() if part != without]
    return record(tag, *kept, b"NXT", more, END)


def joint(
    kind: int,
    position: float = 0.0,
    limits: tuple[float, float] = (0.0, 1.0),
    cyclic: bool = False,
    pitch: float = 0.0,
    rotation: Sequence[float] = UPRIGHT,
) -> bytes:
    return b"".join(
        [
            record("Jtt", integers(kind)),
            record("Jsp", floats(pitch)),
            record("Jst", floats(*rotation)),
            record("Va9", bytes([0b10001000 | cyclic])),
            record("Pmr", floats(limits[0], limits[1] - limits[0])),
            record("Prt", floats(position)),
        ]
    )


def geometry(
    vertices: int,
    faces: int,
    position: Sequence[float] = ORIGIN,
    quaternion: Sequence[float] = UPRIGHT,
    colour: Sequence[float] = (0.5, 0.5, 0.5),
) -> bytes:
    """The content of a simple shape's geometry: numbers in the pool, and where they lie."""
    return b"".join(
        [
            record("Nme", text("sub")),
            record("Vtb", floats(9, 9, 9, *UPRIGHT)),
            record("Var", b"$"),
            END,
            record(
                "Cl0", record("Cl2", floats(*[-1.0] * 15)), record("Cl3", floats(*colour, *[0.0] * 12)), END
            ),
            record("Vev", integers(vertices)),
            record("Inv", integers(faces)),
            record("Ppf", floats(*position, *quaternion)),
            END,
        ]
    )


def simple(*arguments: Any, **keywords: Any) -> bytes:
    return record("Ge2", record("Gst", geometry(*arguments, **keywords)), END)


def packed(indices: Iterable[int]) -> bytes:
    """Indices as the steps between them."""
    content, before, number = bytearray(), 0, 0
    for index in indices:
        step, before, number = index - before, index, number + 1
        if -31 <= step <= 32:
            content.append(step + 31)
        elif -8191 <= step <= 8192:
            raw = step + 8191
            content += bytes([64 | raw & 63, raw >> 6])
        else:
            raw = step + (1 << 21) - 1
            content += bytes([128 | raw & 63, raw >> 6 & 255, raw >> 14])
    return integers(number) + bytes(content)


def pool(vertices: Sequence[Sequence[float]], faces: Sequence[Sequence[int]]) -> bytes:
    parts = [record("Ver", floats(*points)) for points in vertices]
    parts += [record("In2", packed(indices)) for indices in faces]
    return record("VIN", *parts, record("No2", b"\0" * 6), END)


def huffman(content: bytes) -> bytes:
    """The tree and the code words. One symbol alone is given a partner."""
    counted = Counter(content)
    for extra in range(2):
        counted.setdefault(extra, 0)
    order = count()
    heap: list[tuple[int, int, Any]] = [(number, next(order), symbol) for symbol, number in counted.items()]
    heapq.heapify(heap)
    while len(heap) > 1:
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (first[0] + second[0], next(order), (first[2], second[2])))
    codes: dict[int, str] = {}
    tree = _numbered(heap[0][2], "", codes)
    bits = tree + "".join([codes[symbol] for symbol in content])
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _numbered(node: Any, prefix: str, codes: dict[int, str]) -> str:
    if isinstance(node, int):
        codes[node] = prefix
        return f"1{node:08b}"
    return "0" + _numbered(node[0], prefix + "0", codes) + _numbered(node[1], prefix + "1", codes)


def header(length: int, version: int = 22, compression: int = 1) -> bytes:
    start = b"VREP" + integers(version, 18) + bytes([compression]) + integers(length, 0, 0x0110778A, 2)
    return start + bytes(1021 - len(start))


def model(*objects: bytes, **changes: Any) -> bytes:
    """A file of these objects, behind records that the reader passes over."""
    body = record("BBC", record("Mo2", floats(0.25, 0, 0.75)), END) + b"".join(objects) + b"EOF"
    return header(len(body), **changes) + huffman(body)
