from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from pyrep import world
from pyrep.const import ObjectType


class Object:
    def __init__(self, name_or_handle):
        self.node = (
            world.find(name_or_handle) if isinstance(name_or_handle, str) else world.NODES[name_or_handle]
        )

    def __eq__(self, other) -> bool:
        return isinstance(other, Object) and self.node is other.node

    __hash__ = None

    @staticmethod
    def get_object(name_or_handle):
        return Object(name_or_handle)

    def get_handle(self) -> int:
        return self.node.handle

    def get_name(self) -> str:
        return self.node.name

    def get_pose(self) -> np.ndarray:
        """xyz and the quaternion xyzw."""
        placed = self.node.world()
        return np.concatenate([placed[:3, 3], Rotation.from_matrix(placed[:3, :3]).as_quat()])

    def get_position(self) -> np.ndarray:
        return self.get_pose()[:3]

    def set_pose(self, pose) -> None:
        placed = world.matrix(pose[:3], pose[3:])
        parent = self.node.parent
        self.node.matrix = placed if parent is None else np.linalg.inv(parent.world()) @ placed

    def get_parent(self):
        return None if self.node.parent is None else Object(self.node.parent.handle)

    def set_parent(self, parent_object, keep_in_place=True) -> None:
        pose = self.get_pose()
        self.node.parent = None if parent_object is None else parent_object.node
        self.set_pose(pose)

    def is_renderable(self) -> int:
        return self.node.renderable << 9

    def get_bounding_box(self) -> list[float]:
        x, y, z = self.node.half
        return [-x, x, -y, y, -z, z]

    def get_objects_in_tree(self, object_type=ObjectType.ALL, exclude_base=True) -> list[Object]:
        wanted = (object_type.value, -1)
        nodes = world.tree(self.node)[exclude_base:]
        return [Object(node.handle) for node in nodes if object_type is ObjectType.ALL or node.kind in wanted]
