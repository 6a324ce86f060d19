"""Rotations against SciPy's, and in the corners."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from methods.lmp.rotations import euler2quat, point_at, qinverse, qmult, quat2euler, rotate

angle = st.floats(-3.1, 3.1)
number = st.floats(-1, 1)
vectors = st.tuples(number, number, number).filter(lambda v: np.linalg.norm(v) > 1e-3)
quaternions = st.tuples(number, number, number, number).filter(lambda q: np.linalg.norm(q) > 1e-3)
DOWN = [0.0, 1.0, 0.0, 0.0]


def scipy_of(quaternion: object) -> Rotation:
    return Rotation.from_quat(np.asarray(quaternion), scalar_first=True)


def same(first: object, second: Rotation) -> bool:
    return bool((scipy_of(first) * second.inv()).magnitude() < 1e-6)


@given(angle, angle, angle)
def test_euler_angles_are_about_fixed_axes(roll: float, pitch: float, yaw: float) -> None:
    assert same(euler2quat(roll, pitch, yaw), Rotation.from_euler("xyz", [roll, pitch, yaw]))


@given(quaternions)
@example((0.0078125, 2.952508182193415e-09, 0.0078125, 2.952508182193415e-09))  # a millionth from gimbal lock
@example((0.5, 1e-9, 0.5, -1e-9))
def test_euler_angles_come_back(quaternion: tuple[float, ...]) -> None:
    assert same(euler2quat(*quat2euler(quaternion)), scipy_of(quaternion))


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_gimbal_lock_comes_back(pitch: float) -> None:
    start = euler2quat(0.4, pitch, -0.3)
    assert same(euler2quat(*quat2euler(start)), scipy_of(start))


@given(quaternions, quaternions)
def test_products_and_inverses(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    assert same(qmult(first, second), scipy_of(first) * scipy_of(second))
    np.testing.assert_allclose(qmult(first, qinverse(first)), [1, 0, 0, 0], atol=1e-9)


@given(vectors, quaternions)
def test_pointing_puts_the_gripper_axis_on_the_direction(
    direction: tuple[float, ...], start: tuple[float, ...]
) -> None:
    unit = np.asarray(direction) / np.linalg.norm(direction)
    np.testing.assert_allclose(rotate(point_at(direction, start), [0, 0, 1]), unit, atol=1e-4)


def test_pointing_the_same_way_changes_nothing() -> None:
    assert same(point_at([0, 0, -2], DOWN), scipy_of(DOWN))


def test_pointing_the_opposite_way_is_defined() -> None:
    np.testing.assert_allclose(rotate(point_at([0, 0, 1], DOWN), [0, 0, 1]), [0, 0, 1], atol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: point_at([0, 0, 0], DOWN),
        lambda: point_at([0, 0, np.nan], DOWN),
        lambda: qinverse([0, 0, 0, 0]),
        lambda: quat2euler([0, 0, 0, 0]),
        lambda: qmult([1, 0, 0], DOWN),
        lambda: euler2quat(np.inf, 0, 0),
    ],
)
def test_malformed_rotations_are_refused(call: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        call()  # type: ignore[operator]
