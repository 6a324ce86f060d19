import numpy as np
import pytest

from envs.mujoco import panda
from envs.mujoco.kinematics import Kinematics, angle_between, interpolate, multiply
from envs.tabletop.setting import SETTING

# Franka's published modified Denavit-Hartenberg rows: a, d, alpha; then flange and tool.
ROWS = [
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.316, np.pi / 2),
    (0.0825, 0.0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2),
    (0.0, 0.0, np.pi / 2),
    (0.088, 0.0, np.pi / 2),
]


def published_tool(joints):
    frame = np.eye(4)
    frame[:3, 3] = SETTING.base
    for (a, d, alpha), theta in zip(ROWS, joints, strict=True):
        frame = frame @ row(a, d, alpha, theta)
    return frame @ row(0, 0.107, 0, -np.pi / 4) @ row(0, 0.1034, 0, 0)


def row(a, d, alpha, theta):
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st, 0, a],
            [st * ca, ct * ca, -sa, -d * sa],
            [st * sa, ct * sa, ca, d * ca],
            [0, 0, 0, 1],
        ]
    )


@pytest.fixture(scope="module")
def kinematics():
    return Kinematics(SETTING)


@pytest.fixture(scope="module")
def some_joints(kinematics):
    return np.random.default_rng(3).uniform(kinematics.lower, kinematics.upper, (30, 7))


def test_tool_pose_is_that_of_the_published_parameters(kinematics, some_joints):
    for joints in some_joints:
        position, quaternion = kinematics.pose(joints)
        expected = published_tool(joints)
        assert position == pytest.approx(expected[:3, 3], abs=1e-9)
        assert rotation(quaternion) == pytest.approx(expected[:3, :3], abs=1e-9)


def rotation(quaternion):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def test_home_points_down_and_opens_along_y(kinematics):
    position, quaternion = kinematics.pose(np.array(SETTING.home))
    assert position == pytest.approx([0.12, 0.0, 1.33], abs=1e-3)
    assert angle_between(quaternion, np.array([0.0, 1.0, 0.0, 0.0])) < 1e-3


def test_inverse_undoes_forward_within_the_limits(kinematics, some_joints):
    solved = 0
    for joints in some_joints:
        position, quaternion = kinematics.pose(joints)
        for goal in kinematics.goals(position, quaternion, np.array(SETTING.home))[:2]:
            assert (goal >= panda.LOWER).all()
            assert (goal <= panda.UPPER).all()
            reached, turned = kinematics.pose(goal)
            assert np.linalg.norm(reached - position) < 1.1e-3
            assert angle_between(turned, quaternion) < 0.2
            solved += 1
    assert solved >= 40


def test_nothing_reaches_beyond_the_arm(kinematics):
    home = np.array(SETTING.home)
    down = np.array([0.0, 1.0, 0.0, 0.0])
    assert kinematics.goals(np.array([0.74, 0.0, 0.8]), down, home) == []
    assert kinematics.goals(np.array([5.0, 0.0, 0.8]), down, home) == []


def test_goals_come_in_order_of_how_much_the_arm_moves(kinematics):
    near = np.array(SETTING.home)
    position, quaternion = kinematics.pose(near)
    assert kinematics.goals(position, quaternion, near)[0] == pytest.approx(near, abs=0.02)


def test_interpolation_takes_the_short_way():
    start = np.array([1.0, 0.0, 0.0, 0.0])
    end = -np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
    half = interpolate(start, end, 0.5)
    assert angle_between(start, half) == pytest.approx(0.4)
    assert angle_between(half, end) == pytest.approx(0.4)
    assert angle_between(interpolate(start, start, 0.3), start) == pytest.approx(0.0, abs=1e-6)


def test_product_of_quaternions_matches_scipy():
    from scipy.spatial.transform import Rotation

    first, second = Rotation.random(2, random_state=1)
    product = multiply(first.as_quat(scalar_first=True), second.as_quat(scalar_first=True))
    assert angle_between(product, (first * second).as_quat(scalar_first=True)) < 1e-7
