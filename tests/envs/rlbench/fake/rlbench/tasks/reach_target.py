import numpy as np

from rlbench.backend.task import Task


class ReachTarget(Task):
    """Not one of the nine: its names are found in its scene."""

    OBJECTS = (
        ("boundary", "", (0, 0, 0.2), (0.2, 0.2, 0.2), False),
        ("spawn_boundary_visual", "", (0, 0, 0.001), (0.2, 0.2, 0.0), True),
        ("target", "", (0, 0, 0.2), (0.03, 0.03, 0.03), True),
        ("distractor0", "", (0.1, 0.1, 0.1), (0.03, 0.03, 0.03), True),
        ("tall_cup", "", (-0.1, 0.1, 0.05), (0.03, 0.03, 0.05), False),
        ("tall_cup_visual", "tall_cup", (0, 0, 0), (0.03, 0.03, 0.05), True),
    )

    def init_episode(self, index):
        words = ["reach the target"]
        words.append("touch the target")
        return words

    def succeeded(self) -> bool:
        return bool(np.linalg.norm(self.tip() - self.position("target")) < 0.02)
