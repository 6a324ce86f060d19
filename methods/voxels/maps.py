"""Value maps as generated code gets them: forgiving about indices, and counting what they forgave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.failures import CodeFailure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Count = Callable[[str], None]
"""Called with the name of a coercion."""
Region = tuple[int | slice, ...] | np.ndarray
"""Where a rotation map holds a quaternion: an index or slice along each axis, or a mask."""


class ValueMap(np.ndarray):
    """An (S, S, S) float32 array. As an index, a fraction is rounded, a number below the grid is the first
    voxel and one beyond it the last; the ends of slices likewise. Each such change is counted. There is no
    counting from the end: the public code keeps -1 as the last voxel, and a target computed to lie one voxel
    below the table then is at the ceiling. What is read from it is an ordinary array."""

    count: Count

    @classmethod
    def filled(cls, size: int, value: float, count: Count) -> ValueMap:
        made = np.full((size,) * 3, value, dtype=np.float32).view(cls)
        made.count = count
        return made

    def __array_finalize__(self, source: Any) -> None:
        self.count = getattr(source, "count", _silent)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(_forgive(key, self.shape, self.count))
        return np.asarray(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_forgive(key, self.shape, self.count), value)

    def __iter__(self) -> Iterator[Any]:
        """Plane by plane; by indices it would have no end, since the one after the last is the last."""
        return iter(np.asarray(self))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's own code counts from the end, so that it gets plain arrays. A result of the map's shape is a
        map again."""
        result = function(*_plain(args), **{name: _plain(value) for name, value in kwargs.items()})
        if isinstance(result, np.ndarray) and result.shape == self.shape:
            made = result.view(ValueMap)
            made.count = self.count
            return made
        return result

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()

    def __repr__(self) -> str:
        """As an array: NumPy's text of a subclass reads it with indices from the end, which would be counted."""
        return repr(np.asarray(self))

    def __str__(self) -> str:
        return str(np.asarray(self))


class RotationMap:
    """End-effector orientation in each voxel: (S, S, S, 4), quaternions wxyz, world frame, without the 32 MB that
    an array would take: one quaternion everywhere, and the regions that were set, newest last."""

    __slots__ = ("_count", "_default", "_regions", "_size")

    def __init__(self, size: int, default: Floats, count: Count) -> None:
        self._size = size
        self._default = _quaternion(default)
        self._regions: list[tuple[Region, Floats]] = []
        self._count = count

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return (self._size,) * 3 + (4,)

    def __repr__(self) -> str:
        return f"<RotationMap {self.shape}>"

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a quaternion in a voxel, in slices, in a mask or in all (`m[:, :, :] = q`, `m[...] = q`,
        `m[x, y, z] = q`, `m[affordance_map > 0] = q`)."""
        quaternion = _quaternion(value)
        if isinstance(key, np.ndarray) and key.dtype == bool and key.shape == self.shape[:3]:
            self._regions.append((np.array(key), quaternion))
            return
        box = self._box(key)
        if all(part == slice(0, self._size, 1) for part in box):
            self._default, self._regions = quaternion, []
        else:
            self._regions.append((box, quaternion))

    def __getitem__(self, key: Any) -> Floats:
        """The quaternion (4,) of a voxel."""
        box = self._box(key)
        if any(isinstance(part, slice) for part in box):
            raise IndexError("a rotation map is read one voxel at a time: map[x, y, z]")
        return orientation(self, box)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("a rotation map holds a quaternion in each voxel; none can be deleted")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a rotation map is read one voxel at a time: map[x, y, z]")

    def _box(self, key: Any) -> tuple[int | slice, ...]:
        if key is Ellipsis:
            key = (slice(None),) * 3
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) == 4 and isinstance(parts[3], slice) and parts[3] == slice(None):
            parts = parts[:3]
        parts = parts + (slice(None),) * (3 - len(parts))
        if len(parts) != 3:
            raise IndexError("a rotation map has three indices and holds a quaternion in each voxel")
        if not all(isinstance(part, slice) or _is_number(part) for part in parts):
            raise IndexError(
                "a rotation map is set in a voxel, in slices, in a mask of its size or everywhere"
            )
        try:
            box = _forgive(parts, (self._size,) * 3, self._count)
            return tuple(
                slice(*part.indices(self._size)) if isinstance(part, slice) else part for part in box
            )
        except (ValueError, OverflowError) as error:
            # A program's mistake, as NumPy says it of an array; the sandbox takes only an `IndexError` for one.
            raise IndexError(str(error)) from error


def orientation(rotations: RotationMap, voxel: Any) -> Floats:
    """The quaternion (4,) at voxel indices (3,) inside of the grid. No method, for programs call those with anything."""
    for region, quaternion in reversed(rotations._regions):
        if _inside(tuple(int(v) for v in voxel), region):
            return np.array(quaternion)
    return np.array(rotations._default)


def set_voxel_by_radius(
    value_map: Any, voxel: Any, radius_cm: float, value: Any, radius_of: Callable[[float, str], int]
) -> Any:
    """Set the centre and an axis-aligned box of `radius_cm` to each side, in place; returns the map. The box is
    cut at the grid's borders. `radius_of` is `Grid.cm2index`. Raises `CodeFailure` for what is no map."""
    if not isinstance(value_map, np.ndarray | RotationMap) or len(value_map.shape) < 3:
        raise CodeFailure(
            "set_voxel_by_radius needs a map from a get_empty_..._map() as its first argument, not a "
            f"{type(value_map).__name__}"
        )
    size = value_map.shape[0]
    centre = [min(max(round(float(v)), 0), size - 1) for v in np.asarray(voxel, float).reshape(3)]
    reach = [abs(radius_of(radius_cm, axis)) for axis in "xyz"]
    box = tuple(slice(max(c - r, 0), min(c + r, size - 1) + 1) for c, r in zip(centre, reach, strict=True))
    value_map[box] = value
    return value_map


def _forgive(key: Any, shape: tuple[int, ...], count: Count) -> Any:
    """The key with every number brought into the grid; masks and arrays of indices are handled elementwise."""
    if isinstance(key, np.ndarray) and key.dtype == bool:
        return key
    parts = key if isinstance(key, tuple) else (key,)
    if any(part is Ellipsis or part is None for part in parts):
        return key
    if len(parts) > len(shape):
        raise IndexError(f"{len(parts)} indices were given to a map that has {len(shape)}")
    brought = tuple(_bring(part, size, count) for part, size in zip(parts, shape, strict=False))
    return brought if isinstance(key, tuple) else brought[0]


def _bring(part: Any, size: int, count: Count) -> Any:
    if isinstance(part, slice):
        return slice(_end(part.start, size, count), _end(part.stop, size, count), part.step)
    if isinstance(part, np.ndarray) and part.dtype == bool:
        return part
    numbers = np.asarray(part, float)
    if not np.isfinite(numbers).all():
        raise IndexError("an index of a map is not a finite number")
    rounded = np.rint(numbers)
    if (rounded != numbers).any():
        count("map: index rounded")
    clamped = np.clip(rounded, 0, size - 1).astype(int)
    if (clamped != rounded).any():
        count("map: index clamped")
    return int(clamped) if numbers.ndim == 0 else clamped


def _end(end: Any, size: int, count: Count) -> int | None:
    """An end of a slice; beyond the grid it is the border."""
    if end is None:
        return None
    rounded = round(float(end))
    if rounded != float(end):
        count("map: index rounded")
    if rounded < 0 or rounded > size:
        count("map: index clamped")
    return min(max(rounded, 0), size)


def _inside(voxel: tuple[int, ...], region: Region) -> bool:
    if isinstance(region, np.ndarray):
        return bool(region[voxel])
    return all(
        number in range(part.start, part.stop, part.step) if isinstance(part, slice) else number == part
        for number, part in zip(voxel, region, strict=True)
    )


def _is_number(part: Any) -> bool:
    """Also one that is no integer: it is rounded, and what is not finite refused."""
    if isinstance(part, np.ndarray):
        return part.shape == () and part.dtype.kind in "iuf"
    return isinstance(part, int | float | np.integer | np.floating)


def _quaternion(value: Any) -> Floats:
    what = "a rotation map holds quaternions: four numbers w, x, y, z that are not all zero"
    try:
        quaternion = np.array(value, dtype=float).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise CodeFailure(what) from None
    length = float(np.linalg.norm(quaternion))
    if quaternion.shape != (4,) or not np.isfinite(length) or length == 0:
        raise CodeFailure(what)
    return quaternion / length


def _plain(value: Any) -> Any:
    """Maps as ordinary arrays of the same memory, in lists and tuples too."""
    if isinstance(value, ValueMap):
        return np.asarray(value)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _silent(event: str) -> None:
    """A map that no trial counts for."""
