"""The live CALVIN environment of one process: the published one, with its oracle, brought to a state, stepped by
absolute actions and looked at. Its judgement is in `judge`, its motions in `control`, its pictures in `cameras`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.calvin.checkout import Checkout
from envs.calvin.shims import configuration
from envs.calvin.shims.chatter import silenced
from envs.calvin.shims.closing import close_once
from envs.calvin.shims.commit import without_commit
from envs.calvin.shims.importing import import_from
from harness.failures import SimulatorError

if TYPE_CHECKING:
    from harness.protocols import Floats

CONTROL_HZ = 30.0
OPEN_WIDTH = 0.08
"""Metres between the fingers when they are open."""
HAND_LINKS = range(8, 16)
_FINGERS = (frozenset({9, 10}), frozenset({11, 12}))
"""Links of the left and the right finger, of panda_longer_finger.urdf."""
TABLE = "table"
"""calvin_env's name of the body that is everything but blocks and robot."""
Info = Mapping[str, Any]
"""What calvin_env's `get_info` says: the oracle's input."""


class Simulator:
    """One environment. pybullet's functions act on the first client of a process, so there is one a process."""

    def __init__(self, checkout: Checkout) -> None:
        """Raises `SimulatorError` when the process has one already."""
        module = import_from(checkout.simulator, "calvin_env.envs.play_table_env")
        if module.p.getConnectionInfo(0)["isConnected"]:
            raise SimulatorError("there is a CALVIN environment in this process already; close it first")
        without_commit(module)
        import hydra

        config = configuration.environment_config(checkout.simulator)
        with silenced():
            self._env = hydra.utils.instantiate(config)
        oracle = import_from(checkout.simulator, "calvin_env.envs.tasks")
        self.oracle = oracle.Tasks(configuration.oracle_config(checkout.simulator))
        self.info: Info = {}
        """Of the newest control step."""

    @property
    def physics(self) -> Any:
        """pybullet, bound to the client. Raises `SimulatorError` when that is gone."""
        return self._living().p

    @property
    def robot(self) -> int:
        """The robot's body."""
        return int(self._env.robot.robot_uid)

    @property
    def blocks(self) -> Mapping[str, int]:
        """Bodies of the blocks, by calvin_env's names."""
        return {block.name: int(block.uid) for block in self._env.scene.movable_objects}

    @property
    def table(self) -> int:
        """The body of the table."""
        return next(int(fixed.uid) for fixed in self._env.scene.fixed_objects if fixed.name == TABLE)

    @property
    def links(self) -> Mapping[str, int]:
        """The table's links, by name."""
        return dict(self.info["scene_info"]["fixed_objects"][TABLE]["links"])

    def reset(self, robot: Floats, scene: Floats) -> None:
        """Bring everything to a state as the official evaluation does: `robot` (15,), `scene` (24,).

        Everything is loaded anew, since a reset alone leaves up to 3 mm of what was before; and the generator that
        places blocks while they are loaded starts again, and the gripper's command, which no reset touches."""
        env = self._living()
        with silenced():
            env.seed(0)
            env.scene.np_random = env.np_random
            env.robot.gripper_action = 1
            env.load()
            env.reset(robot_obs=robot, scene_obs=scene)
        self.info = env.get_info()

    def step(self, position: Floats, quaternion: Floats, gripper: int) -> None:
        """One control step towards an absolute pose of the tool, orientation wxyz; `gripper` is 1 (open) or -1.
        Raises `SimulatorError` when the state has broken down."""
        w, x, y, z = map(float, quaternion)
        _, _, _, self.info = self._living().step((list(map(float, position)), [x, y, z, w], gripper))
        if not np.isfinite(self.tool()[0]).all():
            raise SimulatorError("the robot's pose is not finite")

    def tool(self) -> tuple[Floats, Floats]:
        """Tool centre point (3,) and orientation (4,) wxyz."""
        state = self.physics.getLinkState(self.robot, self._env.robot.tcp_link_id)
        x, y, z, w = state[1]
        return np.array(state[0]), np.array([w, x, y, z])

    def joints(self) -> Floats:
        """(7,), radians."""
        return np.array(self.info["robot_info"]["arm_joint_states"])

    def width(self) -> float:
        """Metres between the fingers."""
        return float(self.info["robot_info"]["gripper_opening_width"])

    def touched(self) -> frozenset[tuple[int, int]]:
        """What the robot is in contact with, itself excepted: bodies and links."""
        contacts = self.info["robot_info"]["contacts"]
        return frozenset((contact[2], contact[4]) for contact in contacts if contact[2] != self.robot)

    def grasped(self) -> frozenset[tuple[int, int]]:
        """What both fingers touch and can move: bodies and links."""
        contacts = self.info["robot_info"]["contacts"]
        sides = [{(c[2], c[4]) for c in contacts if c[3] in finger} for finger in _FINGERS]
        fixed = {(self.table, -1), (self.robot, -1)}
        return frozenset((sides[0] & sides[1]) - fixed)

    def link_pose(self, body: int, link: int) -> tuple[Floats, Floats]:
        """Where a link's frame is: position (3,) and rotation (3, 3); link -1 is the body's base."""
        if link < 0:
            position, orientation = self.physics.getBasePositionAndOrientation(body)
        else:
            position, orientation = self.physics.getLinkState(body, link)[4:6]
        matrix = self.physics.getMatrixFromQuaternion(orientation)
        return np.array(position), np.array(matrix).reshape(3, 3)

    def achieved(self, task: str, start: Info) -> bool:
        """The oracle's word on whether a task was done between `start` and now."""
        return task in self.oracle.get_task_info_for_set(start, self.info, {task})

    def state_hash(self, *words: str) -> str:
        """16 hex digits over the state of all bodies and joints, exact to the bit, and over `words`."""
        digest = hashlib.sha256("\x1f".join(words).encode())
        physics = self.physics
        for body in range(physics.getNumBodies()):
            numbers = [*physics.getBasePositionAndOrientation(body), *physics.getBaseVelocity(body)]
            for joint in range(physics.getNumJoints(body)):
                numbers.append(physics.getJointState(body, joint)[:2])
            for values in numbers:
                digest.update(np.asarray(values, np.float64).tobytes())
        lights = {name: light["logical_state"] for name, light in self.info["scene_info"]["lights"].items()}
        digest.update(repr(sorted(lights.items())).encode())
        return digest.hexdigest()[:16]

    def _living(self) -> Any:
        if not self._env.p.isConnected():
            raise SimulatorError("pybullet's physics has ended; the environment has to be opened anew")
        return self._env

    def close(self) -> None:
        close_once(self._env)
