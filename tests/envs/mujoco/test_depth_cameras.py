"""What the depth cameras measure of a scene whose geometry is known."""

import mujoco
import numpy as np
import pytest

from envs.mujoco.cameras import Mount, looking
from envs.mujoco.noise import Noise
from envs.mujoco.perception import REACH, Perception

BALL = np.array([0.10, -0.05, 0.20])
RADIUS = 0.15
EYE = 2.0
"""Height of the camera that looks straight down."""
WORKSPACE = np.array([[-1.0, -1.0, -0.5], [1.0, 1.0, 1.0]])


def watch(pixels=200, noise=0.0, seed=0, cameras=("above", "side")):
    """Perception of a ball over a plane, with one camera above and one at the side."""
    spec = mujoco.MjSpec()
    kinds = mujoco.mjtGeom
    spec.worldbody.add_geom(name="ground", type=kinds.mjGEOM_PLANE, size=[5, 5, 0.1])
    spec.worldbody.add_geom(name="ball", type=kinds.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=BALL)
    spec.worldbody.add_geom(
        name="ghost", type=kinds.mjGEOM_BOX, size=[0.5, 0.5, 0.01], pos=[0, 0, 1.0], group=4, contype=0
    )
    Mount("above", (0.0, 0.0, EYE), (0.0, 0.0, 0.0), 60, up=(0.0, 1.0, 0.0)).add_to(spec.worldbody)
    Mount("side", (1.5, 0.0, 0.6), (0.0, 0.0, 0.2), 50).add_to(spec.worldbody)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    perception = Perception(model, data, cameras, pixels, WORKSPACE)
    perception.start(Noise(np.random.default_rng(seed), len(cameras), ["ball"], noise))
    return perception, model, data


def ids(model, *names):
    return [model.geom(name).id for name in names]


def test_a_plane_is_as_deep_as_it_is_far_along_the_optical_axis():
    perception, model, _ = watch()
    depth, seen = perception.depth("above"), perception.segmentation("above")
    ground = seen == model.geom("ground").id
    assert 0.8 < ground.mean() < 1.0
    assert depth[ground] == pytest.approx(EYE, abs=1e-9)


def test_a_ball_is_as_deep_as_the_sphere_equation_says():
    perception, model, _ = watch()
    depth, seen = perception.depth("above"), perception.segmentation("above")
    rows, columns = np.nonzero(seen == model.geom("ball").id)
    focal = 100 / np.tan(np.radians(30))
    rays = np.stack([(columns + 0.5 - 100) / focal, -(rows + 0.5 - 100) / focal, -np.ones(len(rows))], axis=1)
    # |d r - c|^2 = R^2 in the frame of the camera, whose axes are those of the world; the nearer solution.
    centre = BALL - [0, 0, EYE]
    a, b, c = (rays**2).sum(axis=1), rays @ centre, centre @ centre - RADIUS**2
    assert len(rows) > 300
    assert depth[rows, columns] == pytest.approx((b - np.sqrt(b**2 - a * c)) / a, abs=1e-9)


def test_the_mask_of_a_ball_has_its_centre_where_the_ball_projects():
    perception, model, _ = watch()
    rows, columns = np.nonzero(perception.segmentation("above") == model.geom("ball").id)
    focal = 100 / np.tan(np.radians(30))
    distance = EYE - BALL[2]
    # The outline of a sphere is centred a little beyond its centre's projection: by 1 / (1 - (R / d)^2).
    beyond = 1 / (1 - (RADIUS / distance) ** 2)
    assert columns.mean() + 0.5 - 100 == pytest.approx(focal * BALL[0] / distance * beyond, abs=0.3)
    assert 100 - rows.mean() - 0.5 == pytest.approx(focal * BALL[1] / distance * beyond, abs=0.3)


def test_sensors_are_invisible():
    perception, model, _ = watch()
    assert model.geom("ghost").id not in perception.segmentation("above")
    assert model.geom("ghost").id not in perception.segmentation("side")


def test_a_cloud_lies_on_the_surface_with_normals_outwards():
    perception, model, _ = watch()
    cloud = perception.cloud(ids(model, "ball"))
    assert len(cloud.points) > 200
    assert cloud.points.shape == cloud.normals.shape
    outwards = cloud.points - BALL
    # Points of one cell of the grid are averaged, which shortens the way to the centre by less than a millimetre.
    assert np.linalg.norm(outwards, axis=1) == pytest.approx(RADIUS, abs=1e-3)
    assert np.linalg.norm(cloud.normals, axis=1) == pytest.approx(1.0)
    agreement = (cloud.normals * outwards).sum(axis=1) / RADIUS
    assert np.median(agreement) > 0.99
    assert cloud.points[:, 2].max() == pytest.approx(BALL[2] + RADIUS, abs=2e-3)


def test_a_cloud_can_be_displaced_as_a_whole():
    perception, model, _ = watch()
    shift = np.array([0.02, -0.01, 0.005])
    plain, moved = (perception.cloud(ids(model, "ball"), by) for by in (None, shift))
    assert moved.points.mean(axis=0) - plain.points.mean(axis=0) == pytest.approx(shift, abs=1e-3)


def test_the_surroundings_end_at_the_workspace_and_leave_out_what_they_are_told_to():
    perception, model, _ = watch()
    whole = perception.surroundings()
    assert (whole.points >= WORKSPACE[0] - 1e-9).all()
    assert (whole.points <= WORKSPACE[1] + 1e-9).all()
    assert whole.points[:, 2].max() > 0.3
    bare = perception.surroundings(ids(model, "ball"))
    assert bare.points[:, 2] == pytest.approx(0.0, abs=1e-9)
    assert len(perception.surroundings(ids(model, "ball", "ground")).points) == 0


def test_what_nobody_sees_has_an_empty_cloud():
    perception, model, _ = watch()
    cloud = perception.cloud(ids(model, "ghost"))
    assert cloud.points.shape == (0, 3)
    assert cloud.normals.shape == (0, 3)


def test_beyond_the_reach_there_is_nothing():
    perception, _, _ = watch()
    depth, seen = perception.depth("side"), perception.segmentation("side")
    assert np.isinf(depth[seen < 0]).all()
    assert (seen < 0).any()
    assert np.isfinite(depth[seen >= 0]).all()
    assert depth[seen >= 0].max() <= REACH


def test_looking_again_sees_what_has_moved_only_when_time_moves_on():
    perception, model, data = watch()
    before = perception.look()
    assert perception.look() is before
    data.time += model.opt.timestep
    assert perception.look() is not before


def test_asking_before_a_trial_says_so():
    _, model, data = watch()
    with pytest.raises(RuntimeError, match="start"):
        Perception(model, data, ("above",), 32, WORKSPACE).look()


def test_a_camera_that_looks_along_its_up_direction_is_refused():
    with pytest.raises(ValueError, match="cannot look"):
        looking((0, 0, 1), (0, 0, 0), (0, 0, 1))
    with pytest.raises(ValueError, match="cannot look"):
        looking((0, 0, 1), (0, 0, 1), (0, 1, 0))


# Noise


def test_equal_seeds_give_equal_errors_and_others_different_ones():
    first, again, other = (watch(64, noise=1.0, seed=seed) for seed in (3, 3, 4))
    ball = ids(first[1], "ball")
    assert (first[0].depth("above") == again[0].depth("above")).all()
    assert (first[0].cloud(ball).points == again[0].cloud(ball).points).all()
    assert (first[0].noise.object_shift["ball"] == again[0].noise.object_shift["ball"]).all()
    assert not (first[0].depth("above") == other[0].depth("above")).all()
    assert not (first[0].noise.object_shift["ball"] == other[0].noise.object_shift["ball"]).any()
    assert not (first[0].noise.camera_shift == other[0].noise.camera_shift).any()


def test_looking_more_often_or_at_other_things_changes_nothing():
    one, model, _ = watch(64, noise=1.0)
    two, _, _ = watch(64, noise=1.0)
    two.surroundings()
    two.cloud(ids(model, "ground"))
    two.cloud(ids(model, "ball"))
    assert (one.cloud(ids(model, "ball")).points == two.cloud(ids(model, "ball")).points).all()


def test_the_grain_changes_from_moment_to_moment_and_the_calibration_does_not():
    perception, model, data = watch(64, noise=1.0)
    before = perception.look()
    data.time += model.opt.timestep
    after = perception.look()
    assert not (before.depth == after.depth).all()
    assert (before.eyes == after.eyes).all()
    assert (before.rotations == after.rotations).all()


def test_the_grain_of_the_depth_is_as_large_as_published():
    perception, model, _ = watch(200, noise=1.0)
    ground = perception.segmentation("above") == model.geom("ground").id
    error = perception.depth("above")[ground] - EYE
    # 1.2 mm + 1.9 mm (2.0 - 0.4)^2 at two metres.
    assert error.std() == pytest.approx(0.0012 + 0.0019 * 1.6**2, rel=0.05)
    assert abs(error.mean()) < 2e-4


def test_the_factor_scales_the_errors():
    half, full = (watch(64, noise=scale)[0].noise for scale in (0.5, 1.0))
    assert 2 * half.object_shift["ball"] == pytest.approx(full.object_shift["ball"])
    assert 2 * half.camera_turn == pytest.approx(full.camera_turn)


def test_masks_lose_their_border_more_than_their_middle():
    noise = Noise(np.random.default_rng(0), 1, [], 1.0)
    mask = np.zeros((1, 100, 100), bool)
    mask[0, 20:80, 20:80] = True
    border = mask.copy()
    border[0, 21:79, 21:79] = False
    kept = np.mean([noise.mask(mask, moment)[border].mean() for moment in range(20)])
    inner = np.mean([noise.mask(mask, moment)[mask & ~border].mean() for moment in range(20)])
    assert kept == pytest.approx(0.5, abs=0.03)
    assert inner == pytest.approx(0.95, abs=0.01)
    assert not noise.mask(mask, 0)[~mask].any()


def test_without_noise_nothing_is_changed():
    noise = Noise(np.random.default_rng(0), 1, ["ball"], 0.0)
    depth = np.full((1, 4, 4), 1.25)
    mask = np.eye(4, dtype=bool)[None]
    assert (noise.depth(depth, 7) == depth).all()
    assert (noise.mask(mask, 7) == mask).all()
    assert not noise.object_shift["ball"].any()
