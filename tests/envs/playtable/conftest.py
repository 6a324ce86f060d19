import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envs.mujoco.environment import ManipulationEnvironment
from envs.playtable import Playtable
from harness.seeding import Seeds


@pytest.fixture(scope="module")
def playtable() -> Iterator[ManipulationEnvironment]:
    env = Playtable(noise=0).open()
    yield env
    env.close()


@pytest.fixture
def scene(playtable) -> Callable[..., ManipulationEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> ManipulationEnvironment:
        playtable.reset(task, index, Seeds("playtable", task, index, 0))
        return playtable

    return put_up


@pytest.fixture(scope="session")
def expert() -> ModuleType:
    """The experts of all families of tasks."""
    spec = importlib.util.spec_from_file_location("playtable_expert", Path(__file__).parent / "expert.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
