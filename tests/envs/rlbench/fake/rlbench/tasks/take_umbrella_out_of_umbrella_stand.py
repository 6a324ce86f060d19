from rlbench.backend.task import Task


class TakeUmbrellaOutOfUmbrellaStand(Task):
    OBJECTS = (
        ("stand", "", (0.05, -0.1, 0.1), (0.05, 0.05, 0.1), False),
        ("stand_visual", "stand", (0, 0, 0), (0.05, 0.05, 0.1), True),
        ("umbrella", "", (0.05, -0.1, 0.2), (0.02, 0.02, 0.12), False),
        ("umbrella_visual", "umbrella", (0, 0, 0), (0.02, 0.02, 0.12), True),
    )
    GRASPABLE = ("umbrella",)

    def init_episode(self, index):
        return ["take umbrella out of umbrella stand", "get the umbrella"]

    def succeeded(self) -> bool:
        return bool(self.position("umbrella")[2] > 1.1)
