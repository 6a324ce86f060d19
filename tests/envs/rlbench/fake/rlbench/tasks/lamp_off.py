from rlbench.backend.task import Task


class LampOff(Task):
    OBJECTS = (
        ("lamp_base", "", (0.06, -0.07, 0.1), (0.05, 0.05, 0.1), True),
        ("lampshade", "lamp_base", (0, 0, 0.15), (0.08, 0.08, 0.05), True),
        ("push_button_target", "", (0.05, 0.15, 0.01), (0.02, 0.02, 0.01), True),
        ("target_button_topPlate", "push_button_target", (0, 0, 0.02), (0.016, 0.016, 0.008), True),
    )

    def init_episode(self, index):
        return ["turn off the light", "make it dark", "press the light's button"]

    def succeeded(self) -> bool:
        return bool(abs(self.tip() - self.position("target_button_topPlate")).max() < 0.012)
