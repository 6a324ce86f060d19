from collections.abc import Iterator

import numpy as np
import pytest

from envs.household import Household
from envs.household.environment import HouseholdEnvironment
from harness.failures import PerceptionFailure
from harness.protocols import Actuated, Mark, PointCloud, Pose, View


@pytest.fixture(scope="module")
def household() -> Iterator[HouseholdEnvironment]:
    """With the sensors' noise."""
    env = Household().open()
    yield env
    env.close()


class Table:
    """A long-horizon environment of boxes that stand still, `objects` by name as (centre, half), whose arm goes where it is
    told at once and whose fingers are where `opening` says. It has no oracle: what only that knows raises."""

    action_limits = (0.02, 0.12)
    rest = Pose(np.array([0.1, 0.0, 0.2]), np.array([0.0, 0.0, 1.0, 0.0]))

    def __init__(self, **objects: tuple[tuple[float, float, float], tuple[float, float, float]]) -> None:
        self.solids = {name.replace("_", " "): solid for name, solid in objects.items()}
        self.tool = np.array([0.1, 0.0, 0.2])
        self.opening = 1.0
        self.taken: list[np.ndarray] = []
        self.viewed = 0

    def steps(self) -> int:
        return len(self.taken)

    def cameras(self) -> tuple[str, ...]:
        return ("third_person", "wrist")

    def observation(self, cameras=()):
        return {
            **{f"rgb_{camera}": np.full((120, 160, 3), 200, np.uint8) for camera in cameras},
            "tool": np.concatenate([self.tool, [0.0, 0.0, 1.0, 0.0]]),
            "gripper": np.array([self.opening]),
            "joints": np.zeros(6),
        }

    def view(self, camera: str) -> View:
        self.viewed += 1
        marks = tuple(Mark(name, (0, 0, 4, 4)) for name in self.solids)
        return View(np.zeros((8, 8, 3), np.uint8), marks, 1.0)

    def cloud(self, name: str) -> PointCloud:
        if name not in self.solids:
            raise PerceptionFailure(f"no camera sees {name!r}")
        centre, half = map(np.array, self.solids[name])
        grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 3), -1).reshape(-1, 3)
        return PointCloud(centre + grid * half, np.zeros((len(grid), 3)))

    def act(self, action) -> Actuated:
        self.tool = self.tool + action[:3]
        self.taken.append(action)
        return Actuated()

    def _oracle(self, *_: object):
        raise AssertionError("an executor asked the oracle")

    subtasks = current_subtask = verdict = utterances = _oracle


@pytest.fixture
def table() -> type[Table]:
    return Table
