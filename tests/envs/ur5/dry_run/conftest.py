import pytest

from envs.ur5 import environment
from envs.ur5.dry_run import Ur5DryRun
from harness.seeding import Seeds
from tests.envs.ur5 import stub

PACE = 4.0


@pytest.fixture(scope="module")
def patched():
    with pytest.MonkeyPatch.context() as patched:
        yield patched


@pytest.fixture(scope="module")
def operator(patched):
    operator = stub.Operator()
    patched.setattr(environment, "Operator", lambda: operator)
    return operator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stop")


@pytest.fixture(scope="module")
def opened(operator, folder):
    """Of the real ur_rtde, connected to a process of its own."""
    pytest.importorskip("rtde_control", reason="pip install ur_rtde")
    env = Ur5DryRun(pace=PACE, stop_folder=str(folder)).open()
    yield env
    env.close()


@pytest.fixture
def robot(opened, operator):
    """With a scene up."""
    opened.reset("rotate_box", 0, Seeds("ur5_dry_run", "rotate_box", 0, 0))
    operator.asked.clear()
    operator.answers.clear()
    return opened
