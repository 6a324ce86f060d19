"""Poses as CoppeliaSim writes them: a unit quaternion wxyz and a position in metres, relative to a parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.protocols import Pose

if TYPE_CHECKING:
    from harness.protocols import Floats

IDENTITY = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def compose(outer: Pose, inner: Pose) -> Pose:
    """`inner`, given in the frame of `outer`, in the frame that `outer` is given in."""
    (w, x, y, z), (p, q, r, s) = outer.quaternion, inner.quaternion
    turned = np.array(
        [
            w * p - x * q - y * r - z * s,
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
        ]
    )
    position = outer.position + rotated(outer.quaternion, inner.position[None])[0]
    return Pose(position, turned / np.linalg.norm(turned))


def rotated(quaternion: Floats, points: Floats) -> Floats:
    """Points (N, 3) turned by a quaternion."""
    unit = quaternion / np.linalg.norm(quaternion)
    twice = 2.0 * np.cross(unit[1:], points)
    turned: Floats = points + unit[0] * twice + np.cross(unit[1:], twice)
    return turned
