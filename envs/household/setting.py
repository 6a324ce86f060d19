"""The household: a table with a WidowX-250s at its edge, a camera across the table and one at the wrist.

The table's top is at z = 0 and the arm stands at the origin, facing along x. Left and right are those of the
third-person picture: left is -y. Well reachable with the gripper pointing down: x from 0.10 to 0.42, y from -0.27 to
0.27, up to 0.2 m above the table. The hand's roll against the arm's direction ends at +-180 degrees: who turns the
gripper should take the half turn that is nearer to that direction, and not always the shorter way round."""

from __future__ import annotations

from typing import Any

from envs.household.widowx import ARM
from envs.mujoco.cameras import Mount
from envs.mujoco.look import soften
from envs.mujoco.setting import Setting

THIRD_PERSON = "third_person"
WRIST = "wrist"
CUPBOARD = -0.30
"""Height of the board under the table on which lies what a scene does not use; no camera sees it."""
_FLOOR = -0.72


def add_scenery(spec: Any) -> None:
    """The table, a board under it, and the room."""
    import mujoco

    soften(spec, ambient=0.40, diffuse=0.30)
    room = spec.worldbody
    room.add_light(name="lamp_above", pos=[0.7, -0.8, 1.9], dir=[-0.2, 0.4, -1], diffuse=[0.46, 0.45, 0.43])
    room.add_light(
        name="lamp_side", pos=[0.3, 1.5, 1.7], dir=[0, -0.8, -1], diffuse=[0.14, 0.14, 0.16], castshadow=False
    )
    kind = mujoco.mjtGeom.mjGEOM_BOX
    still = {"contype": 0, "conaffinity": 0}
    friction = [0.8, 0.01, 0.0005]
    room.add_geom(
        name="table",
        type=kind,
        pos=[0.20, 0, -0.02],
        size=[0.42, 0.50, 0.02],
        rgba=[0.76, 0.62, 0.44, 1],
        friction=friction,
    )
    room.add_geom(
        name="cupboard",
        type=kind,
        pos=[0.20, 0, CUPBOARD - 0.01],
        size=[0.36, 0.44, 0.01],
        rgba=[0.5, 0.4, 0.3, 1],
        friction=friction,
    )
    for index, (x, y) in enumerate(((-0.18, -0.46), (-0.18, 0.46), (0.58, -0.46), (0.58, 0.46))):
        room.add_geom(
            name=f"table_leg{index}",
            type=kind,
            pos=[x, y, (_FLOOR - 0.04) / 2],
            size=[0.025, 0.025, -(_FLOOR + 0.04) / 2],
            rgba=[0.40, 0.38, 0.36, 1],
            **still,
        )
    room.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[0, 0, _FLOOR],
        size=[4, 4, 0.1],
        rgba=[0.66, 0.66, 0.65, 1],
        friction=friction,
    )
    room.add_geom(
        name="wall", type=kind, pos=[-1.6, 0, 0.6], size=[0.02, 3.0, 1.4], rgba=[0.82, 0.83, 0.82, 1], **still
    )


SETTING = Setting(
    name="household",
    base=(0.0, 0.0, 0.0),
    base_yaw=0.0,
    # The tool's point is at (0.10, 0, 0.20) and the gripper tilted back by 0.6 rad: the wrist camera sees into no box.
    home=(0.0, -0.430, 0.541, 0.0, 2.059, 0.0),
    workspace=((-0.05, -0.36, 0.0), (0.52, 0.36, 0.45)),
    floor=CUPBOARD - 0.05,
    surface="table",
    scenery=add_scenery,
    cameras=(Mount(THIRD_PERSON, position=(0.98, 0.0, 0.40), target=(0.22, 0.0, 0.06), fovy=42),),
    wrist=Mount(WRIST, position=(-0.075, 0.0, 0.0), target=(-0.018, 0.0, 0.15), fovy=70, up=(-1.0, 0.0, 0.0)),
    effector_names=("gripper", "robot", "arm", "end effector", "hand"),
    surface_names=("table", "tabletop", "table top"),
    arm=ARM,
    # 10 Hz: 2 cm and 7 degrees a step are 0.2 m and 69 degrees a second.
    substeps=25,
    step_limits=(0.02, 0.12),
    pixels=224,
)
