from rlbench.backend.task import Task


class BeatTheBuzz(Task):
    """Fails once the wand is low, succeeds where it is high."""

    OBJECTS = (
        ("Cuboid", "", (0, 0, 0.15), (0.05, 0.15, 0.15), True),
        ("wand", "Cuboid", (-0.15, 0.05, 0.05), (0.01, 0.01, 0.1), False),
        ("wand_visual", "wand", (0, 0, 0), (0.01, 0.01, 0.1), True),
    )
    GRASPABLE = ("wand",)

    def init_episode(self, index):
        return ["beat the buzz", "do not let the ring touch the wire"]

    def failed(self) -> bool:
        return bool(self.position("wand")[2] < 0.9)

    def succeeded(self) -> bool:
        return bool(self.position("wand")[2] > 1.1)
