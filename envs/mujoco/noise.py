"""What an RGB-D camera and a detector get wrong: noise of the depth, calibration of the cameras, masks, positions.

A trial draws its errors once; what changes from look to look depends on the trial and on the moment only, so that
looking more often, or at other objects, changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats

DEPTH = (0.0012, 0.0019, 0.4)
"""Standard deviation of a pixel's depth z: a + b (z - c)^2 metres. The axial noise of a structured-light camera
as measured by Nguyen, Izadi and Lovell (3DIM/PVT 2012): 1.2 mm nearby, 3 mm at 1.4 m."""
CAMERA_SHIFT = 0.0015
"""Standard deviation of a camera's position, metres an axis. Ours: what is left after a careful calibration with a
printed target, where the parts of a rig disagree by two to four millimetres at a metre."""
CAMERA_TURN = 0.0015
"""The same for its orientation, radians an axis: 2 mm at 1.4 m."""
OBJECT_SHIFT = (0.004, 0.004, 0.002)
"""Standard deviation of where a detector puts an object as a whole, metres along x, y, z. Ours: half a pixel of the
mask at 1.3 m, which is what segmentation networks are off by at best. It leaves a grasp by the centre of a 4 cm
thing safe, and one of a thing near the limit of the opening not."""
BORDER_LOSS = 0.5
"""Chance that a pixel at the border of a mask is missed."""
INNER_LOSS = 0.05
"""Chance that another pixel of a mask is missed."""


class Noise:
    """The errors of one trial. `scale` multiplies all of them; at 0 nothing is changed, to the bit."""

    def __init__(
        self, generator: np.random.Generator, cameras: int, objects: Sequence[str], scale: float = 1.0
    ) -> None:
        self.scale = scale
        self._trial = int(generator.integers(2**63))
        self.camera_shift: Floats = scale * CAMERA_SHIFT * generator.standard_normal((cameras, 3))
        """(C, 3), metres, camera frame."""
        self.camera_turn: Floats = scale * CAMERA_TURN * generator.standard_normal((cameras, 3))
        """(C, 3), rotation vectors in radians, camera frame."""
        shifts = scale * np.array(OBJECT_SHIFT) * generator.standard_normal((len(objects), 3))
        self.object_shift: dict[str, Floats] = dict(zip(objects, shifts, strict=True))
        """(3,) by name, metres, world frame."""

    def depth(self, depth: Floats, moment: int) -> Floats:
        """Depth images (C, H, W) in metres as they are measured at a moment, counted in steps."""
        if self.scale == 0:
            return depth
        base, growth, centre = DEPTH
        grain = self._grain("depth", moment).standard_normal(depth.shape, np.float32)
        spread = np.where(np.isfinite(depth), base + growth * (depth - centre) ** 2, 0.0)
        noisy: Floats = depth + self.scale * spread * grain
        return noisy

    def mask(self, mask: NDArray[np.bool_], moment: int) -> NDArray[np.bool_]:
        """Masks (C, H, W) of one object with pixels missing, most of them along the border."""
        if self.scale == 0:
            return mask
        luck = self._grain("mask", moment).random(mask.shape, np.float32)
        inner = mask.copy()
        inner[:, 1:] &= mask[:, :-1]
        inner[:, :-1] &= mask[:, 1:]
        inner[:, :, 1:] &= mask[:, :, :-1]
        inner[:, :, :-1] &= mask[:, :, 1:]
        loss = self.scale * np.where(inner, INNER_LOSS, BORDER_LOSS)
        return mask & (luck >= loss)

    def _grain(self, what: str, moment: int) -> np.random.Generator:
        return np.random.default_rng((self._trial, moment, ("depth", "mask").index(what)))
