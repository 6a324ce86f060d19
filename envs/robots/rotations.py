"""Turns as quaternions wxyz and as rotation vectors, in numpy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.protocols import Floats


def multiply(first: Floats, second: Floats) -> Floats:
    """Product of two quaternions wxyz."""
    w, v = first[0], first[1:]
    return np.array(
        [w * second[0] - v @ second[1:], *(w * second[1:] + second[0] * v + np.cross(v, second[1:]))]
    )


def rotate(quaternion: Floats, vector: Floats) -> Floats:
    """A vector (3,) turned by a unit quaternion wxyz."""
    turned = 2.0 * np.cross(quaternion[1:], vector)
    result: Floats = vector + quaternion[0] * turned + np.cross(quaternion[1:], turned)
    return result


def from_vector(vector: Floats) -> Floats:
    """Quaternion wxyz of a rotation vector, radians."""
    angle = float(np.linalg.norm(vector))
    # sinc is that of pi x.
    return np.array([np.cos(angle / 2), *(vector * 0.5 * np.sinc(angle / (2 * np.pi)))])


def to_vector(quaternion: Floats) -> Floats:
    """Rotation vector of a unit quaternion, at most pi long."""
    w, v = (quaternion[0], quaternion[1:]) if quaternion[0] >= 0 else (-quaternion[0], -quaternion[1:])
    length = float(np.linalg.norm(v))
    result: Floats = v * (2.0 * np.arctan2(length, w) / length if length > 1e-12 else 2.0)
    return result
