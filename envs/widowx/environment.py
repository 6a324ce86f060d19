"""The live environment behind `harness.protocols.LongHorizon`: the arm at the other end of a wire, the cameras, the oracle,
and the operator who allows motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.commands import checked_action, shortened
from envs.robots import maker, stop
from envs.robots.operator import Operator
from envs.robots.rotations import from_vector, multiply
from envs.widowx import CAMERAS, Operated, WidowX, parted
from envs.widowx.client import RemoteArm
from envs.widowx.eyes import Cameras, Eyes
from envs.widowx.guard import EDGE, Limits
from envs.widowx.oracle import OperatorOracle, Oracle
from envs.widowx.sheet import Sheets
from harness.failures import SimulatorError, StepLimit, UsageError
from harness.protocols import Actuated, PointCloud, Reset, Subtask, Utterance, Verdict, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from envs.widowx.guard import State
    from harness.protocols import Image
    from harness.seeding import Seeds

CLEAR = 0.20
"""Height above the table to which the tool rises before the arm goes home, metres."""
AT_ONCE = 10
"""Control steps of motion that the operator allows with each yes of env.confirm=motion: a second."""
_LONGEST = 400
"""Control steps that the way home may take."""


class WidowXEnvironment:
    on_control_step: Callable[[], None] | None = None

    def __init__(
        self,
        config: Operated,
        address: tuple[str, int],
        operator: Operator | None,
        oracle: Oracle,
        eyes: Eyes,
        confirm: str,
    ) -> None:
        """Connects to the arm's server; nothing moves. Raises `SimulatorError`."""
        low, high = ((float(x), float(y), float(z)) for x, y, z in config.workspace)
        self._limits = Limits((low, high), config.speed_limit, config.turn_limit, config.joint_speed_limit)
        self._address, self._operator, self._oracle, self._eyes = address, operator, oracle, eyes
        self._confirm = confirm
        self._stop_folder = stop.place(config.stop_folder)
        self._tasks = {task.name: task for task in config.suite()}
        self._arm = RemoteArm(*address, self._limits)
        self.rest = self._arm.rest
        self.control_hz = 1 / self._arm.period
        self.action_limits = (config.speed_limit * self._arm.period, config.turn_limit * self._arm.period)
        stop.register(self._stop_folder, *address)
        self._state = self._arm.state()
        self._open = True
        self._steps = self._step_limit = self._allowed = 0

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """The arm goes home with open fingers and the scene is laid out."""
        if task not in self._tasks:
            raise UsageError(f"widowx has no task {task!r}; it has {', '.join(sorted(self._tasks))}")
        self._make_ready()
        what = f"Task {task}, scene {scene}. The arm rises, goes home and opens its fingers."
        if not self._allows(what):
            raise SimulatorError("the operator did not let the arm go home")
        self._go_home()
        reset = self._oracle.begin(task, scene, seeds)
        if not self._allows("From here on the arm moves by itself."):
            raise SimulatorError("the operator did not let the arm move")
        self._state = self._arm.state()
        self._open = True
        self._steps, self._step_limit, self._allowed = 0, self._tasks[task].step_limit, 0
        self._eyes.forget()
        return reset

    def act(self, action: NDArray[Any]) -> Actuated:
        """See `harness.protocols.Actuation.act`. Raises `SimulatorError` when the arm was stopped or is lost."""
        wanted = checked_action(action)
        if self._steps >= self._step_limit:
            raise StepLimit(f"the task's {self._step_limit} control steps are spent")
        shift, clipped = shortened(wanted[:3], self.action_limits[0])
        turn, turn_clipped = shortened(wanted[3:6], self.action_limits[1])
        at, facing = self._state.goal
        position, quaternion = at + shift, multiply(from_vector(turn), facing)
        lower, upper = self._limits.workspace
        inside = np.clip(position, np.minimum(lower, at), np.maximum(upper, at))
        held = EDGE if (inside != position).any() else ""
        open_fingers = bool(wanted[6] > 0)
        moves = bool(np.abs(wanted[:6]).max() > 1e-9) or open_fingers != self._open
        if moves and not self._lets_move():
            inside, quaternion, open_fingers, held = at, facing, self._open, "the operator did not allow it"
        self._step(partial(self._arm.step, inside, quaternion, open_fingers))
        self._open = open_fingers
        self._steps += 1
        self._eyes.forget()
        self._oracle.update(self._steps)
        if self.on_control_step is not None:
            self.on_control_step()
        return Actuated(clipped or turn_clipped, held or self._state.held)

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, NDArray[Any]]:
        """See `harness.protocols.Actuation.observation`."""
        state = self._state
        return {
            **{f"rgb_{camera}": self.render(camera) for camera in cameras},
            "tool": np.concatenate([state.position, state.quaternion]),
            "gripper": np.array([state.opening]),
            "joints": state.joints.copy(),
        }

    def cameras(self) -> Sequence[str]:
        return CAMERAS

    def render(self, camera: str) -> Image:
        """See `harness.protocols.Environment.render`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        return self._eyes.render(camera)

    def view(self, camera: str) -> View:
        """See `harness.protocols.LongHorizon.view`. Raises `UsageError` for an unknown camera."""
        self._check_camera(camera)
        return self._eyes.view(camera, float(self._open))

    def objects(self) -> list[str]:
        """The names of what some camera sees now, where cameras name things."""
        return self._eyes.objects()

    def cloud(self, name: str) -> PointCloud:
        """See `harness.protocols.LongHorizon.cloud`."""
        return self._eyes.cloud(name)

    def steps(self) -> int:
        return self._steps

    def verdict(self) -> Verdict:
        return self._oracle.verdict()

    def utterances(self) -> Sequence[Utterance]:
        """See `harness.protocols.LongHorizon.utterances`."""
        return self._oracle.utterances()

    def subtasks(self) -> Sequence[Subtask]:
        """See `harness.protocols.LongHorizon.subtasks`."""
        return self._oracle.subtasks()

    def current_subtask(self) -> int | None:
        """See `harness.protocols.LongHorizon.current_subtask`."""
        return self._oracle.current()

    def info(self) -> Mapping[str, str]:
        return {"robot": self._arm.name}

    def close(self) -> None:
        self._eyes.close()
        self._arm.close()
        stop.unregister(self._stop_folder, *self._address)
        if self._operator is not None:
            self._operator.close()

    def _make_ready(self) -> None:
        """After whatever stopped the last episode: wait until it has been cleared, connect again, take the arm up."""
        if self._operator is not None:
            stop.await_clear(self._stop_folder, self._operator)
        elif stop.stopped(self._stop_folder):
            raise SimulatorError(stop.STOPPED)
        try:
            self._state = self._arm.state()
        except SimulatorError:
            self._arm.close()
            self._arm = RemoteArm(*self._address, self._limits)
        self._state = self._arm.state()

    def _go_home(self) -> None:
        if self._state.stopped:
            self._state = self._arm.resume()
        for _ in range(_LONGEST):
            at, facing = self._state.goal
            if at[2] >= CLEAR:
                break
            self._step(
                partial(self._arm.step, at + np.array([0.0, 0.0, self.action_limits[0]]), facing, self._open)
            )
            if self._state.held:
                break
        for _ in range(_LONGEST):
            self._step(partial(self._arm.step_home, open_fingers=True))
            if self._state.at_home and self._state.opening > 0.8:
                return
        raise SimulatorError("the arm did not come home with open fingers")

    def _step(self, move: Callable[[], State]) -> None:
        """One control step, unless nothing may move. Raises `SimulatorError`."""
        self._check_stop()
        self._state = move()
        self._check_stop()

    def _check_stop(self) -> None:
        if stop.stopped(self._stop_folder):
            self._halt()
            raise SimulatorError(stop.STOPPED)
        if self._state.stopped:
            raise SimulatorError("the arm's server was told to stop; the next reset takes the arm up again")

    def _halt(self) -> None:
        """Tell the arm's server, by a connection of its own. That it cannot be told is no reason not to go on with stopping."""
        try:
            stop.tell(*self._address)
        except OSError as error:
            raise SimulatorError(
                f"{stop.STOPPED}; and the arm's server did not take the stop: {error}"
            ) from error

    def _lets_move(self) -> bool:
        """Whether the operator allows motion now, which is asked every so often where that is wished."""
        if self._confirm == "motion" and not self._allowed:
            if not self._allows(f"The arm moves for the next {AT_ONCE} control steps."):
                return False
            self._allowed = AT_ONCE
        self._allowed = max(0, self._allowed - 1)
        return True

    def _allows(self, what: str) -> bool:
        return self._confirm == "nothing" or self._operator is None or self._operator.allows(what)

    def _check_camera(self, camera: str) -> None:
        if camera not in CAMERAS:
            raise UsageError(f"widowx has no camera {camera!r}; it has {', '.join(CAMERAS)}")


def opened(config: WidowX) -> WidowXEnvironment:
    """With a real arm's server and real cameras. Raises `SimulatorError`."""
    assert config.address is not None
    folder = stop.place(config.stop_folder)
    with ExitStack() as unused:
        operator = Operator()
        unused.callback(operator.close)
        oracle = OperatorOracle(operator, Sheets(config.household()), partial(stop.stop, folder))
        cameras = {}
        for name in CAMERAS:
            cameras[name] = maker(getattr(config, name))()
            unused.callback(cameras[name].close)
        address = parted(config.address)
        env = WidowXEnvironment(config, address, operator, oracle, Cameras(cameras), config.confirm)
        unused.pop_all()
        return env
