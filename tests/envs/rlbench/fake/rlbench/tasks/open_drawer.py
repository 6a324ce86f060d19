from rlbench.backend.task import Task


class OpenDrawer(Task):
    OBJECTS = (
        ("drawer_frame", "", (0, 0, 0.2), (0.18, 0.18, 0.2), True),
        ("drawer_bottom", "drawer_frame", (0, 0, -0.1), (0.03, 0.03, 0.19), True),
        ("drawer_middle", "drawer_frame", (0, 0, 0.0), (0.03, 0.03, 0.21), True),
        ("drawer_top", "drawer_frame", (0, 0, 0.1), (0.03, 0.03, 0.19), True),
    )

    def init_episode(self, index):
        option = ["bottom", "middle", "top"][index]
        return [f"open {option} drawer", f"slide out the {option} drawer"]

    def variation_count(self) -> int:
        return 3
