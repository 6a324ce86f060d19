"""Cameras on bodies of a `mujoco.MjSpec`, aimed by what they look at. Not what they see: that is `rays`, `gl`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mount:
    """A pinhole camera: where it is, what it looks at (metres, frame of its body) and its vertical field of view
    (degrees). `up` points upwards in the picture as far as that is possible."""

    name: str
    position: tuple[float, float, float]
    target: tuple[float, float, float]
    fovy: float
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def add_to(self, body: Any) -> None:
        """Add the camera to a body of the spec, `spec.worldbody` for one that stands still."""
        body.add_camera(
            name=self.name,
            pos=list(self.position),
            quat=looking(self.position, self.target, self.up),
            fovy=self.fovy,
        )


def looking(position: Sequence[float], target: Sequence[float], up: Sequence[float]) -> list[float]:
    """Quaternion wxyz of a camera at `position` that looks at `target`: MuJoCo's cameras look along -z with y up.

    Raises `ValueError` when the direction is not defined: the points coincide or `up` is parallel to the view."""
    import mujoco
    import numpy as np

    back = np.subtract(position, target).astype(np.float64)
    right = np.cross(up, back)
    if np.linalg.norm(right) < 1e-9:
        raise ValueError(f"a camera at {position} cannot look at {target} with {up} upwards")
    back /= np.linalg.norm(back)
    right /= np.linalg.norm(right)
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.stack([right, np.cross(back, right), back], axis=1).ravel())
    return [float(value) for value in quaternion]
