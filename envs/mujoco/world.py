"""The physics of one task: its compiled model, the scene that was drawn, and the questions that predicates ask.

Nothing here moves the arm on purpose (`control` does) or draws pictures (`perception` does)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from envs.mujoco.arm import BASE, FINGER_BODIES, FINGERS, PADS, TOOL
from envs.mujoco.setting import TIMESTEP, Setting
from envs.mujoco.task import EmbeddedTask
from harness.failures import ResetError, SimulatorError

if TYPE_CHECKING:
    from harness.protocols import Floats

PLACEMENT_ATTEMPTS = 40
SETTLING = 0.6
"""Seconds for which a new scene rests before it is used."""
_DRAWS = 200


class Crowded(Exception):
    """There is no room for what was to be placed; the scene is drawn again."""


class World:
    """Model and state of one task. `reset` first; all positions are in the world frame, in metres."""

    def __init__(self, task: EmbeddedTask, setting: Setting) -> None:
        """Compile the task with the setting's room, arm and cameras."""
        self.task = task
        self.setting = setting
        self.model = _compile(task, setting)
        self.data = mujoco.MjData(self.model)
        self.variation: Mapping[str, str] = {}
        """What the scene drew, as words for the instruction."""
        self.memo: dict[str, Any] = {}
        """Whatever else the task wants to remember of this scene."""
        self.succeeded = False
        self.failed = False
        self._judging = False
        self._pristine = {name: getattr(self.model, name).copy() for name in _PLACED}
        self._spots: list[tuple[float, float, float]] = []
        self._families: dict[str, frozenset[int]] = {}
        self._tool = self.model.site(TOOL).id
        joints = [self.model.joint(name) for name in setting.arm.joints]
        self._arm = np.array([joint.qposadr[0] for joint in joints])
        self._arm_speed = np.array([joint.dofadr[0] for joint in joints])
        self._fingers = np.array([self.model.joint(name).qposadr[0] for name in FINGERS])
        self._pads = [np.array([self.model.geom(name).id for name in side]) for side in PADS]
        self.parts = {name: self._resolve(name, parts) for name, parts in task.objects.items()}
        """Geom ids of every exposed object, in the task's order and under the task's own names."""
        self.robot_geoms = self.geoms(BASE)

    # Setting up

    def reset(self, rng: np.random.Generator) -> int:
        """Draw and settle a scene from `rng`; returns how many draws it took. Raises `ResetError`."""
        reason = ""
        for attempt in range(1, PLACEMENT_ATTEMPTS + 1):
            self._restore()
            try:
                self.variation = dict(self.task.place(self, rng))
            except Crowded as crowded:
                reason = str(crowded)
                continue
            reason = self._settle()
            if not reason:
                return attempt
        raise ResetError(
            f"the scene of {self.task.name!r} could not be laid out in {PLACEMENT_ATTEMPTS} draws; the last one "
            f"failed because {reason}"
        )

    def begin(self) -> None:
        """The attempt starts now: from here on the outcome is judged, against the state that the task notes."""
        self.task.begin(self)
        self.data.time = 0.0
        self._judging = True

    def state_hash(self) -> str:
        """16 hex digits over the state and the placement, exact to the bit for one version of MuJoCo."""
        digest = hashlib.sha256()
        for array in (self.data.qpos, self.data.qvel, *(getattr(self.model, name) for name in _PLACED)):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr(sorted(self.variation.items())).encode())
        return digest.hexdigest()[:16]

    def put(self, body: str, x: float, y: float, z: float, yaw: float = 0.0) -> None:
        """Place a static or a free body that is a child of the world; `yaw` in radians about z."""
        pose = [x, y, z, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]
        entry = self.model.body(body)
        joints = int(entry.jntnum[0])
        if joints and self.model.jnt_type[entry.jntadr[0]] == mujoco.mjtJoint.mjJNT_FREE:
            start = self.model.jnt_qposadr[entry.jntadr[0]]
            self.data.qpos[start : start + 7] = pose
        elif int(entry.parentid[0]) == 0:
            self.model.body_pos[entry.id] = pose[:3]
            self.model.body_quat[entry.id] = pose[3:]
        else:
            raise ValueError(
                f"body {body!r} of {self.task.name!r} is no child of the world and cannot be placed"
            )

    def spot(
        self,
        rng: np.random.Generator,
        radius: float,
        x: tuple[float, float] = (0.1, 0.4),
        y: tuple[float, float] = (-0.3, 0.3),
    ) -> tuple[float, float]:
        """A place on the table whose circle of `radius` meets no circle given out before in this scene. Raises
        `Crowded` after many tries."""
        for _ in range(_DRAWS):
            here = float(rng.uniform(*x)), float(rng.uniform(*y))
            if all(math.dist(here, other[:2]) > radius + other[2] for other in self._spots):
                self._spots.append((*here, radius))
                return here
        raise Crowded(f"there was no room for a circle of {radius} m")

    def reserve(self, x: float, y: float, radius: float) -> None:
        """Keep a circle on the table free of what `spot` gives out."""
        self._spots.append((x, y, radius))

    def refresh(self) -> None:
        """Bring positions up to date after `put`."""
        mujoco.mj_kinematics(self.model, self.data)

    def paint(self, geom: str, colour: tuple[float, ...] | list[float]) -> None:
        """Set a geom's RGB or RGBA; the next reset undoes it."""
        self.model.geom(geom).rgba[: len(colour)] = colour

    # Running

    def step(self) -> None:
        """One physics step, with the task's mechanism and its predicates."""
        mujoco.mj_step(self.model, self.data)
        self.task.after_step(self)
        if self._judging and not self.succeeded and not self.failed:
            self.succeeded = bool(self.task.success(self))
            self.failed = not self.succeeded and bool(self.task.failed(self))

    def check_finite(self) -> None:
        """Raises `SimulatorError` when the state has broken down."""
        if not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all()):
            raise SimulatorError(
                f"the state of {self.task.name!r} is not finite at {self.data.time:.3f} s of simulated time"
            )

    @property
    def arm(self) -> Floats:
        """Joint angles (n,), radians."""
        return np.array(self.data.qpos[self._arm])

    @property
    def arm_speed(self) -> Floats:
        """Joint velocities (n,), radians per second."""
        return np.array(self.data.qvel[self._arm_speed])

    @property
    def fingers(self) -> Floats:
        """Travel of the two fingers (2,), metres; 0 is closed."""
        return np.array(self.data.qpos[self._fingers])

    def command(self, arm: Floats, finger: float) -> None:
        """Set the servos: joint angles (n,) in radians, the fingers' travel in metres."""
        self.data.ctrl[:-1] = arm
        self.data.ctrl[-1] = finger

    # Questions that tasks and tests ask

    def joint(self, name: str) -> float:
        """Position of a slide (metres) or hinge (radians) joint."""
        return float(self.data.qpos[self.model.joint(name).qposadr[0]])

    def position(self, body: str) -> Floats:
        """(3,) of a body's origin."""
        return np.array(self.data.xpos[self.model.body(body).id])

    def rotation(self, body: str) -> Floats:
        """(3, 3), the body's axes as columns."""
        return np.array(self.data.xmat[self.model.body(body).id].reshape(3, 3))

    def geom_position(self, geom: str) -> Floats:
        """(3,) of a geom's centre."""
        return np.array(self.data.geom_xpos[self.model.geom(geom).id])

    def geoms(self, body: str) -> frozenset[int]:
        """Ids of the geoms of a body and of all bodies below it."""
        if body not in self._families:
            root = self.model.body(body).id
            inside = np.zeros(self.model.nbody, bool)
            inside[root] = True
            for index in range(root + 1, self.model.nbody):
                inside[index] |= inside[self.model.body_parentid[index]]
            self._families[body] = frozenset(np.flatnonzero(inside[self.model.geom_bodyid]).tolist())
        return self._families[body]

    def sees(self, sensor: str, body: str) -> bool:
        """Whether any part of the body reaches into the geom `sensor`, as RLBench's proximity sensors do."""
        probe = self.model.geom(sensor).id
        return any(
            mujoco.mj_geomDistance(self.model, self.data, probe, geom, 0.001, None) <= 0
            for geom in self.geoms(body)
            if self.model.geom_contype[geom] or self.model.geom_conaffinity[geom]
        )

    def touching(self, first: str, second: str) -> bool:
        """Whether two bodies (with the bodies below them) are in contact."""
        return self._contact(self.geoms(first), self.geoms(second))

    def grasped(self, body: str) -> bool:
        """Whether both fingers touch the body."""
        held = self.geoms(body)
        return all(self._contact(self.geoms(finger), held) for finger in FINGER_BODIES)

    def grasping(self) -> bool:
        """Whether the fingers hold anything: both touch one and the same body that is not the robot."""
        return bool(self._held())

    def grasping_fixture(self) -> bool:
        """Whether what the fingers hold hangs on the scene, as a drawer's handle does."""
        return any(not self._is_free(body) for body in self._held())

    def held_geoms(self) -> frozenset[int]:
        """Ids of the geoms that move as one with what the fingers hold; what cannot move is never held."""
        welded = self.model.body_weldid
        moving = {int(welded[body]) for body in self._held()} - {0}
        return frozenset(np.flatnonzero(np.isin(welded[self.model.geom_bodyid], list(moving))).tolist())

    @property
    def tool_position(self) -> Floats:
        """(3,), the point between the finger pads."""
        return np.array(self.data.site_xpos[self._tool])

    @property
    def tool_quaternion(self) -> Floats:
        """(4,) wxyz of the tool frame."""
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self.data.site_xmat[self._tool])
        return quaternion

    # Inside

    def _held(self) -> set[int]:
        pairs = self.data.contact.geom
        touched = []
        for pads in self._pads:
            inside = np.isin(pairs, pads)
            touched.append(set(self.model.geom_bodyid[pairs[:, ::-1][inside]].tolist()))
        return touched[0] & touched[1]

    def _is_free(self, body: int) -> bool:
        root = self.model.body_rootid[body]
        joint = self.model.body_jntadr[root]
        return bool(joint >= 0 and self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE)

    def _contact(self, first: frozenset[int], second: frozenset[int]) -> bool:
        return any(
            (a in first and b in second) or (b in first and a in second)
            for a, b in self.data.contact.geom.tolist()
        )

    def _resolve(self, exposed: str, parts: tuple[str, ...]) -> tuple[int, ...]:
        found: set[int] = set()
        for part in parts:
            if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, part) >= 0:
                found |= self.geoms(part)
            elif (geom := mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_GEOM, part)) >= 0:
                found.add(geom)
            else:
                raise ValueError(
                    f"object {exposed!r} of {self.task.name!r}: no body or geom is called {part!r}"
                )
        return tuple(sorted(geom for geom in found if self.model.geom_group[geom] <= 2))

    def _restore(self) -> None:
        for name, array in self._pristine.items():
            getattr(self.model, name)[:] = array
        mujoco.mj_resetData(self.model, self.data)
        self.variation, self.memo, self._spots = {}, {}, []
        self.succeeded = self.failed = self._judging = False
        self.data.qpos[self._arm] = self.setting.home
        self.data.qpos[self._fingers] = self.setting.arm.finger_travel
        self.command(np.array(self.setting.home), self.setting.arm.finger_travel)

    def _settle(self) -> str:
        """Let the scene come to rest; says what is wrong with it, or nothing."""
        for _ in range(round(SETTLING / TIMESTEP)):
            mujoco.mj_step(self.model, self.data)
            self.task.after_step(self)
        self.check_finite()
        mujoco.mj_forward(self.model, self.data)
        for index in np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            body = self.model.jnt_bodyid[index]
            if self.data.xpos[body, 2] < self.setting.floor:
                return f"{self.model.body(body).name!r} fell down"
        self.task.begin(self)
        if self.task.success(self) or self.task.failed(self):
            return "its outcome was settled before anything had moved"
        return ""


# What `place` and `after_step` may change in the model; restored at every reset.
_PLACED = ("body_pos", "body_quat", "geom_rgba", "geom_pos", "geom_quat", "eq_data")


def _compile(task: EmbeddedTask, setting: Setting) -> Any:
    spec = mujoco.MjSpec()
    spec.modelname = task.name
    spec.compiler.degree = False
    spec.option.timestep = TIMESTEP
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # A broken state has to be seen, not silently reset by the simulator.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    setting.scenery(spec)
    setting.arm.add_to(spec, setting.base, setting.base_yaw)
    task.build(spec)
    setting.add_cameras(spec)
    return spec.compile()
