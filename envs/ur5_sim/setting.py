"""The UR5's workplace: a table with the arm on it, three depth cameras around it and one at the wrist.

The world frame is that of the arm's foot, on the table's top: x points ahead, y to the robot's left, z up. Left and
right are those of an operator who stands behind the robot. Well reachable with the gripper pointing down: x from 0.30
to 0.65, y from -0.35 to 0.35, up to 0.35 m above the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envs.mujoco.cameras import Mount
from envs.mujoco.look import soften
from envs.mujoco.setting import Setting
from envs.ur5_sim.ur5 import ARM

CAMERAS = (
    Mount("front", position=(1.25, 0.0, 0.75), target=(0.45, 0.0, 0.05), fovy=42),
    Mount("left", position=(0.15, 0.85, 0.80), target=(0.47, 0.0, 0.05), fovy=45),
    Mount("right", position=(0.15, -0.85, 0.80), target=(0.47, 0.0, 0.05), fovy=45),
)
WRIST = Mount("wrist", position=(0.085, 0.0, 0.016), target=(0.02, 0.0, 0.22), fovy=65, up=(1.0, 0.0, 0.0))
"""In the frame of the hand."""
_FLOOR = -0.76


def add_scenery(spec: Any) -> None:
    """The table and the room."""
    import mujoco

    soften(spec, ambient=0.40, diffuse=0.30)
    room = spec.worldbody
    room.add_light(name="lamp_above", pos=[0.9, -0.8, 2.1], dir=[-0.2, 0.35, -1], diffuse=[0.46, 0.46, 0.45])
    room.add_light(
        name="lamp_side",
        pos=[0.5, 1.6, 1.9],
        dir=[-0.1, -0.8, -1],
        diffuse=[0.14, 0.14, 0.15],
        castshadow=False,
    )
    kind = mujoco.mjtGeom.mjGEOM_BOX
    still = {"contype": 0, "conaffinity": 0}
    friction = [0.8, 0.01, 0.0005]
    room.add_geom(
        name="table",
        type=kind,
        pos=[0.35, 0, -0.02],
        size=[0.55, 0.60, 0.02],
        rgba=[0.70, 0.70, 0.68, 1],
        friction=friction,
    )
    for index, (x, y) in enumerate(((-0.15, -0.55), (-0.15, 0.55), (0.85, -0.55), (0.85, 0.55))):
        room.add_geom(
            name=f"table_leg{index}",
            type=kind,
            pos=[x, y, (_FLOOR - 0.04) / 2],
            size=[0.025, 0.025, -(_FLOOR + 0.04) / 2],
            rgba=[0.30, 0.31, 0.33, 1],
            **still,
        )
    room.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[0, 0, _FLOOR],
        size=[4, 4, 0.1],
        rgba=[0.58, 0.60, 0.62, 1],
        friction=friction,
    )
    room.add_geom(
        name="wall", type=kind, pos=[-1.5, 0, 0.6], size=[0.02, 3.0, 1.4], rgba=[0.80, 0.82, 0.84, 1], **still
    )


SETTING = Setting(
    name="ur5_sim",
    base=(0.0, 0.0, 0.0),
    base_yaw=0.0,
    # The gripper points down at (0.40, 0, 0.32), its fingers opening to the sides.
    home=(-0.2762, -1.8069, 1.6896, -1.4535, -1.5708, -1.8470),
    workspace=((0.15, -0.45, 0.0), (0.85, 0.45, 0.70)),
    floor=-0.01,
    surface="table",
    scenery=add_scenery,
    cameras=CAMERAS,
    wrist=WRIST,
    effector_names=("gripper", "robot", "arm", "end effector", "robotiq gripper"),
    surface_names=("table", "workbench", "tabletop"),
    prompts=Path(__file__).parent / "prompts",
    arm=ARM,
)
