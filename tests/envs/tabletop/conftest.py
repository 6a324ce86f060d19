from collections.abc import Callable, Iterator

import pytest

from envs.tabletop import Tabletop
from envs.tabletop.environment import TabletopEnvironment
from harness.seeding import Seeds


@pytest.fixture(scope="module")
def tabletop() -> Iterator[TabletopEnvironment]:
    env = Tabletop(noise=0).open()
    yield env
    env.close()


@pytest.fixture
def scene(tabletop) -> Callable[..., TabletopEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> TabletopEnvironment:
        tabletop.on_control_step = None
        tabletop.reset(task, index, Seeds("tabletop", task, index, 0))
        return tabletop

    return put_up
