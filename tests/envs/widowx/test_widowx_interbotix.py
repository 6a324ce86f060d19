"""The real arm's driver against a stand-in of Interbotix's API; and that the model that the limits are computed with is the
arm's."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from envs.household.setting import SETTING
from envs.mujoco.kinematics import Kinematics
from envs.widowx.guard import LIMITS, PERIOD, Guard
from harness.failures import SimulatorError
from tests.envs.widowx import interbotix_stub

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def motors():
    motors = interbotix_stub.Motors()
    motors.joints = np.array(SETTING.home)
    return motors


@pytest.fixture
def driver(motors, monkeypatch):
    for name, module in interbotix_stub.modules(motors).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "envs.widowx.interbotix", raising=False)
    module = importlib.import_module("envs.widowx.interbotix")
    yield module
    sys.modules.pop("envs.widowx.interbotix", None)


def test_the_twins_kinematics_are_the_arms_published_ones():
    """Tip and hand, to a tenth of a millimetre; the tool's z is the hand's x, and both have the fingers' y."""
    kinematics, generator = Kinematics(SETTING), np.random.default_rng(0)
    for joints in generator.uniform(-1.5, 1.5, (50, 6)):
        position, quaternion = kinematics.pose(joints)
        tip, hand = interbotix_stub.forward(joints)
        assert position == pytest.approx(tip, abs=1e-4)
        w, x, y, z = quaternion
        approach = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
        fingers = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)]
        assert approach == pytest.approx(hand[:, 0], abs=1e-6)
        assert fingers == pytest.approx(hand[:, 1], abs=1e-6)


def test_it_starts_the_api_once_the_arm_is_there(driver, motors):
    arm = driver.Interbotix("left/wx250s")
    assert motors.log == [("arm", "left/wx250s"), ("startup",)]
    assert arm.name == "interbotix left/wx250s"
    assert arm.joints() == pytest.approx(SETTING.home)
    assert arm.opening() == 1.0
    arm.close()
    assert motors.log[-1] == ("shutdown",)


def test_a_step_is_a_command_that_does_not_wait(driver, motors):
    arm = driver.Interbotix()
    arm.command(np.array(SETTING.home) + 0.05, True, PERIOD)
    arm.command(np.array(SETTING.home), True, PERIOD)
    assert motors.joints == pytest.approx(SETTING.home)
    assert motors.log[2:] == [
        ("move", pytest.approx(0.15), pytest.approx(0.075)),
        ("release", 0.0),
        ("move", pytest.approx(0.15), pytest.approx(0.075)),
    ]


def test_the_fingers_are_told_when_it_changes(driver, motors):
    arm = driver.Interbotix()
    for open_fingers in (False, False, True, True):
        arm.command(np.array(SETTING.home), open_fingers, PERIOD)
        if not open_fingers:
            assert arm.opening() == pytest.approx(0.25)
    assert [entry for entry in motors.log if entry[0] in ("grasp", "release")] == [
        ("grasp", 0.0),
        ("release", 0.0),
    ]


def test_what_the_api_refuses_is_said(driver, motors):
    arm = driver.Interbotix()
    arm.command(np.array(SETTING.home), True, PERIOD)
    far = np.array(SETTING.home) + np.array([1.0, 0, 0, 0, 0, 0])
    with pytest.raises(SimulatorError, match="refuses the joints"):
        arm.command(far, True, PERIOD)
    with pytest.raises(SimulatorError, match="beyond its limits"):
        arm.command(np.array([0, 0, 0, 0, 2.2, 0]), True, PERIOD)
    assert motors.joints == pytest.approx(SETTING.home)


def test_a_halt_is_taken_also_far_from_the_last_command(driver, motors):
    arm = driver.Interbotix()
    arm.command(np.array(SETTING.home), False, PERIOD)
    motors.joints = np.array(SETTING.home) + np.array([1.0, 0, 0, 0, 0, 0])  # pushed away
    arm.halt()
    kind, group, joints = motors.log[-1]
    assert (kind, group) == ("write", "arm")
    assert joints == pytest.approx(motors.joints)
    arm.command(motors.joints - 0.1, False, PERIOD)
    assert ("release", 0.0) not in motors.log


def test_an_arm_that_says_nothing_is_lost_and_told_nothing(driver, motors, monkeypatch):
    arm = driver.Interbotix()
    assert arm.joints() is not None
    motors.silent = True
    before = list(motors.log)
    now = driver.time.monotonic()
    monkeypatch.setattr(driver.time, "monotonic", lambda: now + 60)
    arm._stamp = arm._said()
    for ask in (arm.joints, arm.opening, lambda: arm.command(np.zeros(6), True, PERIOD)):
        with pytest.raises(SimulatorError, match="tells its joints no more"):
            ask()
    assert motors.log == before
    motors.silent = False
    assert arm.joints() == pytest.approx(SETTING.home)


def test_without_a_control_node_it_says_so(driver, motors):
    motors.missing = True
    with pytest.raises(SimulatorError, match="no arm wx250s"):
        driver.Interbotix()


def test_the_guard_drives_it(driver, motors):
    guard = Guard(driver.Interbotix(), LIMITS)
    at, facing = guard.rest
    for step in range(1, 6):
        assert guard.step(at + np.array([0.015 * step, 0.0, 0.0]), facing, True).held == ""
    tip, _ = interbotix_stub.forward(motors.joints)
    assert tip - at == pytest.approx([0.075, 0.0, 0.0], abs=2e-3)
    guard.stop()
    assert motors.log[-1][0] == "write"


def test_the_robots_computer_needs_numpy_mujoco_and_what_python_3_10_reads():
    """ROS 2 Humble has Python 3.10."""
    found = subprocess.run(
        [sys.executable, "-c", "import sys, envs.widowx.serve; print(*sys.modules)"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name for name in found if name.split(".")[0] in ("envs", "harness", "methods")}
    assert not {name for name in ours if name.startswith("methods")}
    for name in ours:
        source = Path(importlib.util.find_spec(name).origin)
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 10))
    for missing in ("hydra", "omegaconf", "PIL", "rich"):
        assert missing not in found
