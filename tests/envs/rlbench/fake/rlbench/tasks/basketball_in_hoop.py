import numpy as np

from rlbench.backend.task import Task


class BasketballInHoop(Task):
    OBJECTS = (
        ("basket_boundary_root", "", (0, 0, 0.01), (0.15, 0.25, 0.0), False),
        ("basket_ball_hoop_respondable", "basket_boundary_root", (0.1, 0, 0.25), (0.1, 0.2, 0.2), False),
        ("basket_ball_hoop_visual", "basket_ball_hoop_respondable", (0, 0, 0), (0.09, 0.06, 0.05), True),
        ("ball", "basket_boundary_root", (-0.15, 0.03, 0.02), (0.03, 0.03, 0.03), True),
    )
    GRASPABLE = ("ball",)

    def init_episode(self, index):
        return ["put the ball in the hoop", "let the ball go through the hoop"]

    def succeeded(self) -> bool:
        goal = self.position("basket_ball_hoop_respondable")
        return bool(np.linalg.norm(self.position("ball") - goal) < 0.04)
