from rlbench.backend.task import Task

COLOURS = ("maroon", "green", "blue", "teal")


class PushButton(Task):
    """Succeeds only as long as the button is down."""

    OBJECTS = (
        ("push_button_target", "", (0, 0, 0.008), (0.05, 0.05, 0.008), True),
        ("target_button_topPlate", "push_button_target", (0, 0, 0.02), (0.03, 0.03, 0.01), True),
    )

    def init_episode(self, index):
        colour = COLOURS[index]
        return [f"push the {colour} button", f"press down the {colour} button"]

    def variation_count(self) -> int:
        return len(COLOURS)

    def succeeded(self) -> bool:
        return bool(abs(self.tip() - self.position("target_button_topPlate")).max() < 0.012)
