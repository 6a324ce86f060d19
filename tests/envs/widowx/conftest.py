import pytest

from envs.widowx import WidowX, environment
from envs.widowx.guard import LIMITS
from envs.widowx.serve import Server
from harness.seeding import Seeds
from tests.envs.widowx import stub


@pytest.fixture
def arm():
    return stub.Arm()


@pytest.fixture
def server(arm):
    server = Server(arm, LIMITS, port=0)
    yield server
    server.close()


@pytest.fixture
def operator(monkeypatch):
    operator = stub.Operator()
    monkeypatch.setattr(environment, "Operator", lambda: operator)
    return operator


@pytest.fixture
def config(server, tmp_path):
    """Of a robot at loopback; `config(KEY=...)`."""

    def make(**keys):
        usual = {
            "address": f"127.0.0.1:{server.address[1]}",
            "third_person": "tests.envs.widowx.stub.Camera",
            "wrist": "tests.envs.widowx.stub.Camera:12",
            "stop_folder": str(tmp_path / "stop"),
        }
        return WidowX(**{**usual, **keys})

    return make


@pytest.fixture
def robot(arm, operator, config):
    """The environment, connected and with a scene up."""
    env = config().open()
    env.reset("object_search", 0, seeds("object_search"))
    arm.log.clear()
    operator.asked.clear()
    operator.told.clear()
    yield env
    env.close()


def seeds(task, scene=0):
    return Seeds("widowx", task, scene, 0)
