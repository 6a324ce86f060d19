from __future__ import annotations

import numpy as np
from pyrep import world
from pyrep.const import ObjectType
from pyrep.objects.object import Object

from rlbench import faults

START = np.array([0.28, -0.01, 1.47, 0.0, 1.0, 0.0, 0.0])
"""Where the tip begins: it points down."""
KIND = ObjectType.SHAPE.value


class Arm(Object):
    max_velocity = 1.0

    def __init__(self):
        base = world.add("Panda", KIND, None, (-0.31, 0, 0.82), (0.05, 0.05, 0.05))
        hand = world.add("Panda_gripper", KIND, base, (0, 0, 0), (0.02, 0.06, 0.02), renderable=False)
        world.add("Panda_gripper_visual", KIND, hand, (0, 0, 0), (0.02, 0.06, 0.02))
        world.add("Panda_tip", ObjectType.DUMMY.value, hand, (0, 0, 0.1))
        super().__init__(base.handle)

    def get_tip(self) -> Object:
        return Object("Panda_tip")

    def place(self, pose) -> None:
        hand = Object("Panda_gripper")
        tip = world.matrix(pose[:3], pose[3:]) @ np.linalg.inv(world.matrix((0, 0, 0.1)))
        hand.node.matrix = np.linalg.inv(self.node.world()) @ tip

    def get_joint_positions(self) -> list[float]:
        return list(self.get_tip().get_pose())


class Gripper(Object):
    def __init__(self):
        super().__init__("Panda_gripper")
        self.amount, self.held = 1.0, []

    def get_open_amount(self) -> list[float]:
        return [self.amount, self.amount]

    def actuate(self, amount: float, velocity: float) -> bool:
        floor = 0.5 if self.held else 0.0
        goal = 0.3 if faults.jammed and amount else max(amount, floor)
        self.amount += float(np.clip(goal - self.amount, -velocity, velocity))
        return abs(goal - self.amount) < 1e-6

    def grasp(self, obj: Object) -> bool:
        near = bool(np.linalg.norm(obj.get_position() - Object("Panda_tip").get_position()) < 0.05)
        if near and obj not in self.get_grasped_objects():
            self.held.append((obj, obj.get_parent()))
            obj.set_parent(self, keep_in_place=True)
        return near

    def release(self) -> None:
        for obj, parent in self.held:
            obj.set_parent(parent, keep_in_place=True)
        self.held = []

    def get_grasped_objects(self) -> list[Object]:
        return [obj for obj, _ in self.held]


class Robot:
    def __init__(self):
        self.arm, self.gripper = Arm(), Gripper()
