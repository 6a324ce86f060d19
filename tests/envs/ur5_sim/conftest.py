import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envs.mujoco.environment import ManipulationEnvironment
from envs.ur5_sim import Ur5Sim
from harness.seeding import Seeds


@pytest.fixture(scope="module")
def ur5() -> Iterator[ManipulationEnvironment]:
    env = Ur5Sim(noise=0).open()
    yield env
    env.close()


@pytest.fixture
def scene(ur5) -> Callable[..., ManipulationEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> ManipulationEnvironment:
        ur5.reset(task, index, Seeds("ur5_sim", task, index, 0))
        return ur5

    return put_up


@pytest.fixture(scope="session")
def expert() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ur5_expert", Path(__file__).parent / "expert.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
