from rlbench.backend.task import Task


class TakeLidOffSaucepan(Task):
    OBJECTS = (
        ("saucepan", "", (0, 0, 0.045), (0.11, 0.11, 0.045), False),
        ("saucepan_visual", "saucepan", (0, 0, 0), (0.11, 0.11, 0.04), True),
        ("saucepan_lid_grasp_point", "saucepan", (0, 0, 0.06), (0.03, 0.03, 0.01), False),
        ("saucepan_lid", "saucepan_lid_grasp_point", (0, 0, -0.01), (0.11, 0.11, 0.01), False),
        ("saucepan_lid_visual", "saucepan_lid", (0, 0, -0.008), (0.11, 0.11, 0.005), True),
        ("knob", "saucepan_lid", (0, 0, 0.01), (0.02, 0.02, 0.013), True),
    )
    GRASPABLE = ("saucepan_lid_grasp_point",)

    def init_episode(self, index):
        return ["take lid off the saucepan", "lift the lid"]

    def succeeded(self) -> bool:
        held = bool(self.robot.gripper.get_grasped_objects())
        return held and bool(self.position("saucepan_lid_grasp_point")[2] > 0.95)
