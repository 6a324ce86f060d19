from collections.abc import Callable, Iterator

import pytest

from envs.mujoco.environment import ManipulationEnvironment
from envs.tabletop import Tabletop
from harness.seeding import Seeds


@pytest.fixture(scope="module")
def tabletop() -> Iterator[ManipulationEnvironment]:
    env = Tabletop(noise=0).open()
    yield env
    env.close()


@pytest.fixture
def scene(tabletop) -> Callable[..., ManipulationEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> ManipulationEnvironment:
        tabletop.on_control_step = None
        tabletop.reset(task, index, Seeds("tabletop", task, index, 0))
        return tabletop

    return put_up
