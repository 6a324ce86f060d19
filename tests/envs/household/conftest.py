import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envs.household import Household
from envs.household.environment import HouseholdEnvironment
from harness.seeding import Seeds


@pytest.fixture(scope="module")
def household() -> Iterator[HouseholdEnvironment]:
    env = Household(noise=0).open()
    yield env
    env.close()


@pytest.fixture
def scene(household) -> Callable[..., HouseholdEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> HouseholdEnvironment:
        household.on_control_step = None
        household.reset(task, index, Seeds("household", task, index, 0))
        return household

    return put_up


@pytest.fixture(scope="session")
def kit() -> ModuleType:
    """The expert's module."""
    spec = importlib.util.spec_from_file_location("household_expert", Path(__file__).parent / "expert.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
