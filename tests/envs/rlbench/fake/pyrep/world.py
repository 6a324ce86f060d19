"""The fake's one scene: boxes with parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation


@dataclass
class Node:
    handle: int
    name: str
    kind: int
    parent: Node | None
    matrix: np.ndarray
    """(4, 4), in the frame of the parent."""
    half: np.ndarray
    renderable: bool

    def world(self) -> np.ndarray:
        return self.matrix if self.parent is None else self.parent.world() @ self.matrix


NODES: dict[int, Node] = {}
_next = 20


def matrix(position, quaternion=(0.0, 0.0, 0.0, 1.0)) -> np.ndarray:
    made = np.eye(4)
    made[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
    made[:3, 3] = position
    return made


def add(name: str, kind: int, parent: Node | None, position, half=(0, 0, 0), renderable=True) -> Node:
    global _next
    _next += 1
    node = Node(_next, name, kind, parent, matrix(position), np.array(half, float), renderable)
    NODES[node.handle] = node
    return node


def find(name: str) -> Node:
    for node in NODES.values():
        if node.name == name:
            return node
    raise RuntimeError("The call failed on the V-REP side. Return value: -1")


def children(node: Node) -> list[Node]:
    return [other for other in NODES.values() if other.parent is node]


def tree(node: Node) -> list[Node]:
    return [node, *(below for child in children(node) for below in tree(child))]


def remove(node: Node) -> None:
    for entry in tree(node):
        NODES.pop(entry.handle, None)


def picture(camera: np.ndarray, size: tuple[int, int], half_angle: float = 0.5):
    """RGB, handles and points that a camera at (4, 4), looking along its z, sees."""
    height, width = size
    across, down = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    rays = np.stack([across, down, np.full((height, width), 1 / np.tan(half_angle))], -1)
    rays = rays @ camera[:3, :3].T
    depth = np.full((height, width), 10.0)
    handles = np.full((height, width), 16777215.0, np.float32)
    for node in NODES.values():
        if node.kind != 0 or not node.renderable:
            continue
        back = np.linalg.inv(node.world())
        start, direction = back[:3, :3] @ camera[:3, 3] + back[:3, 3], rays @ back[:3, :3].T
        direction = np.where(np.abs(direction) < 1e-12, 1e-12, direction)
        one, two = (-node.half - start) / direction, (node.half - start) / direction
        near, far = np.minimum(one, two).max(-1), np.maximum(one, two).min(-1)
        hit = (near <= far) & (near > 0.01) & (near < depth)
        depth[hit], handles[hit] = near[hit], node.handle
    rgb = np.stack([handles % 251, handles % 241, handles % 239], -1).astype(np.uint8)
    # As the real ones, handles are not quite whole numbers.
    return rgb, handles * np.float32(1 - 1e-6), camera[:3, 3] + rays * depth[..., None]
