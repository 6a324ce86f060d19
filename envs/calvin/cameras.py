"""Cameras on the simulator, rendered by pybullet's software renderer when they are asked: CALVIN's own static and
gripper camera for pictures, and four depth cameras of ours around the table, from which objects are detected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.calvin.shims.configuration import camera_config

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from envs.calvin.checkout import Checkout
    from envs.calvin.simulator import Simulator
    from harness.protocols import Floats, Image

_CAMERA_LINK = b"gripper_cam"
_LINK_SHIFT = 24
"""A segmentation's value holds the body below this bit and the link, plus one, above it."""


@dataclass(frozen=True)
class Placed:
    """A camera at one moment: eye (3,), target (3,) and up (3,) in the world frame, metres."""

    eye: Floats
    target: Floats
    up: Floats

    def rotation(self) -> Floats:
        """(3, 3), columns are the camera's right, up and backward directions."""
        back = self.eye - self.target
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        right = right / np.linalg.norm(right)
        return np.stack([right, np.cross(back, right), back], axis=1)


@dataclass(frozen=True)
class Picture:
    """What a camera shows; row 0 at the top."""

    rgb: Image
    """(H, W, 3)."""
    depth: Floats
    """(H, W), metres along the optical axis; infinite where nothing is."""
    bodies: NDArray[np.int32]
    """(H, W), -1 where nothing is."""
    links: NDArray[np.int32]
    """(H, W), -1 for a body's base."""
    points: Floats
    """(H, W, 3): where the surfaces are, metres, world frame; the eye itself where nothing is."""


@dataclass(frozen=True)
class Camera:
    """A square pinhole camera; `fov` in degrees, `near` and `far` in metres."""

    place: Callable[[Simulator], Placed]
    fov: float
    near: float
    far: float
    pixels: int

    def render(self, simulator: Simulator, pixels: int | None = None) -> Picture:
        """Draw it now, `pixels` a side if given."""
        physics, size = simulator.physics, pixels or self.pixels
        placed = self.place(simulator)
        _, _, rgb, depth, values = physics.getCameraImage(
            width=size,
            height=size,
            viewMatrix=physics.computeViewMatrix(
                placed.eye.tolist(), placed.target.tolist(), placed.up.tolist()
            ),
            projectionMatrix=physics.computeProjectionMatrixFOV(self.fov, 1.0, self.near, self.far),
            flags=physics.ER_SEGMENTATION_MASK_OBJECT_AND_LINKINDEX,
            renderer=physics.ER_TINY_RENDERER,
        )
        picture = np.reshape(np.asarray(rgb, np.uint8), (size, size, 4))[:, :, :3]
        buffer = np.reshape(np.asarray(depth, np.float64), (size, size))
        segments = np.reshape(np.asarray(values, np.int64), (size, size))
        seen = segments >= 0
        metres = np.where(seen, self.far * self.near / (self.far - (self.far - self.near) * buffer), np.inf)
        return Picture(
            np.ascontiguousarray(picture),
            metres,
            np.where(seen, segments & ((1 << _LINK_SHIFT) - 1), -1).astype(np.int32),
            np.where(seen, (segments >> _LINK_SHIFT) - 1, -1).astype(np.int32),
            (self.rays(size) * np.where(seen, metres, 0.0)[..., None]) @ placed.rotation().T + placed.eye,
        )

    def rays(self, size: int) -> Floats:
        """(H, W, 3), camera frame, of each pixel of a picture `size` a side for a depth of one metre."""
        focal = 0.5 * size / np.tan(np.radians(self.fov) / 2)
        steps = np.arange(size) + 0.5 - size / 2
        across, down = np.meshgrid(steps, steps)
        return np.stack([across / focal, -down / focal, np.full((size, size), -1.0)], axis=-1)


def benchmark_cameras(checkout: Checkout) -> Mapping[str, Camera]:
    """CALVIN's static and gripper camera as the checkout's configs have them."""
    static = camera_config(checkout.simulator, "static")
    fixed = Placed(*(np.array(static[key], np.float64) for key in ("look_from", "look_at", "up_vector")))
    return {
        "static": _from_config(static, lambda _: fixed),
        "gripper": _from_config(camera_config(checkout.simulator, "gripper"), _on_the_gripper),
    }


def depth_cameras(pixels: int) -> Mapping[str, Camera]:
    """Four cameras 1 to 1.3 m from the table. CALVIN's static one is four and a half metres away, further than a depth
    camera measures well, and sees the table from one side only."""
    return {
        name: Camera(_standing(eye, target, up), fov, near=0.1, far=4.0, pixels=pixels)
        for name, (eye, target, up, fov) in _RIG.items()
    }


_TABLE = (0.02, -0.08, 0.46)
_RIG = {
    "front": ((0.62, -1.12, 1.12), _TABLE, (0.0, 0.0, 1.0), 44.0),
    "left": ((-0.95, -0.45, 1.15), _TABLE, (0.0, 0.0, 1.0), 45.0),
    "right": ((0.98, -0.35, 1.10), _TABLE, (0.0, 0.0, 1.0), 45.0),
    "above": ((0.02, -0.12, 1.60), (0.02, -0.1201, 0.44), (0.0, 1.0, 0.0), 45.0),
}


def _standing(eye: Any, target: Any, up: Any) -> Callable[[Simulator], Placed]:
    placed = Placed(np.array(eye), np.array(target), np.array(up))
    return lambda _: placed


def _from_config(config: dict[str, Any], place: Callable[[Simulator], Placed]) -> Camera:
    return Camera(place, config["fov"], config["nearval"], config["farval"], int(config["width"]))


def _on_the_gripper(simulator: Simulator) -> Placed:
    """It looks along the y axis of its link, z downwards, as calvin_env's GripperCamera does."""
    physics = simulator.physics
    count = physics.getNumJoints(simulator.robot)
    link = next(i for i in range(count) if physics.getJointInfo(simulator.robot, i)[12] == _CAMERA_LINK)
    position, orientation = physics.getLinkState(simulator.robot, link)[:2]
    axes = np.array(physics.getMatrixFromQuaternion(orientation)).reshape(3, 3)
    eye = np.array(position)
    return Placed(eye, eye + axes[:, 1], -axes[:, 2])
