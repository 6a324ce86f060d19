from __future__ import annotations

import numpy as np
from pyrep import world
from pyrep.const import ObjectType
from pyrep.objects.object import Object


class Task:
    """A tree of boxes at a place that is drawn; `OBJECTS` are name, parent, position in the parent, half sizes and
    whether cameras see it."""

    OBJECTS = ()
    GRASPABLE = ()

    def __init__(self, pyrep, robot):
        self.pyrep, self.robot = pyrep, robot
        name = type(self).__name__
        self.name = "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")

    def load(self) -> None:
        base = world.add(self.name, ObjectType.DUMMY.value, None, (0.25, 0.0, 0.752))
        made = {"": base}
        for name, parent, position, half, seen in self.OBJECTS:
            made[name] = world.add(name, ObjectType.SHAPE.value, made[parent], position, half, seen)
        self._start = {node.handle: (node.parent, node.matrix.copy()) for node in world.tree(base)}

    def place(self) -> None:
        for handle, (parent, matrix) in self._start.items():
            world.NODES[handle].parent, world.NODES[handle].matrix = parent, matrix.copy()
        x, y = np.random.uniform(-0.05, 0.05, 2)
        yaw = np.random.uniform(-np.pi, np.pi) / 2
        self.get_base().set_pose([0.25 + x, y, 0.752, 0, 0, np.sin(yaw), np.cos(yaw)])

    def unload(self) -> None:
        world.remove(self.get_base().node)

    def get_base(self) -> Object:
        return Object(self.name)

    def get_graspable_objects(self) -> list[Object]:
        return [Object(name) for name in self.GRASPABLE]

    def position(self, name: str) -> np.ndarray:
        return Object(name).get_position()

    def tip(self) -> np.ndarray:
        return self.robot.arm.get_tip().get_position()

    def variation_count(self) -> int:
        return 1

    def step(self) -> None:
        pass

    def failed(self) -> bool:
        return False

    def succeeded(self) -> bool:
        return False

    def success(self) -> tuple[bool, bool]:
        if self.failed():
            return False, True
        return self.succeeded(), self.succeeded()
