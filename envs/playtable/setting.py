"""The playtable: a desk with a drawer, a shelf behind a sliding door, a switch and a button, laid out as CALVIN's
scene D is. The arm stands at the desk's left front corner and faces across it; x runs from left to right along the
desk, y from its front to its back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from envs.mujoco.cameras import Mount
from envs.mujoco.look import soften
from envs.mujoco.setting import Setting

DESK_TOP = 0.44
"""Height of the desk's surface, metres."""

CAMERAS = (
    Mount("static", position=(0.62, -1.12, 1.12), target=(0.02, -0.08, 0.46), fovy=42),
    Mount("left", position=(-0.95, -0.25, 1.15), target=(-0.05, -0.08, 0.46), fovy=45),
    Mount("right", position=(0.98, -0.35, 1.10), target=(0.02, -0.08, 0.46), fovy=45),
    Mount("above", position=(0.02, -0.08, 1.55), target=(0.0, -0.08, 0.44), fovy=45, up=(0.0, 1.0, 0.0)),
)
"""World frame; left and right as one sits at the desk."""
WRIST = Mount("gripper", position=(0.085, 0.0, 0.015), target=(0.015, 0.0, 0.20), fovy=75, up=(1.0, 0.0, 0.0))


def add_scenery(spec: Any) -> None:
    """A room with light from two sides."""
    import mujoco

    soften(spec, ambient=0.42, diffuse=0.30)
    room = spec.worldbody
    room.add_light(name="lamp_left", pos=[-0.8, -0.9, 2.4], dir=[0.3, 0.35, -1], diffuse=[0.42, 0.42, 0.40])
    room.add_light(
        name="lamp_right",
        pos=[1.2, 0.4, 2.2],
        dir=[-0.5, -0.2, -1],
        diffuse=[0.15, 0.15, 0.17],
        castshadow=False,
    )
    room.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[4, 4, 0.1],
        rgba=[0.62, 0.66, 0.68, 1],
        friction=[0.8, 0.01, 0.0005],
    )
    room.add_geom(
        name="back_wall",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0, 1.6, 2.0],
        size=[5, 0.02, 2.0],
        rgba=[0.80, 0.84, 0.86, 1],
        contype=0,
        conaffinity=0,
    )
    room.add_geom(
        name="stand",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=[-0.12, -0.56, 0, -0.12, -0.56, 0.238],
        size=[0.10, 0, 0],
        rgba=[0.35, 0.37, 0.40, 1],
        contype=0,
        conaffinity=0,
    )


SETTING = Setting(
    name="playtable",
    base=(-0.12, -0.56, 0.24),
    base_yaw=math.radians(65),
    # The gripper points down above the front of the desk, its fingers opening across the desk.
    home=(0.0, -0.70, 0.0, -2.35, 0.0, 1.65, 1.92),
    workspace=((-0.42, -0.54, 0.30), (0.42, 0.26, 0.86)),
    floor=0.29,
    surface="desk",
    scenery=add_scenery,
    cameras=CAMERAS,
    wrist=WRIST,
    effector_names=("gripper", "arm", "robot", "end effector", "fingers"),
    surface_names=("desk", "desk surface", "table"),
    prompts=Path(__file__).parent / "prompts",
)
