"""Rays in bundles meet what each ray alone meets, to the bit."""

import mujoco
import numpy as np
import pytest

from envs.mujoco import pictures, rays
from envs.mujoco.cameras import Mount
from envs.mujoco.marks import draw, marks
from envs.mujoco.perception import REACH
from envs.mujoco.pictures import RayPictures
from envs.mujoco.rays import VISIBLE, Bundles, Caster, RayCamera
from envs.tabletop import Tabletop
from harness.seeding import Seeds

SHAPES = (
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_SPHERE,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID,
)
CAMERAS = {
    "far": Mount("far", (1.6, -0.9, 0.9), (0.0, 0.0, 0.1), 45),
    "down": Mount("down", (0.1, 0.1, 1.2), (0.1, 0.1, 0.0), 80, up=(0.0, 1.0, 0.0)),
    "inside": Mount("inside", (0.0, 0.0, 0.2), (1.0, 0.3, 0.1), 120),
}


def scene(seed, floor=(2.0, 0.0)):
    """Thirty shapes at random over a plane, in clumps that share a body, some of them invisible; a camera stands in
    the middle of a box."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(
        pos=[0.5, 0.5, 2.0], dir=[-0.2, -0.2, -1], diffuse=[0.5] * 3, type=mujoco.mjtLightType.mjLIGHT_SPOT
    )
    spec.worldbody.add_light(pos=[0.0, 0.0, 0.5], dir=[1, 0, 0], diffuse=[0.3] * 3, cutoff=180)
    spec.worldbody.add_light(
        dir=[0.3, 0.1, -1], diffuse=[0.2] * 3, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    )
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[*floor, 0.1], rgba=[0.7, 0.7, 0.7, 1]
    )
    for clump in range(10):
        body = spec.worldbody.add_body(name=f"clump{clump}", pos=rng.uniform(-0.8, 0.8, 3) * [1, 1, 0.4])
        body.add_freejoint()
        for index in range(3):
            body.add_geom(
                name=f"shape{clump}{index}",
                type=SHAPES[rng.integers(len(SHAPES))],
                size=rng.uniform(0.02, 0.15, 3),
                pos=rng.uniform(-0.2, 0.2, 3),
                quat=rng.normal(size=4),
                rgba=[*rng.uniform(0.2, 1, 3), float(rng.random() > 0.1)],
                group=int(rng.choice([0, 1, 2, 3, 4], p=[0.5, 0.2, 0.1, 0.1, 0.1])),
            )
    shell = spec.worldbody.add_body(name="shell", pos=[0, 0, 0.2])
    shell.add_geom(name="shell", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.03, 0.03, 0.03], rgba=[1, 1, 1, 1])
    for mount in CAMERAS.values():
        mount.add_to(spec.worldbody)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def alone(model, data, origin, directions, reach):
    """What each ray meets, one by one."""
    found, distances = [], []
    for direction in directions:
        geom = np.full(1, -1, np.int32)
        distance = mujoco.mj_ray(model, data, origin, direction, VISIBLE, True, -1, geom, None)
        near = geom[0] >= 0 and distance <= reach
        found.append(geom[0] if near else -1)
        distances.append(distance if near else np.inf)
    return np.array(found), np.array(distances)


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize(
    ("seed", "floor", "size"),
    [(0, (2, 2), (61, 45)), (1, (0, 0), (29, 28)), (2, (2, 0), (7, 70)), (9, (1, 1), (150, 120))],
)
def test_a_camera_sees_what_each_ray_alone_meets(camera, seed, floor, size):
    model, data = scene(seed, floor)
    eye = RayCamera(model, camera, *size)
    for reach in (20.0, 1.8):
        hits = eye.cast(data, reach, normals=True)
        units = eye.rays / np.linalg.norm(eye.rays, axis=-1)[..., None]
        directions = (units @ eye.rotation(data).T).reshape(-1, 3)
        geoms, distances = alone(model, data, eye.position(data), directions, reach)
        assert len(set(geoms)) > (0 if camera == "inside" else 2)
        assert (hits.geoms.ravel() == geoms).all()
        assert hits.distance.ravel() == pytest.approx(distances, abs=1e-12)
        along = -(units.reshape(-1, 3)[:, 2])
        assert hits.depth.ravel() == pytest.approx(distances * along, abs=1e-12)
        assert np.linalg.norm(hits.normals[hits.geoms >= 0], axis=-1) == pytest.approx(1)


def test_a_shorter_look_is_part_of_a_longer_one():
    model, data = scene(3)
    eye = RayCamera(model, "far", 60, 60)
    long, short = (eye.cast(data, reach) for reach in (20.0, 1.7))
    assert (long.within(1.7) == short.geoms).all()
    assert 0.1 < (short.geoms < 0).mean() < 0.9


@pytest.mark.parametrize("camera", ["far", "down"])
def test_looking_for_some_geoms_finds_all_of_them_and_invents_none(camera):
    model, data = scene(4)
    eye = RayCamera(model, camera, 120, 120)
    whole = eye.cast(data, 20.0).geoms
    for geom in np.unique(whole[whole >= 0]).tolist():
        part = eye.cast(data, 20.0, only=[geom]).geoms
        assert ((part == geom) == (whole == geom)).all()
        assert ((part == whole) | (part == -1)).all()
    only = eye.cast(data, 20.0, only=[int(whole[whole >= 1].min())]).geoms
    assert (only < 0).mean() > (whole < 0).mean(), "where it cannot be, nothing is cast"


def test_what_moves_or_changes_its_colour_is_seen_so_at_once():
    model, data = scene(5)
    eye = RayCamera(model, "far", 60, 60)
    shown = eye.cast(data, 20.0).geoms
    geom = int(np.bincount(shown[shown >= 1]).argmax())
    model.geom_rgba[geom, 3] = 0
    assert geom not in eye.cast(data, 20.0).geoms
    model.geom_rgba[geom, 3] = 1
    assert (eye.cast(data, 20.0).geoms == shown).all()
    data.qpos[7 * (model.geom_bodyid[geom] - 1)] += 30
    mujoco.mj_forward(model, data)
    assert geom not in eye.cast(data, 20.0).geoms


def test_rays_to_all_sides_in_one_bundle():
    model, data = scene(6)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(600, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    # Things are on both sides of where the bundles should go.
    origin, frame = np.array([0.1, -0.2, 0.3]), np.roll(np.eye(3), 1, axis=1)
    caster = Caster(model)
    for counts in ([600], [1] * 600, [0, 200, 0, 0, 399, 1, 0]):
        bundles = Bundles.of(directions @ frame, np.array(counts))
        met = caster.met(data, origin, frame, bundles)
        geoms, distance, normals = caster.cast(data, origin, directions, bundles.ends, met, 20.0)
        expected, far = alone(model, data, origin, directions, 20.0)
        assert normals is None
        assert (geoms == expected).all()
        assert distance == pytest.approx(far, abs=1e-12)
    assert met.sum() < met.size


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("seed", [7, 8])
def test_shadows_are_those_of_all_geoms(camera, seed, monkeypatch):
    model, data = scene(seed)
    shown = RayPictures(model, 90, 70).render(data, camera)
    cast = []

    def everything(self, data, origin, frame, bundles, lower=None, upper=None):
        cast.append(lower is not None)
        return np.ones((len(bundles.ends), model.ngeom), bool)

    monkeypatch.setattr(Caster, "met", everything)
    # No geom counts as convex either, so that none is left out where it alone is seen.
    monkeypatch.setattr(pictures, "_CONVEX", [])
    assert (RayPictures(model, 90, 70).render(data, camera) == shown).all()
    assert cast == [False, True, True, True], "one look and three lights"


def test_a_view_is_the_picture_with_the_marks_of_the_same_look(monkeypatch):
    casts = []
    plain = rays.Caster.cast

    def counted(self, data, origin, directions, *rest, **more):
        casts.append(len(directions))
        return plain(self, data, origin, directions, *rest, **more)

    env = Tabletop(noise=0, renderer="rays").open()
    env.reset("push_button", 0, Seeds("tabletop", "push_button", 0, 0))
    world = env.world
    looks = RayCamera(world.model, "front", 256, 256).cast(world.data, REACH).geoms
    parts = {**world.parts, "gripper": world.geoms("hand")}
    picture = env.render("front")
    monkeypatch.setattr(rays.Caster, "cast", counted)
    view = env.view("front")
    assert casts.count(256 * 256) == 1
    assert len(casts) == 1 + int(world.model.light_castshadow.sum())
    assert view.marks == marks(looks, parts)
    assert len(view.marks) >= 2
    assert (view.image == draw(picture, view.marks)).all()
    env.close()
