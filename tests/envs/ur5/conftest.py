import sys

import pytest

from envs.ur5 import Ur5, environment
from tests.envs.ur5 import stub


@pytest.fixture
def arm(monkeypatch):
    arm = stub.Arm()
    for name, module in stub.modules(arm).items():
        monkeypatch.setitem(sys.modules, name, module)
    return arm


@pytest.fixture
def hand():
    return stub.Gripper()


@pytest.fixture
def operator(monkeypatch):
    operator = stub.Operator()
    monkeypatch.setattr(environment, "Operator", lambda: operator)
    return operator


@pytest.fixture
def config(hand, tmp_path):
    """With a gripper and a dashboard server that answer on loopback."""
    with stub.Server(hand.answer) as gripper:
        yield Ur5(
            ip="127.0.0.1",
            gripper_port=gripper.port,
            dashboard_port=1,
            stop_folder=str(tmp_path / "stop"),
            camera="tests.envs.ur5.stub.Camera",
            camera_pose=stub.POSE,
            detector="tests.envs.ur5.stub.Detector",
        )


@pytest.fixture
def robot(arm, operator, config, monkeypatch):
    """The environment, connected and with a scene up."""
    monkeypatch.setattr(environment, "CONTROL_HZ", 2000.0)
    env = config.open()
    env.reset("rotate_box", 0, None)
    arm.log.clear()
    operator.asked.clear()
    yield env
    env.close()
