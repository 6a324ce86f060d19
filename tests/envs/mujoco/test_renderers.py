"""Pictures drawn with rays and with OpenGL: both show the scene, and about the same one."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from envs.mujoco import gl
from envs.mujoco.cameras import Mount
from envs.mujoco.pictures import RayPictures
from envs.tabletop import Tabletop
from harness.failures import UsageError
from harness.seeding import Seeds

NO_OPENGL = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "OpenGL" or name in ("mujoco.egl", "mujoco.osmesa", "mujoco.glfw"):
            raise ImportError(f"{name} is not here")
sys.meta_path.insert(0, Refuse())
from envs.tabletop import Tabletop
from harness.seeding import Seeds
env = Tabletop(noise=0, renderer="rays").open()
env.reset("push_button", 0, Seeds("tabletop", "push_button", 0, 0))
picture = env.render("front")
print(picture.shape, picture.dtype, picture.std() > 20, env.info()["renderer"], "OpenGL" in sys.modules)
"""


def red_ball():
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(pos=[2, 0, 3], dir=[-2, 0, -3], diffuse=[0.6] * 3)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1], rgba=[0.9, 0.9, 0.9, 1])
    spec.worldbody.add_geom(
        name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.2, 0, 0], pos=[0.3, 0, 0.6], rgba=[1, 0, 0, 1]
    )
    Mount("above", (0.0, 0.0, 2.0), (0.0, 0.0, 0.0), 60, up=(0.0, 1.0, 0.0)).add_to(spec.worldbody)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_rays_draw_colours_where_things_are():
    model, data = red_ball()
    picture = RayPictures(model, 100, 100).render(data, "above")
    assert picture.shape == (100, 100, 3)
    assert picture.dtype == np.uint8
    # The ball is 1.4 m below the camera and 0.3 m to the right.
    column = round(50 + 50 / np.tan(np.radians(30)) * 0.3 / 1.4)
    red, green, blue = (int(channel) for channel in picture[50, column])
    assert red > 120
    assert max(green, blue) < 20
    grey = picture[90, 10].astype(int)
    assert grey.max() - grey.min() < 5
    assert grey.min() > 60


def test_rays_cast_shadows():
    model, data = red_ball()
    picture = RayPictures(model, 100, 100).render(data, "above").astype(int)
    model.light_castshadow[:] = False
    bright = RayPictures(model, 100, 100).render(data, "above").astype(int)
    change = bright.sum(axis=2) - picture.sum(axis=2)
    assert (change >= 0).all()
    assert 0.01 < (change > 30).mean() < 0.2


def test_a_new_colour_shows_at_once():
    model, data = red_ball()
    pictures = RayPictures(model, 64, 64)
    before = pictures.render(data, "above")
    model.geom("ball").rgba[:3] = (0, 0, 1)
    after = pictures.render(data, "above")
    changed = (before != after).any(axis=2)
    assert 0.01 < changed.mean() < 0.2
    assert after[changed].mean(axis=0)[2] > 100 > after[changed].mean(axis=0)[0]


def test_rays_need_no_opengl():
    done = subprocess.run([sys.executable, "-c", NO_OPENGL], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(256, 256, 3) uint8 True rays False"


@pytest.mark.parametrize("camera", ["front", "left_shoulder", "right_shoulder", "overhead", "wrist"])
def test_opengl_and_rays_agree(camera):
    backend = gl.resolve("auto")
    if backend == "rays":
        pytest.skip("there is no OpenGL here")
    shown = []
    for renderer in (backend, "rays"):
        env = Tabletop(noise=0, renderer=renderer).open()
        env.reset("push_button", 0, Seeds("tabletop", "push_button", 0, 0))
        shown.append(env.render(camera).astype(float))
        env.close()
    difference = np.abs(shown[0] - shown[1])
    # OpenGL adds highlights and interpolates light over large faces; outlines differ by a pixel.
    assert np.median(difference) < 15
    assert (difference.max(axis=2) > 60).mean() < 0.01
    agreement = np.corrcoef(shown[0].ravel(), shown[1].ravel())[0, 1]
    assert agreement > 0.94
    for flipped in (shown[1][::-1], shown[1][:, ::-1]):
        assert np.corrcoef(shown[0].ravel(), flipped.ravel())[0, 1] < agreement - 0.04


def test_an_unknown_renderer_is_told():
    with pytest.raises(UsageError, match="rays"):
        gl.resolve("ray")
    with pytest.raises(ValueError, match="renderer is `opengl`; it can be auto, egl, osmesa, rays"):
        Tabletop(renderer="opengl")


def test_a_backend_that_cannot_draw_is_refused_with_what_mends_it(monkeypatch):
    monkeypatch.setattr(gl, "works", lambda backend: False)
    gl.resolve.cache_clear()
    try:
        with pytest.raises(UsageError, match="apt-get install libosmesa6"):
            gl.resolve("osmesa")
        assert gl.resolve("auto") == "rays"
    finally:
        gl.resolve.cache_clear()


def test_auto_takes_the_first_backend_that_works(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(gl, "works", lambda backend: backend == "osmesa")
    gl.resolve.cache_clear()
    try:
        assert gl.resolve("auto") == "osmesa"
        gl.resolve.cache_clear()
        monkeypatch.setenv("MUJOCO_GL", "egl")
        assert gl.resolve("auto") == "rays", "MuJoCo has bound to what the variable names"
    finally:
        gl.resolve.cache_clear()


def test_an_unknown_camera_is_a_usage_error():
    env = Tabletop(noise=0, renderer="rays").open()
    env.reset("push_button", 0, Seeds("tabletop", "push_button", 0, 0))
    with pytest.raises(UsageError, match="left_shoulder"):
        env.render("behind")
    env.close()
