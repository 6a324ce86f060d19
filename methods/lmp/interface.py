"""The task API that generated code gets (`docs/contracts.md`): looking, moving and geometry, on top of
`methods.voxels`. It knows no chat model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.failures import CodeFailure
from methods.lmp import rotations
from methods.lmp.values import LazyMap, LazyObservation, Observations
from methods.voxels.execution import Maps, execute
from methods.voxels.grid import Grid
from methods.voxels.maps import Count, RotationMap, ValueMap, set_voxel_by_radius
from methods.voxels.observation import Observation, observe

if TYPE_CHECKING:
    from harness.episode import TraceWriter
    from harness.protocols import Floats, Manipulation

Functions = dict[str, Callable[..., Any]]


class TaskInterface:
    """The functions for one trial on one environment."""

    def __init__(self, env: Manipulation, count: Count, trace: TraceWriter) -> None:
        self._env, self._count, self._trace = env, count, trace
        self._grid = Grid.over(env.workspace)

    def objects(self) -> list[str]:
        return self._env.objects()

    def reading(self) -> Functions:
        """What looks and computes."""
        functions: Functions = {
            "get_ee_pos": self._get_ee_pos,
            "detect": self._detect,
            "cm2index": self._grid.cm2index,
            "index2cm": self._grid.index2cm,
            "pointat2quat": self._point_at,
            "euler2quat": rotations.euler2quat,
            "quat2euler": rotations.quat2euler,
            "qinverse": rotations.qinverse,
            "qmult": rotations.qmult,
            "set_voxel_by_radius": partial(set_voxel_by_radius, radius_of=self._grid.cm2index),
            "get_empty_affordance_map": partial(self._filled, 0.0),
            "get_empty_avoidance_map": partial(self._filled, 0.0),
            "get_empty_velocity_map": partial(self._filled, 1.0),
            "get_empty_gripper_map": self._empty_gripper_map,
            "get_empty_rotation_map": self._empty_rotation_map,
        }
        return {name: _blaming_the_caller(name, function) for name, function in functions.items()}

    def acting(self) -> Functions:
        """What moves the robot."""
        return {"execute": self._execute, "reset_to_default_pose": self._home}

    def _detect(self, name: str) -> Observation:
        return observe(self._env, self._grid, name)

    def _get_ee_pos(self) -> Any:
        """(3,) voxels."""
        return self._grid.to_voxel(self._env.pose().position)

    def _point_at(self, direction: Any) -> Floats:
        """The orientation (4,) in which the gripper points along a direction, by the smallest turn."""
        return rotations.point_at(direction, self._env.pose().quaternion)

    def _filled(self, value: float) -> ValueMap:
        return ValueMap.filled(self._grid.size, value, self._count)

    def _empty_gripper_map(self) -> ValueMap:
        return self._filled(self._env.gripper())

    def _empty_rotation_map(self) -> RotationMap:
        return RotationMap(self._grid.size, self._env.pose().quaternion, self._count)

    def _execute(
        self,
        movable: Any,
        affordance_map: Any = None,
        avoidance_map: Any = None,
        rotation_map: Any = None,
        velocity_map: Any = None,
        gripper_map: Any = None,
    ) -> None:
        """Move `movable` as the maps say; see `methods.voxels.execution`."""
        sources = (affordance_map, avoidance_map, rotation_map, velocity_map, gripper_map)
        done = execute(
            self._env, self._grid, self._looker(movable), Maps(*map(_source, sources)), self._count
        )
        self._trace(
            "motion",
            movable=done.movable,
            maps=[described(source) for source in sources if source is not None],
            waypoints=done.waypoints,
            motions=done.motions,
            missed=done.missed,
            success=self._env.verdict().success,
        )

    def _looker(self, movable: Any) -> Callable[[], Observation]:
        if isinstance(movable, Observations):
            self._count("execute: first of several movables")
            movable = movable[0]
        if isinstance(movable, LazyObservation):
            return movable
        if isinstance(movable, Observation):
            return partial(observe, self._env, self._grid, movable.name)
        raise CodeFailure(
            f"execute needs what parse_query_obj or detect gives as its first argument, not a {type(movable).__name__}"
        )

    def _home(self) -> None:
        motion = self._env.home()
        if not motion.reached:
            self._count("motion: not reached")
        self._trace("motion", movable="home", missed=[] if motion.reached else [motion.reason])


def _source(value: Any) -> Callable[[], Any] | None:
    if value is None or isinstance(value, LazyMap):
        return value
    return lambda: value


def _blaming_the_caller(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Arguments that a function cannot use are the program's mistake."""

    @wraps(function, assigned=("__doc__",))
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, IndexError, OverflowError, np.exceptions.AxisError) as error:
            raise CodeFailure(f"{name}: {error}") from error

    return call


def described(value: Any, limit: int = 120) -> str:
    """A value in one short line, for the trace."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"<array {value.shape}>"
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a number of more digits than Python writes
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def call_record(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """Arguments of a call, for the trace."""
    return [*map(described, args), *(f"{name}={described(value)}" for name, value in kwargs.items())]
