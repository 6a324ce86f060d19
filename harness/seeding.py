"""The seed tree. A scene depends on (environment, task, scene index) and on nothing else, so all methods
and all worker counts meet the same scenes. Sensor noise and a method's own randomness hang under
(cell seed, episode, trial); noise is the same for all methods, so that first trials can be compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive(*path: str | int) -> int:
    """A 63-bit seed for a path in the tree; stable across machines and Python versions."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in path)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


@dataclass(frozen=True)
class Seeds:
    """The branches that one trial may draw from. Each call gives a fresh generator at its start."""

    env: str
    task: str
    scene_index: int
    cell_seed: int
    trial: int = 0

    def scene(self) -> np.random.Generator:
        return _generator("scene", self.env, self.task, self.scene_index)

    def noise(self) -> np.random.Generator:
        return _generator("noise", self.env, self.task, self.scene_index, self.cell_seed, self.trial)

    def sampling(self, *path: str | int) -> int:
        """Seed for the method's own draws. It does not hold the method's name: methods that start
        with the same work start with the same draws."""
        return derive("method", self.env, self.task, self.scene_index, self.cell_seed, self.trial, *path)


def _generator(*path: str | int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(derive(*path))
