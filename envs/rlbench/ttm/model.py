"""The objects of a .ttm file: their names, kinds, poses, meshes and joints. What a scene does over time (scripts,
dynamics, textures) is not read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from envs.rlbench.ttm.meshes import Mesh, Pool
from envs.rlbench.ttm.poses import IDENTITY, compose
from envs.rlbench.ttm.records import Damaged, Record, read_body, records
from harness.failures import UsageError
from harness.protocols import Pose

KINDS = {
    "SHP": "shape",
    "DMY": "dummy",
    "JNT": "joint",
    "SNR": "proximity sensor",
    "FSE": "force sensor",
    "RSN": "vision sensor",
    "PAT": "path",
}
"""Tags of objects to what they are; an object with another tag is of the kind of that name."""
JOINTS = {10: "revolute", 11: "prismatic", 12: "spherical"}
_CYCLIC = 1
_RENDERABLE = 1 << 9


@dataclass(frozen=True)
class Joint:
    """What moves along or about the z axis of its object: what is below it moves."""

    kind: str
    """One of `JOINTS`."""
    position: float
    """Radians, or metres where it slides; 0 where it is spherical."""
    limits: tuple[float, float] | None
    """Of the position; None where it turns on and on."""
    pitch: float
    """Metres along z that a radian adds: a screw's."""
    rotation: tuple[float, float, float, float]
    """wxyz of a spherical one."""

    @property
    def motion(self) -> Pose:
        """Of what is below the joint, in the joint's frame."""
        if self.kind == "spherical":
            return Pose(np.zeros(3), np.array(self.rotation))
        if self.kind == "prismatic":
            return Pose(np.array([0.0, 0.0, self.position]), IDENTITY.quaternion)
        half = self.position / 2
        turned = np.array([math.cos(half), 0.0, 0.0, math.sin(half)])
        return Pose(np.array([0.0, 0.0, self.pitch * self.position]), turned)


@dataclass(frozen=True)
class Object:
    """One object of the scene."""

    id: int
    name: str
    kind: str
    """As `KINDS` says."""
    parent: int | None
    """Id of the object that it hangs on."""
    local: Pose
    """In the frame of the parent or, where that is a joint, of what the joint moves."""
    renderable: bool
    """Whether vision sensors see it: collision shapes and boundaries are not to be seen."""
    meshes: tuple[Mesh, ...] = ()
    """A shape's, in its frame."""
    joint: Joint | None = None


@dataclass(frozen=True)
class Model:
    """All objects of a file, in its order: a parent before what hangs on it."""

    objects: tuple[Object, ...]

    @cached_property
    def _by_name(self) -> dict[str, Object]:
        return {entry.name: entry for entry in self.objects}

    @cached_property
    def _by_id(self) -> dict[int, Object]:
        return {entry.id: entry for entry in self.objects}

    def find(self, name: str) -> Object:
        """The object of that name. Raises `KeyError` with the names that there are."""
        if name not in self._by_name:
            raise KeyError(f"there is no {name!r}; there are {', '.join(sorted(self._by_name))}")
        return self._by_name[name]

    def children(self, of: Object | None = None) -> list[Object]:
        """What hangs on an object, or on nothing."""
        parent = None if of is None else of.id
        return [entry for entry in self.objects if entry.parent == parent]

    def family(self, of: Object) -> list[Object]:
        """The object and all that hangs on it, in the file's order."""
        inside = {of.id}
        for entry in self.objects:
            if entry.parent in inside:
                inside.add(entry.id)
        return [entry for entry in self.objects if entry.id in inside]

    def pose(self, of: Object) -> Pose:
        """Of an object in the world, with the joints above it where the file has them."""
        found = of.local
        while of.parent is not None:
            of = self._by_id[of.parent]
            if of.joint is not None:
                found = compose(of.joint.motion, found)
            found = compose(of.local, found)
        return found


def read(path: str | Path) -> Model:
    """The model in a .ttm file. Raises `UsageError` that says which file, where in it, and what to do."""
    path = Path(path)
    body = read_body(path)
    try:
        return _model(body)
    except Damaged as damage:
        raise UsageError(f"{path} is damaged: {damage}. Copy or clone it anew.") from None


def _model(body: bytes) -> Model:
    pool = Pool(None)
    objects: list[Object] = []
    known: set[int] = set()
    for record in records(body, 0, len(body)):
        if record.tag == "VIN":
            pool = Pool(record)
        elif body[record.start : record.start + 3] == b"3do":
            found = _object(record, pool)
            if found.id in known or (found.parent is not None and found.parent not in known):
                raise Damaged(f"{found.name} has id {found.id} and hangs on {found.parent}", record.start)
            known.add(found.id)
            objects.append(found)
    return Model(tuple(objects))


def _object(record: Record, pool: Pool) -> Object:
    parts = _Needed(record)
    identity, parent = parts["Ids"].array("<i4", 2).tolist()
    frame = parts["Cfq"].array("<f4", 7).astype(np.float64)
    return Object(
        id=identity,
        name=parts["Nme"].text(),
        kind=KINDS.get(record.tag, record.tag),
        parent=None if parent < 0 else parent,
        local=Pose(frame[4:], frame[:4] / np.linalg.norm(frame[:4])),
        renderable=bool(parts["Omp"].integer() & _RENDERABLE),
        meshes=pool.meshes(parts["Ge2"]) if record.tag == "SHP" else (),
        joint=_joint(parts) if record.tag == "JNT" else None,
    )


def _joint(parts: _Needed) -> Joint:
    kind = parts["Jtt"].integer()
    if kind not in JOINTS:
        raise Damaged(f"there is no joint of type {kind}", parts["Jtt"].start)
    lowest, width = parts["Pmr"].array("<f4", 2).tolist()
    w, x, y, z = parts["Jst"].array("<f4", 4).tolist()
    free = JOINTS[kind] == "spherical" or parts["Va9"].integer("u1") & _CYCLIC
    return Joint(
        kind=JOINTS[kind],
        position=float(parts["Prt"].array("<f4", 1)[0]),
        limits=None if free else (lowest, lowest + width),
        pitch=float(parts["Jsp"].array("<f4", 1)[0]),
        rotation=(w, x, y, z),
    )


class _Needed:
    """The parts of an object, which have to be there. Raises `Damaged`."""

    def __init__(self, record: Record) -> None:
        self._record, self._parts = record, record.parts()

    def __getitem__(self, tag: str) -> Record:
        if tag not in self._parts:
            raise Damaged(f"{self._record.tag} has no {tag}", self._record.start)
        return self._parts[tag]
