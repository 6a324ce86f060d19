from rlbench.backend.task import Task


class OpenWineBottle(Task):
    OBJECTS = (
        ("bottle", "", (-0.05, 0.03, 0.15), (0.035, 0.035, 0.15), False),
        ("bottle_visual", "bottle", (0, 0, 0), (0.035, 0.035, 0.15), True),
        ("cap", "bottle", (0, 0, 0.155), (0.014, 0.014, 0.005), False),
        ("cap_visual", "cap", (0, 0, 0), (0.016, 0.016, 0.01), True),
    )
    GRASPABLE = ("cap",)

    def init_episode(self, index):
        return ["open wine bottle", "take the cap off"]
