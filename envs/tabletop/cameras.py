"""The five cameras of the tabletop, by RLBench's names: where they are and what they look at."""

from __future__ import annotations

from typing import Any

from envs.mujoco.cameras import Mount
from envs.tabletop.robot import HAND

FIXED = (
    Mount("front", position=(1.35, 0.0, 1.58), target=(0.15, 0.0, 0.94), fovy=50),
    Mount("left_shoulder", position=(-0.38, 0.78, 1.62), target=(0.25, 0.0, 0.82), fovy=50),
    Mount("right_shoulder", position=(-0.38, -0.78, 1.62), target=(0.25, 0.0, 0.82), fovy=50),
    Mount("overhead", position=(0.30, 0.0, 2.05), target=(0.22, 0.0, 0.75), fovy=45, up=(1.0, 0.0, 0.0)),
)
"""World frame. "Left" is the robot's left, +y."""
WRIST = Mount("wrist", position=(0.085, 0.0, 0.015), target=(0.015, 0.0, 0.20), fovy=70, up=(1.0, 0.0, 0.0))
"""In the frame of the hand: in front of it, looking past the fingers along the tool's z axis."""

NAMES = (*(mount.name for mount in FIXED), WRIST.name)
DEPTH_PIXELS = 128
"""Height and width of depth and segmentation; RLBench's."""
IMAGE_PIXELS = 256
"""Height and width of RGB pictures."""


def add_cameras(spec: Any) -> None:
    """Add all five to a `mujoco.MjSpec` that holds the robot."""
    for mount in FIXED:
        mount.add_to(spec.worldbody)
    WRIST.add_to(spec.body(HAND))
