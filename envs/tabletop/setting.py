"""The tabletop: a wooden table in a plain room, RLBench's five cameras by name, and the words of its benchmark.

The table top is at z = 0.752, as in RLBench; the arm stands at its edge and faces along x. Well reachable with the
gripper pointing down: x from 0.05 to 0.45, y from -0.35 to 0.35, up to 0.45 above the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envs.mujoco.cameras import Mount
from envs.mujoco.look import soften
from envs.mujoco.setting import Setting

TABLE_TOP = 0.752
"""Height of the table's surface, metres."""

CAMERAS = (
    Mount("front", position=(1.35, 0.0, 1.58), target=(0.15, 0.0, 0.94), fovy=50),
    Mount("left_shoulder", position=(-0.38, 0.78, 1.62), target=(0.25, 0.0, 0.82), fovy=50),
    Mount("right_shoulder", position=(-0.38, -0.78, 1.62), target=(0.25, 0.0, 0.82), fovy=50),
    Mount("overhead", position=(0.30, 0.0, 2.05), target=(0.22, 0.0, 0.75), fovy=45, up=(1.0, 0.0, 0.0)),
)
"""World frame. "Left" is the robot's left, +y."""
WRIST = Mount("wrist", position=(0.085, 0.0, 0.015), target=(0.015, 0.0, 0.20), fovy=70, up=(1.0, 0.0, 0.0))
"""In the frame of the hand: in front of it, looking past the fingers along the tool's z axis."""


def add_scenery(spec: Any) -> None:
    """The table and the room."""
    import mujoco

    soften(spec, ambient=0.38, diffuse=0.32)
    room = spec.worldbody
    room.add_light(name="lamp_above", pos=[0.6, -0.9, 2.9], dir=[-0.15, 0.35, -1], diffuse=[0.48, 0.47, 0.45])
    room.add_light(
        name="lamp_side",
        pos=[0.4, 1.6, 2.6],
        dir=[-0.1, -0.8, -1],
        diffuse=[0.14, 0.14, 0.16],
        castshadow=False,
    )
    kind = mujoco.mjtGeom.mjGEOM_BOX
    still = {"contype": 0, "conaffinity": 0}
    wood, rim, leg = [0.80, 0.66, 0.47, 1], [0.62, 0.47, 0.30, 1], [0.45, 0.44, 0.43, 1]
    room.add_geom(
        name="table",
        type=kind,
        pos=[0.15, 0, TABLE_TOP - 0.015],
        size=[0.72, 0.70, 0.015],
        rgba=wood,
        friction=[0.8, 0.01, 0.0005],
    )
    room.add_geom(
        name="table_rim",
        type=kind,
        pos=[0.15, 0, TABLE_TOP - 0.045],
        size=[0.70, 0.68, 0.015],
        rgba=rim,
        **still,
    )
    for index, (x, y) in enumerate(((-0.5, -0.63), (-0.5, 0.63), (0.8, -0.63), (0.8, 0.63))):
        room.add_geom(
            name=f"table_leg{index}",
            type=kind,
            pos=[x, y, 0.345],
            size=[0.03, 0.03, 0.345],
            rgba=leg,
            **still,
        )
    room.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[0, 0, 0],
        size=[4, 4, 0.1],
        rgba=[0.70, 0.68, 0.65, 1],
        friction=[0.8, 0.01, 0.0005],
    )
    for index, (place, half, shade) in enumerate(
        (
            ([-1.9, 0, 1.5], [0.02, 2.6, 1.5], 0.86),
            ([2.6, 0, 1.5], [0.02, 2.6, 1.5], 0.86),
            ([0.35, -2.6, 1.5], [2.3, 0.02, 1.5], 0.82),
            ([0.35, 2.6, 1.5], [2.3, 0.02, 1.5], 0.82),
        )
    ):
        room.add_geom(
            name=f"wall{index}",
            type=kind,
            pos=place,
            size=half,
            rgba=[shade, shade, shade * 0.98, 1],
            **still,
        )


SETTING = Setting(
    name="tabletop",
    base=(-0.31, 0.0, TABLE_TOP),
    base_yaw=0.0,
    # The gripper points down, high above the table.
    home=(0.0, -0.3434, 0.0, -1.7885, 0.0, 1.4451, 0.7854),
    # A cube of one metre, so a voxel of a grid of 100 is about a centimetre.
    workspace=((-0.25, -0.5, TABLE_TOP), (0.75, 0.5, TABLE_TOP + 1.0)),
    floor=TABLE_TOP - 0.01,
    surface="table",
    scenery=add_scenery,
    cameras=CAMERAS,
    wrist=WRIST,
    effector_names=("gripper", "robot", "end effector", "robot gripper", "hand"),
    surface_names=("table", "desk", "tabletop", "workstation", "work surface"),
    prompts=Path(__file__).parent / "prompts",
)
