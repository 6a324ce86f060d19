"""Motions of the arm and the gripper: straight lines, joint paths around limits, grasping, going home.

The arm is driven by position servos only; whatever moves besides the arm moves because it was touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from envs.commands import checked_action, checked_opening, checked_pose, checked_speed, shortened
from envs.mujoco.kinematics import Kinematics, angle_between, interpolate, multiply, turned_by
from envs.mujoco.world import World
from harness.failures import StepLimit
from harness.protocols import Actuated, Motion, Pose

Floats = NDArray[np.float64]

SPEED = 0.3
"""Usual speed of the tool, metres per second."""
TURN_SPEED = 1.8
"""Usual speed of a turn, radians per second."""
SLOWEST, FASTEST = 0.1, 3.0
"""Limits of the speed factor; factors beyond them are cut."""
REACHED = 0.008
"""A motion has reached its target within this distance, metres."""

# Short moves are way points: they go on at once, since stopping at each would take three times as long.
_SETTLED_SHORT, _SETTLED_LONG = 0.005, 0.0025
_SHORT = 0.05
_SETTLE_SHORT, _SETTLE_LONG = 3, 15
_BLOCKED = 0.03
_BLOCKED_STEPS = 3
_PATH_SPEED = 1.5
_JUMP = 0.3
_LONGEST_SHIFT = 100
_DETOURS = 6
_TOLD_ANGLE = 0.03
_SHIFT_STEP = 0.06
_FINGER_SPEED = 0.12
_LEASH = (0.03, 0.2)
_NUDGE_ITERATIONS = 4
_FOLLOWED = (0.001, 0.01)
_RETREATS = ((0.12, 0.0), (0.0, 0.15))
_HALF_TURN = np.array([0.0, 0.0, 0.0, 1.0])
_MARGIN = 0.01


@dataclass(frozen=True)
class _End:
    """Joint angles that reach a target, the orientation of the tool there, and whether it is the other half turn."""

    joints: Floats
    quaternion: Floats
    flipped: bool


class Controller:
    """Drives the arm of one scene; made anew at every reset.

    The gripper looks the same after half a turn about its axis. Where an orientation is out of the joints' range
    and nothing is held, the arm takes the other of the two, and `pose` keeps speaking of the one asked for.
    """

    def __init__(
        self,
        world: World,
        kinematics: Kinematics,
        step_limit: int,
        after_step: Callable[[], None] = lambda: None,
    ) -> None:
        self.steps = 0
        self.opening = 1.0
        self.world = world
        self._kinematics = kinematics
        self._arm = world.setting.arm
        self._substeps, self._period = world.setting.substeps, world.setting.period
        self._lag = np.array(self._arm.lag)
        self._joint_step = np.array(self._arm.speed) * self._period
        self._allowed = self._last_step = step_limit
        self._after_step = after_step
        self._home = np.array(world.setting.home)
        self._home_pose = kinematics.pose(self._home)
        self._joints = self._home.copy()
        self._finger = self._arm.finger_travel
        self._flipped = False
        self._goal: tuple[Floats, Floats] | None = None
        self._scratch = mujoco.MjData(world.model)

    def allow(self, steps: int) -> None:
        """Take this many more control steps instead of what is left of the limit."""
        self._allowed, self._last_step = steps, self.steps + steps

    def pose(self) -> Pose:
        """The tool's true pose."""
        quaternion = self.world.tool_quaternion
        return Pose(
            self.world.tool_position, multiply(quaternion, _HALF_TURN) if self._flipped else quaternion
        )

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        """See `harness.protocols.Manipulation.move`. `speed` is cut to 0.1..3. Where the joint limits leave no exact
        solution the orientation may be missed by up to 0.2 rad, and the reason says so."""
        target = checked_pose(pose)
        position, quaternion = target.position, target.quaternion
        factor = checked_speed(speed, SLOWEST, FASTEST)
        lower, upper = np.array(self.world.setting.workspace)
        if ((position < lower - _MARGIN) | (position > upper + _MARGIN)).any():
            return self._refused(position, "the target lies outside the workspace")
        self._forget_lost_command()
        own = multiply(quaternion, _HALF_TURN) if self._flipped else quaternion
        choices = [(own, self._flipped)]
        if self.opening > 0.5:
            choices.append((multiply(own, _HALF_TURN), not self._flipped))
        for wanted, flipped in choices:
            path = self._line(position, wanted, factor)
            if path is not None:
                return self._run(path, position, wanted, flipped)
        ends = [
            _End(joints, wanted, flipped)
            for wanted, flipped in choices
            for joints in self._kinematics.goals(position, wanted, self._joints)
        ]
        if not ends:
            return self._refused(position, "no posture of the arm reaches the target in that orientation")
        return self._in_another_posture(position, ends, factor)

    def set_gripper(self, opening: float) -> Motion:
        """See `harness.protocols.Manipulation.set_gripper`; an opening outside 0..1 is a `MotionFailure`."""
        wanted = checked_opening(opening)
        if wanted == self.opening:
            return Motion(True)
        self.opening = wanted
        target = self._arm.finger_travel if wanted else self._arm.closed
        still = 0
        travel = self.world.fingers
        self._finger = float(travel.mean())
        try:
            while still < 2:
                reach = _FINGER_SPEED * self._period
                self._finger = float(self._finger + np.clip(target - self._finger, -reach, reach))
                self._hold()
                before, travel = travel, self.world.fingers
                still = still + 1 if np.abs(travel - before).max() < 0.0004 else 0
        finally:
            self._finger = target  # also where the steps are spent: a chain goes on
        self._hold()
        self._hold()
        open_enough = self.world.fingers.min() > 0.9 * self._arm.finger_travel
        return Motion(True) if open_enough or not wanted else Motion(False, "the fingers could not open")

    def home(self) -> Motion:
        """See `harness.protocols.Manipulation.home`."""
        self._forget_lost_command()
        position, quaternion = self._home_pose
        path = self._line(position, multiply(quaternion, _HALF_TURN) if self._flipped else quaternion, 1.0)
        if self.opening > 0.5 and (path is None or not self._free(path)):
            # Open fingers around something would tear at it: pull them out first.
            self._retreat()
            path = self._line(position, quaternion, 1.0)
        if path is not None:
            moved = self._run(path, position)
            if not moved.reached:
                return moved
        self._flipped = False
        return self._run(self._joint_path(self._home), position)

    def nudge(self, action: ArrayLike) -> Actuated:
        """See `harness.protocols.Actuation.act`. The pose that actions add up to is kept, so that small errors do not
        add up as well; where the arm cannot follow, it is pulled back to where the arm is."""
        wanted = checked_action(action)
        shift, clipped = shortened(wanted[:3], self.world.setting.step_limits[0])
        turn, turn_clipped = shortened(wanted[3:6], self.world.setting.step_limits[1])
        at, turned = self._kinematics.pose(self._joints) if self._goal is None else self._goal
        position, quaternion = at + shift, turned_by(turned, turn)
        lower, upper = np.array(self.world.setting.workspace)
        held = ""
        inside = np.clip(position, np.minimum(lower, at), np.maximum(upper, at))
        if (inside != position).any():
            position, held = inside, "the edge of the workspace"
        position, quaternion, pulled = self._leashed(position, quaternion)
        if pulled:
            held = "something is in the way"
        joints = self._kinematics.solve(position, quaternion, self._joints, _NUDGE_ITERATIONS).joints
        ratio = float((np.abs(joints - self._joints) / self._joint_step).max())
        if ratio > 1.0:
            joints = self._joints + (joints - self._joints) / ratio
        reached, facing = self._kinematics.pose(joints)
        off, missed = float(np.linalg.norm(reached - position)), angle_between(facing, quaternion)
        if off > _FOLLOWED[0] or missed > _FOLLOWED[1]:
            position, quaternion = reached, facing
            held = held or ("the joints turn no faster" if ratio > 1.0 else "the end of the arm's reach")
        self._drive_fingers(open_them=bool(wanted[6] > 0))
        self._control(joints)
        self._goal = position, quaternion
        return Actuated(clipped or turn_clipped, held)

    def _leashed(self, position: Floats, quaternion: Floats) -> tuple[Floats, Floats, bool]:
        """The pose brought so near to the tool's true one that an arm that is kept from moving pushes and no more;
        whether that changed it."""
        tool, facing = self.world.tool_position, self.world.tool_quaternion
        ahead, short = shortened(position - tool, _LEASH[0])
        angle = angle_between(facing, quaternion)
        twisted = angle > _LEASH[1]
        if twisted:
            quaternion = interpolate(facing, quaternion, _LEASH[1] / angle)
        return tool + ahead if short else position, quaternion, short or twisted

    def _drive_fingers(self, open_them: bool) -> None:
        """Move the fingers' command for one control step."""
        opening = 1.0 if open_them else 0.0
        if opening != self.opening:
            self.opening = opening
            self._finger = float(self.world.fingers.mean())
        target = self._arm.finger_travel if open_them else self._arm.closed
        reach = _FINGER_SPEED * self._period
        self._finger += float(np.clip(target - self._finger, -reach, reach))

    # Planning

    def _line(
        self, position: Floats, quaternion: Floats, factor: float, joints: Floats | None = None
    ) -> Floats | None:
        """Joint angles (m, n), one row a control step, along the straight line from where `joints` (else the last
        command) hold the tool; None where the arm cannot follow."""
        rows = [self._joints if joints is None else joints]
        start, turned = self._kinematics.pose(rows[0])
        distance = float(np.linalg.norm(position - start))
        seconds = max(distance / SPEED, angle_between(turned, quaternion) / TURN_SPEED) / factor
        smooth = distance > _SHORT or seconds > 0.3
        count = max(1, math.ceil((1.4 if smooth else 1.0) * seconds / self._period))
        for step in range(1, count + 1):
            part = step / count
            if smooth:
                part = part * part * (3 - 2 * part)
            solution = self._kinematics.reach(
                start + part * (position - start),
                interpolate(turned, quaternion, part),
                rows[-1],
                iterations=12 if step < count else 40,
            )
            if not solution.usable:
                return None
            rows.append(solution.joints)
        path = np.array(rows)
        steps = np.abs(np.diff(path, axis=0))
        if steps.max() > _JUMP:
            return None
        return _stretched(path, float((steps / self._joint_step).max()))[1:]

    def _in_another_posture(self, position: Floats, ends: Sequence[_End], factor: float) -> Motion:
        """Reach the pose although the arm cannot follow the line as it stands. Best, by shifting the elbow first;
        else through joint space, directly or by way of home, if nothing is in the way."""
        for end in ends:
            path = self._line_to(end, factor)
            if path is not None:
                return self._run(path, position, end.quaternion, end.flipped)
        if self.world.grasping_fixture():
            return self._refused(position, "the arm cannot follow that line with what it holds")
        for end in ends[:_DETOURS]:
            path = self._joint_path(end.joints, factor=factor)
            if self._free(path):
                return self._run(path, position, end.quaternion, end.flipped)
        to_home = self._joint_path(self._home, factor=factor)
        for end in ends[:_DETOURS] if self._free(to_home) else ():
            onward = self._joint_path(end.joints, self._home, factor)
            if self._free(onward):
                path = np.concatenate([to_home, onward])
                return self._run(path, position, end.quaternion, end.flipped)
        return self._refused(position, "the arm would have to change posture and something is in its way")

    def _line_to(self, end: _End, factor: float) -> Floats | None:
        """As `_line`, to given joints: the line is followed back from there, and the elbow is shifted to where
        that begins."""
        start, turned = self._kinematics.pose(self._joints)
        back = self._line(start, turned, factor, end.joints)
        if back is None:
            return None
        shift = self._shift(start, turned, back[-1])
        return None if shift is None else np.concatenate([shift, back[-2::-1], end.joints[None]])

    def _shift(self, position: Floats, quaternion: Floats, goal: Floats) -> Floats | None:
        """Joint angles (m, n) from the last command to `goal` that keep the tool at the pose; None if that fails."""
        rows = [self._joints]
        for _ in range(_LONGEST_SHIFT):
            left = goal - rows[-1]
            size = float(np.abs(left).max())
            if size < 0.03:
                return np.array([*rows[1:], goal])
            guess = rows[-1] + left * min(1.0, _SHIFT_STEP / size)
            solution = self._kinematics.solve(position, quaternion, guess, iterations=6, comfort=0.0)
            if solution.position_error > 0.002 or solution.angle_error > 0.05:
                return None
            if np.abs(goal - solution.joints).max() > size - 0.2 * min(size, _SHIFT_STEP):
                return None
            rows.append(solution.joints)
        return None

    def _joint_path(self, goal: Floats, start: Floats | None = None, factor: float = 1.0) -> Floats:
        """Joint angles (m, n) that lead straight through joint space."""
        start = self._joints if start is None else start
        count = max(1, math.ceil(1.5 * np.abs(goal - start).max() / (_PATH_SPEED * factor * self._period)))
        part = np.arange(1, count + 1)[:, None] / count
        part = part * part * (3 - 2 * part)
        path: Floats = start + part * (goal - start)
        return path

    def _free(self, path: Floats) -> bool:
        """Whether the arm touches nothing new along a joint path, as the scene stands now."""
        world = self.world
        model, scratch = world.model, self._scratch
        arm = [model.joint(name).qposadr[0] for name in self._arm.joints]
        scratch.qpos[:] = world.data.qpos
        mujoco.mj_kinematics(model, scratch)
        mujoco.mj_collision(model, scratch)
        # What touches the robot already is either held or about to be left.
        held = {model.geom_bodyid[geom] for pair in self._robot_contacts() for geom in pair}
        stride = max(1, int(0.08 / max(1e-6, float(np.abs(np.diff(path, axis=0)).max(initial=0.0)))))
        for row in (*path[:-1:stride], path[-1]):
            scratch.qpos[arm] = row
            mujoco.mj_kinematics(model, scratch)
            mujoco.mj_collision(model, scratch)
            for pair in self._robot_contacts():
                if not any(
                    model.geom_bodyid[geom] in held and geom not in world.robot_geoms for geom in pair
                ):
                    return False
        return True

    def _robot_contacts(self) -> list[list[int]]:
        robot_geoms = self.world.robot_geoms
        return [
            pair
            for pair in self._scratch.contact.geom.tolist()
            if (pair[0] in robot_geoms) != (pair[1] in robot_geoms)
        ]

    def _retreat(self) -> None:
        """Withdraw along the tool's axis; where the arm cannot, rise."""
        here, quaternion = self._kinematics.pose(self._joints)
        axis = np.empty(3)
        mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), quaternion)
        for back, up in _RETREATS:
            target = here - back * axis + [0.0, 0.0, up]
            path = self._line(target, quaternion, 1.0)
            if path is not None:
                self._run(path, target)
                return

    # Running

    def _run(
        self, path: Floats, target: Floats, quaternion: Floats | None = None, flipped: bool | None = None
    ) -> Motion:
        """Follow a joint path, settle, and say how near the tool came to `target`."""
        if flipped is not None:
            self._flipped = flipped
        short = len(path) * self._period * SPEED <= _SHORT + 0.01
        late = 0
        for row in path:
            self._control(row)
            planned = self._kinematics.pose(row)[0]
            late = late + 1 if np.linalg.norm(planned - self.world.tool_position) > _BLOCKED else 0
            if late == _BLOCKED_STEPS:
                self._joints = np.clip(self.world.arm, self._kinematics.lower, self._kinematics.upper)
                self._hold()
                return self._ended(target, "something is in the way")
        goal = self._kinematics.pose(self._joints)[0]
        near = _SETTLED_SHORT if short else _SETTLED_LONG
        for _ in range(_SETTLE_SHORT if short else _SETTLE_LONG):
            still = short or np.abs(self.world.arm_speed).max() < 0.05
            if still and np.linalg.norm(goal - self.world.tool_position) < near:
                break
            self._hold()
        motion = self._ended(target, "the arm was held up")
        planned = self._kinematics.pose(self._joints)[1]
        missed = 0.0 if quaternion is None else angle_between(planned, quaternion)
        if motion.reached and missed > _TOLD_ANGLE:
            told = f"the joints' range leaves the orientation {math.degrees(missed):.0f} degrees off"
            return Motion(True, told, motion.position_error)
        return motion

    def _hold(self) -> None:
        self._control(self._joints)

    def _control(self, joints: Floats) -> None:
        """One control step: lead the servos from the last command to `joints`."""
        if self.steps >= self._last_step:
            raise StepLimit(f"the task's {self._allowed} control steps are spent")
        before = self._joints
        lead = self._lag * (joints - before) / self._period
        for substep in range(1, self._substeps + 1):
            self.world.command(before + substep / self._substeps * (joints - before) + lead, self._finger)
            self.world.step()
        self._joints = joints
        self._goal = None
        self.steps += 1
        self.world.check_finite()
        self._after_step()

    def _forget_lost_command(self) -> None:
        """Where the arm was kept from following, start from where it is."""
        if np.linalg.norm(self._kinematics.pose(self._joints)[0] - self.world.tool_position) > _BLOCKED:
            self._joints = np.clip(self.world.arm, self._kinematics.lower, self._kinematics.upper)

    def _refused(self, target: Floats, reason: str) -> Motion:
        # It costs a step, so that a program that only commands nonsense comes to an end.
        self._hold()
        return Motion(False, reason, float(np.linalg.norm(target - self.world.tool_position)))

    def _ended(self, target: Floats, reason: str) -> Motion:
        error = float(np.linalg.norm(target - self.world.tool_position))
        if error <= REACHED:
            return Motion(True, "", error)
        return Motion(False, f"{reason}: it stopped {1000 * error:.0f} mm from the target", error)


def _stretched(path: Floats, ratio: float) -> Floats:
    """The path with more rows, so that no joint is faster than it may be by `ratio`."""
    if ratio <= 1.0:
        return path
    rows = np.linspace(0, len(path) - 1, math.ceil((len(path) - 1) * ratio) + 1)
    return np.stack([np.interp(rows, np.arange(len(path)), column) for column in path.T], axis=1)
