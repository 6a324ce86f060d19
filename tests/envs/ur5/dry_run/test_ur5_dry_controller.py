"""The controller, told by registers what ur_rtde's script is told, cycle by cycle and without ur_rtde."""

import numpy as np
import pytest

from envs.ur5.dry_run.controller import Command, Controller, Program
from envs.ur5.dry_run.twin import Twin, as_frame, as_vector

SCRIPT = "def rtde_control():\n    global x = 0"
TOOL = [0.0, 0.0, 0.146, 0.0, 0.0, 0.0]
DOWN = [0.0, np.pi, 0.0]
SPEED, ACCELERATION = 0.1, 0.3


@pytest.fixture(scope="module")
def twin():
    return Twin()


class Told:
    """A controller, and what its registers say."""

    def __init__(self, twin):
        self.twin = twin
        twin.tool = [0.0] * 6
        self.controller = Controller(twin)
        self.controller.lay_out("rotate_box", np.random.default_rng(0))
        self.values = {}
        self.seen = []
        self.controller.play(SCRIPT)
        self.cycle()

    def cycle(self, count=1):
        for _ in range(count):
            self.values = self.controller.cycle()
            self.seen.append(self.values)

    def tell(self, command, doubles=(), asynchronous=0):
        """A command, until the script says that it is done, and its end."""
        registers = {f"input_double_register_{index}": value for index, value in enumerate(doubles)}
        self.controller.take(
            {"input_int_register_0": int(command), "input_int_register_1": asynchronous, **registers}
        )
        self.cycle()
        for _ in range(3000):
            if self.register(0) == 2 or self.values["runtime_state"] != Program.PLAYING:
                break
            self.cycle()
        self.controller.take({"input_int_register_0": 0})
        answer = self.register(1)
        if self.values["runtime_state"] == Program.PLAYING:
            done = self.register(0)
            self.cycle()
            assert (done, self.register(0)) == (2, 1)
        return answer

    def register(self, index):
        return self.values[f"output_int_register_{index}"]

    @property
    def running(self):
        return bool(self.register(2) >> 15 & 1)

    @property
    def operation(self):
        return self.register(2) >> 24

    @property
    def place(self):
        return np.array(self.values["actual_TCP_pose"][:3])


@pytest.fixture
def told(twin):
    told = Told(twin)
    told.tell(Command.SET_TOOL, TOOL)
    return told


def test_it_stands_where_the_twins_home_is(told):
    assert told.place == pytest.approx([-0.40, 0.0, 0.32], abs=1e-3)
    assert told.values["actual_q"] == pytest.approx(told.twin.home, abs=1e-3)
    assert (told.values["runtime_state"], told.values["safety_status_bits"]) == (2, 1)


def test_a_tool_is_measured_from_the_flange(told):
    told.tell(Command.SET_TOOL, [0.0] * 6)
    assert told.place == pytest.approx([-0.40, 0.0, 0.466], abs=1e-3)
    tilted = [0.01, -0.02, 0.1, 0.0, 0.3, 0.0]
    told.tell(Command.SET_TOOL, tilted)
    frame = told.twin.tool_at(told.twin.joints)
    again = told.twin.joints_for(frame, told.twin.joints + 0.02)
    assert told.twin.tool_at(again)[0] == pytest.approx(frame[0], abs=1e-3)


@pytest.mark.parametrize(
    "pose", [[0.1, -0.2, 0.3, 0.2, -1.0, 0.4], [0, 0, 0, 0, 0, 0], [1, 2, 3, 0, 3.0, 0.5]]
)
def test_a_pose_is_the_same_in_both_forms(pose):
    assert as_vector(as_frame(pose)) == pytest.approx(pose)


def test_a_line_that_is_waited_for(told):
    target = [-0.45, 0.1, 0.22, *DOWN]
    told.seen.clear()
    told.tell(Command.MOVE_LINE, [*target, SPEED, ACCELERATION])
    told.cycle(10)
    assert told.place == pytest.approx(target[:3], abs=1.5e-3)
    speeds = [np.linalg.norm(values["actual_TCP_speed"][:3]) for values in told.seen]
    assert max(speeds) == pytest.approx(SPEED, rel=0.1)
    assert told.operation == 0
    start = np.array(told.seen[0]["actual_TCP_pose"][:3])
    way = (np.array(target[:3]) - start) / np.linalg.norm(target[:3] - start)
    offsets = [np.array(values["actual_TCP_pose"][:3]) - start for values in told.seen]
    assert max(np.linalg.norm(offset - (offset @ way) * way) for offset in offsets) < 2e-3


def test_an_asynchronous_line_is_done_before_it_says_that_it_runs(told):
    """As on a robot, where a thread of the script says so: a client that asks at once is told that nothing runs."""
    told.tell(Command.MOVE_LINE, [-0.45, 0.1, 0.22, *DOWN, SPEED, ACCELERATION], asynchronous=1)
    done = next(
        values for values in told.seen if values["output_int_register_0"] == 2 and values is not told.seen[1]
    )
    assert told.running and told.operation == 1
    assert not told.seen[told.seen.index(done)]["output_int_register_2"] >> 15 & 1
    told.cycle(20)
    before = told.place
    told.tell(Command.STOP_LINE, [2.0])
    assert not told.running and told.operation == 1
    stopped = told.place
    assert np.linalg.norm(stopped - before) < 0.02
    told.cycle(30)
    assert told.place == pytest.approx(stopped, abs=1.5e-3)


def test_joints_and_servo(told):
    target = told.twin.home + np.array([0.2, 0.1, -0.1, 0.0, 0.1, 0.3])
    told.tell(Command.MOVE_JOINTS, [*target, 0.5, 0.5])
    told.cycle(20)
    assert told.values["actual_q"] == pytest.approx(target, abs=3e-3)
    told.controller.take(
        {
            "input_int_register_0": 11,
            **{f"input_double_register_{i}": q for i, q in enumerate(told.twin.home)},
        }
    )
    told.cycle(60)
    assert told.register(0) == 1
    assert told.values["actual_q"] == pytest.approx(told.twin.home, abs=5e-3)
    told.controller.take({"input_int_register_0": 0})
    told.cycle()
    told.tell(Command.STOP_SERVO, [2.0])
    assert np.abs(told.values["target_qd"]).max() == 0


@pytest.mark.parametrize(
    ("pose", "within"),
    [([-0.45, 0.1, 0.2, *DOWN], 1), ([-0.65, -0.35, 0.01, *DOWN], 1), ([-0.4, 0.1, 2.0, *DOWN], 0)],
)
def test_what_it_reaches(told, pose, within):
    assert told.tell(Command.POSE_WITHIN_LIMITS, pose) == within


@pytest.mark.parametrize("stop", ["stop_program", "press_emergency_stop"])
def test_a_stop_halts_it_and_ends_the_program(told, stop):
    told.tell(Command.MOVE_LINE, [-0.45, 0.3, 0.12, *DOWN, SPEED, ACCELERATION], asynchronous=1)
    told.cycle(60)
    getattr(told.controller, stop)(*([True] if "press" in stop else []))
    before = told.place
    told.cycle(60)
    assert np.linalg.norm(told.place - before) < 0.01
    assert np.abs(told.values["target_qd"]).max() == 0
    assert told.values["runtime_state"] == Program.STOPPED
    assert bool(told.values["safety_status_bits"] >> 7 & 1) == ("press" in stop)
    # A program that was ended says nothing more: the register keeps its last word.
    assert told.running
    told.controller.play(SCRIPT)
    told.cycle()
    assert (told.values["runtime_state"] == Program.PLAYING) == (stop == "stop_program")
    told.controller.press_emergency_stop(False)
    told.controller.play(SCRIPT)
    told.cycle()
    assert told.values["runtime_state"] == Program.PLAYING and not told.running


def test_it_stops_itself_at_the_table_and_until_someone_unlocks_it(told):
    told.tell(Command.MOVE_LINE, [-0.45, 0.0, -0.15, *DOWN, SPEED, ACCELERATION], asynchronous=1)
    told.cycle(800)
    assert told.values["safety_status_bits"] >> 2 & 1
    assert told.values["runtime_state"] == Program.PAUSED
    assert -0.01 < told.place[2] < 0.02
    told.controller.play(SCRIPT)
    told.cycle()
    assert told.values["runtime_state"] == Program.PAUSED
    told.controller.unlock()
    told.controller.play(SCRIPT)
    told.cycle()
    assert told.values["runtime_state"] == Program.PLAYING
    told.tell(Command.MOVE_LINE, [-0.45, 0.0, 0.1, *DOWN, SPEED, ACCELERATION])
    told.cycle(10)
    assert told.place[2] == pytest.approx(0.1, abs=3e-3)


def test_it_stops_itself_where_its_joints_cannot_follow(told):
    told.tell(Command.MOVE_LINE, [-1.2, 0.0, 0.3, *DOWN, SPEED, ACCELERATION], asynchronous=1)
    told.cycle(1200)
    assert told.values["safety_status_bits"] >> 2 & 1
    assert told.place[0] > -1.0


def test_a_command_that_is_not_known_ends_the_program_and_never_passes_for_done(told):
    told.tell(41)
    assert told.values["runtime_state"] == Program.STOPPED


def test_a_script_that_is_not_known_is_not_played(told):
    told.controller.stop_program()
    told.controller.play("def other():\n  movej([0,0,0,0,0,0])\n")
    told.cycle()
    assert told.values["runtime_state"] == Program.STOPPED


def test_the_end_of_the_script(told):
    told.tell(Command.STOP_SCRIPT)
    assert told.values["runtime_state"] == Program.STOPPED
