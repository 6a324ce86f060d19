"""A UR5's controller as far as ur_rtde needs one: registers, the state of program and safety, and what ur_rtde's own
control script does with its registers. The script is not interpreted: its commands are done here, cycle by cycle, in the
order and with the words that the script uses; one that is not known here ends the program."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from envs.ur5.dry_run.rtde import RATE
from envs.ur5.dry_run.travel import Travel, Unreachable, along_line, through_joints
from envs.ur5.dry_run.twin import Twin, as_frame, as_vector

if TYPE_CHECKING:
    from harness.protocols import Floats

PERIOD = 1 / RATE
"""Seconds of a cycle."""
FASTEST_JOINT = 3.2
"""A motion that asks more of a joint is stopped by the controller, radians per second."""
_HARD = 4.0
"""Deceleration of stops that the controller makes by itself, radians (or metres) per second squared."""
_BLOCKED_CYCLES = 10
_READY, _DONE = 1, 2
_REGISTERS = 48
_log = logging.getLogger("envs.ur5.dry_run")


class Program(IntEnum):
    """RTDE's `runtime_state`."""

    STOPPED = 1
    PLAYING = 2
    PAUSED = 4


class Command(IntEnum):
    """What ur_rtde's script is told in its first integer register."""

    NOTHING = 0
    MOVE_JOINTS = 1
    MOVE_LINE = 3
    SERVO_JOINTS = 11
    STOP_SERVO = 16
    SET_TOOL = 29
    PROTECTIVE_STOP = 31
    STOP_LINE = 33
    STOP_JOINTS = 34
    POSE_WITHIN_LIMITS = 36
    STOP_SCRIPT = 255


class Controller:
    """`cycle` is called 125 times a second of its own time; everything else from any thread."""

    def __init__(self, twin: Twin) -> None:
        self.protected = self.emergency = False
        self.program = Program.STOPPED
        self._twin = twin
        self._lock = threading.RLock()
        self._joints = twin.home.copy()
        self._rate = np.zeros(6)
        self._travel: Travel | None = None
        self._servo: Floats | None = None
        self._cycles = self._blocked = 0
        self._integers = [0] * _REGISTERS
        self._doubles = [0.0] * _REGISTERS
        self._output = [0] * _REGISTERS
        self._last_tool = twin.tool_at(twin.joints)[0]
        self._executing = self._waiting = self._begun = self._asynchronous = False
        self._operation = self._written = 0

    @property
    def safety(self) -> str:
        """The dashboard server's word for it."""
        if self.emergency:
            return "ROBOT_EMERGENCY_STOP"
        return "PROTECTIVE_STOP" if self.protected else "NORMAL"

    # From outside

    def take(self, values: Mapping[str, Any]) -> None:
        """Registers that a client of RTDE sends."""
        with self._lock:
            for name, value in values.items():
                kind, _, index = name.rpartition("_")
                if kind == "input_int_register":
                    self._integers[int(index)] = value
                elif kind == "input_double_register":
                    self._doubles[int(index)] = value

    def play(self, script: str) -> None:
        """Start a program that was sent as a script; only ur_rtde's own is known."""
        with self._lock:
            if not script.lstrip().startswith("def rtde_control():"):
                _log.warning("a script that is not ur_rtde's was not played: %.60r", script)
                return
            if self.protected or self.emergency:
                return
            self.program = Program.PLAYING
            self._executing = self._waiting = self._begun = self._asynchronous = False
            self._report_progress(running=False)
            self._output[0] = _READY

    def stop_program(self) -> None:
        """As the pendant's and the dashboard server's stop: the arm comes to a halt."""
        with self._lock:
            self.program = Program.STOPPED
            self._halt(_HARD)

    def stop_itself(self, why: str) -> None:
        """A protective stop, until someone unlocks it."""
        with self._lock:
            if not self.protected:
                _log.info("protective stop: %s", why)
            self.protected = True
            self.program = Program.PAUSED
            self._halt(_HARD)

    def unlock(self) -> None:
        """After a protective stop."""
        with self._lock:
            self.protected = False

    def press_emergency_stop(self, pressed: bool) -> None:
        with self._lock:
            self.emergency = pressed
            if pressed:
                self.program = Program.STOPPED
                self._halt(_HARD)

    def lay_out(self, task: str, generator: np.random.Generator) -> str:
        """See `Twin.lay_out`."""
        with self._lock:
            digest = self._twin.lay_out(task, generator)
            self._joints, self._rate = self._twin.home.copy(), np.zeros(6)
            self._travel = self._servo = None
            return digest

    # Cycle by cycle

    def cycle(self) -> Mapping[str, Any]:
        """One period; returns RTDE's variables."""
        with self._lock:
            if self.program is Program.PLAYING:
                self._run_script()
            before = self._joints
            try:
                self._joints = self._next()
            except Unreachable as reason:
                self._travel = self._servo = None
                self.stop_itself(str(reason))
            self._rate = (self._joints - before) / PERIOD
            self._twin.step(self._joints, self._rate, PERIOD)
            self._blocked = self._blocked + 1 if self._twin.blocked(self._joints) else 0
            if self._blocked == _BLOCKED_CYCLES:
                # Where it is now is where it stands from here on: it does not go on pushing.
                self._joints, self._travel, self._servo = self._twin.joints, None, None
                self.stop_itself("the arm ran into something")
            self._cycles += 1
            return self._variables()

    def _next(self) -> Floats:
        """Joint angles one period later."""
        joints = self._joints
        if self._travel is not None:
            joints = self._travel.step(PERIOD)
            if self._travel.ended:
                self._travel = None
                self._end_thread()
        elif self._servo is not None:
            reach = FASTEST_JOINT / 2 * PERIOD
            joints = joints + np.clip(self._servo - joints, -reach, reach)
        if np.abs(joints - self._joints).max() > FASTEST_JOINT * PERIOD:
            raise Unreachable("a joint would have to turn too fast")
        return joints

    def _run_script(self) -> None:
        """A round of the script's loop."""
        if self._begun:
            # The thread of a motion comes to say that it runs when the loop has told that its command is done.
            self._begun = False
            self._report_progress(running=True)
        if self._waiting:
            if self._travel is not None:
                return
            self._waiting, self._output[0] = False, _DONE
        number = self._integers[0]
        if number == Command.NOTHING:
            self._executing, self._output[0] = False, _READY
        elif number == Command.SERVO_JOINTS:
            self._do(number)
            self._output[0] = _READY
        elif not self._executing:
            self._executing = True
            self._do(number)

    def _do(self, number: int) -> None:
        numbers, asynchronous = self._doubles, self._integers[1] == 1
        if number == Command.MOVE_JOINTS:
            self._start(through_joints(self._joints, numbers[:6], numbers[6], numbers[7]), asynchronous)
        elif number == Command.MOVE_LINE:
            start, target = self._twin.tool_at(self._joints), as_frame(numbers[:6])
            line = along_line(start, target, self._joints_for, numbers[6], numbers[7])
            self._start(line, asynchronous)
        elif number == Command.SERVO_JOINTS:
            self._servo = np.array(numbers[:6])
        elif number == Command.STOP_SERVO:
            self._servo = None
        elif number in (Command.STOP_LINE, Command.STOP_JOINTS):
            # The script ends the thread of the motion first, and then brakes.
            self._end_thread()
            self._halt(numbers[0])
            self._waiting = self._travel is not None
        elif number == Command.SET_TOOL:
            self._twin.tool = list(numbers[:6])
        elif number == Command.PROTECTIVE_STOP:
            self.stop_itself("the program asked for it")
        elif number == Command.POSE_WITHIN_LIMITS:
            self._output[1] = int(self._twin.reaches(as_frame(numbers[:6])))
        elif number == Command.STOP_SCRIPT:
            self.stop_program()
        else:
            _log.warning("ur_rtde's command %d is not part of the dry run; its program ends", number)
            self.stop_program()
        if not self._waiting:
            self._output[0] = _DONE

    def _start(self, travel: Travel, asynchronous: bool) -> None:
        self._travel, self._servo = travel, None
        self._asynchronous = self._begun = asynchronous
        self._waiting = not asynchronous

    def _halt(self, deceleration: float) -> None:
        self._servo = None
        if self._travel is not None:
            self._travel.brake(deceleration)

    def _end_thread(self) -> None:
        """The word of a motion's thread that it has ended; a program that is no more says nothing."""
        if self._asynchronous and self.program is Program.PLAYING:
            if self._begun:
                self._report_progress(running=True)
            self._report_progress(running=False)
        self._asynchronous = self._begun = False

    def _report_progress(self, running: bool) -> None:
        """The script's word on what goes on beside it: a count of words, a count of operations, whether one runs."""
        self._written = (self._written + 1) % 128
        self._operation = (self._operation + running) % 128
        self._output[2] = (self._operation << 24) | (self._written << 16) | (running << 15)

    def _joints_for(self, frame: tuple[Floats, Floats]) -> Floats:
        return self._twin.joints_for(frame, self._joints)

    def _variables(self) -> Mapping[str, Any]:
        twin = self._twin
        joints, speed = twin.joints.tolist(), twin.joint_speed.tolist()
        frame = twin.tool_at(twin.joints)
        moved = (frame[0] - self._last_tool) / PERIOD
        self._last_tool = frame[0]
        playing = self.program is Program.PLAYING
        halted = self.protected or self.emergency
        return {
            "timestamp": self._cycles * PERIOD,
            "target_q": self._joints.tolist(),
            "target_qd": self._rate.tolist(),
            "actual_q": joints,
            "actual_qd": speed,
            "actual_TCP_pose": as_vector(frame),
            "actual_TCP_speed": [*moved.tolist(), 0.0, 0.0, 0.0],
            "target_TCP_pose": as_vector(twin.tool_at(self._joints)),
            "robot_mode": 7,
            "joint_mode": [253] * 6,
            "safety_mode": 7 if self.emergency else 3 if self.protected else 1,
            "speed_scaling": 1.0,
            "target_speed_fraction": 1.0,
            "runtime_state": int(self.program),
            "robot_status_bits": 1 | (playing << 1),
            "safety_status_bits": (not halted) | (self.protected << 2) | (self.emergency << 7),
            **{f"output_int_register_{index}": self._output[index] for index in range(3)},
        }
