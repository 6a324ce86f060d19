"""Triangle meshes of a .ttm file. The vertices and the indices of all shapes lie in one pool (`VIN`), and equal ones
only once; a shape's part names them by their number and says how they lie in the frame of the shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from envs.rlbench.ttm.poses import rotated
from envs.rlbench.ttm.records import Damaged, Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

Item = TypeVar("Item")

_SHORT, _MIDDLE = 64, 128
"""A first byte below the one is a whole step, below the other the first of two bytes, else the first of three."""


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour."""

    vertices: Floats
    """(V, 3), metres, in the frame of the shape."""
    faces: NDArray[np.int32]
    """(F, 3), rows of `vertices`."""
    colour: tuple[float, float, float]
    """RGB from 0 to 1."""


class Pool:
    """The vertices and indices that shapes refer to."""

    def __init__(self, record: Record | None) -> None:
        parts = record.sequence() if record is not None else []
        self._vertices = [part for part in parts if part.tag == "Ver"]
        self._faces = [_faces(part) for part in parts if part.tag == "In2"]

    def meshes(self, geometry: Record) -> tuple[Mesh, ...]:
        """The meshes of a shape's geometry: of a simple one, or of all parts of a group, in their order."""
        parts = geometry.parts()
        if "Vev" in parts:
            return (self._mesh(parts),)
        found: list[Mesh] = []
        for part in geometry.sequence():
            if part.tag in _GEOMETRY:
                found += self.meshes(part)
        return tuple(found)

    def _mesh(self, parts: dict[str, Record]) -> Mesh:
        vertices = _chosen(self._vertices, parts["Vev"]).array("<f4").reshape(-1, 3).astype(np.float64)
        faces = _chosen(self._faces, parts["Inv"])
        if faces.size and faces.max() >= len(vertices):
            raise Damaged(f"a face names vertex {faces.max()} of {len(vertices)}", parts["Inv"].start)
        frame = parts["Ppf"].array("<f4", 7).astype(np.float64)
        red, green, blue = parts["Cl0"].parts()["Cl3"].array("<f4", 3).tolist()
        return Mesh(rotated(frame[3:], vertices) + frame[:3], faces, (red, green, blue))


# A simple shape, a group, and the simple and the grouped parts of a group.
_GEOMETRY = ("Gst", "Gsg", "Geo", "Wrp")


def _chosen(pool: Sequence[Item], reference: Record) -> Item:
    number = reference.integer()
    if not 0 <= number < len(pool):
        raise Damaged(f"{reference.tag} names number {number} of {len(pool)}", reference.start)
    return pool[number]


def _faces(record: Record) -> NDArray[np.int32]:
    """(F, 3). The indices follow each other by steps: six bits with 31 for no step, or 14 or 22 bits, six of them in
    the first byte, with 2^13 - 1 or 2^21 - 1 for none."""
    count = record.integer()
    packed = record.array("u1", skip=4)
    width = 1 + (packed >= _SHORT).astype(np.int64) + (packed >= _MIDDLE)
    # Where a step begins is known only from the one before; twice as far is found from what is known so far.
    beyond = len(packed) + 1
    following = np.append(np.minimum(np.arange(len(packed)) + width, beyond), [beyond, beyond])
    starts = np.zeros(1, np.int64)
    while len(starts) <= count:
        starts = np.append(starts, following[starts])
        following = following[following]
    if count % 3 or count < 0 or starts[count] != len(packed):
        raise Damaged(f"{count} indices do not fill {len(packed)} bytes", record.start)
    starts = starts[:count]
    wide = np.append(packed, [0, 0]).astype(np.int64)
    steps = wide[starts] & 63
    steps += np.where(width[starts] > 1, wide[starts + 1] << 6, 0)
    steps += np.where(width[starts] > 2, wide[starts + 2] << 14, 0)
    steps -= np.array([0, 31, (1 << 13) - 1, (1 << 21) - 1])[width[starts]]
    indices = np.cumsum(steps)
    if count and indices.min() < 0:
        raise Damaged("an index is negative", record.start)
    return indices.astype(np.int32).reshape(-1, 3)
