import numpy as np

from rlbench.backend.task import Task


class PutRubbishInBin(Task):
    OBJECTS = tuple(
        shape
        for name, place, half in (
            ("bin", (0.09, -0.2, 0.09), (0.07, 0.07, 0.09)),
            ("rubbish", (0.0, 0.1, 0.02), (0.02, 0.02, 0.02)),
            ("tomato1", (-0.1, 0.1, 0.02), (0.02, 0.02, 0.02)),
            ("tomato2", (0.1, 0.1, 0.02), (0.02, 0.02, 0.02)),
        )
        for shape in ((name, "", place, half, False), (f"{name}_visual", name, (0, 0, 0), half, True))
    )
    GRASPABLE = ("rubbish",)

    def init_episode(self, index):
        return ["put rubbish in bin", "throw the rubbish away"]

    def succeeded(self) -> bool:
        return bool(np.linalg.norm(self.position("rubbish") - self.position("bin")) < 0.05)
