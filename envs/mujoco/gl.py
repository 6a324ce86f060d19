"""RGB pictures drawn with OpenGL off the screen, and the choice of who draws: EGL, OSMesa or rays.

Where OpenGL is broken it may end the process instead of raising, so each backend is first tried in a child
process. Depth and segmentation never come from here."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from harness.failures import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BACKENDS = ("egl", "osmesa")
RENDERERS = ("auto", *BACKENDS, "rays")
FIXES = {
    "egl": "apt-get install libegl1 libgl1-mesa-dri",
    "osmesa": "apt-get install libosmesa6",
}
"""What mends a backend on Debian and Ubuntu."""
_PATIENCE = 60.0
_PROBE = """
import sys
import numpy as np
import mujoco
from envs.mujoco.gl import GLPictures
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 2'/><camera name='eye' pos='0 0 1'/>"
    "<geom size='.2' rgba='1 0 0 1'/></worldbody></mujoco>"
)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
pictures = GLPictures(model, 32, 32, sys.argv[1])
red = pictures.render(data, "eye")[16, 16, 0]
pictures.close()
print("drawn" if red > 20 else "black", flush=True)
"""


class Pictures(Protocol):
    """Draws the cameras of one model; `pictures.RayPictures` is the other one."""

    def render(self, data: Any, camera: str) -> NDArray[np.uint8]:
        """RGB (H, W, 3)."""
        ...

    def close(self) -> None: ...


class GLPictures:
    """MuJoCo's own renderer on an EGL or OSMesa context. Close it explicitly; it lives in one thread."""

    def __init__(self, model: Any, width: int, height: int, backend: str) -> None:
        import mujoco

        self._model = model
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._shape = (height, width, 3)
        self._scene = mujoco.MjvScene(model, 2000)
        self._option = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        context = importlib.import_module(f"mujoco.{backend}").GLContext
        self._context: Any = context(width, height)
        self._context.make_current()
        self._drawing: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_resizeOffscreen(width, height, self._drawing)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._drawing)

    def render(self, data: Any, camera: str) -> NDArray[np.uint8]:
        """RGB (H, W, 3)."""
        import mujoco
        import numpy as np

        self._context.make_current()
        self._camera.fixedcamid = self._model.camera(camera).id
        mujoco.mjv_updateScene(
            self._model, data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        mujoco.mjr_render(self._rectangle, self._scene, self._drawing)
        picture = np.empty(self._shape, np.uint8)
        mujoco.mjr_readPixels(picture, None, self._rectangle, self._drawing)
        return np.ascontiguousarray(picture[::-1])

    def close(self) -> None:
        if self._context is not None:
            self._context.make_current()
            self._drawing.free()
            self._context.free()
            self._context = self._drawing = None


@cache
def works(backend: str) -> bool:
    """Whether OpenGL by this backend draws here; found out once a process, in a child process."""
    try:
        child = subprocess.run(
            [sys.executable, "-c", _PROBE, backend],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return child.returncode == 0 and child.stdout.strip().endswith("drawn")


@cache
def resolve(wanted: str) -> str:
    """The renderer to use: `wanted` itself, and for "auto" the first of EGL, OSMesa and rays that works here. A
    backend that the variable MUJOCO_GL names is the only one that "auto" tries, since MuJoCo has bound to it.

    Raises `UsageError` for an unknown name and for a backend that does not work."""
    if wanted not in RENDERERS:
        raise UsageError(f"renderer is `{wanted}`; it can be {', '.join(RENDERERS)}.")
    if wanted == "rays":
        return wanted
    if wanted != "auto":
        if works(wanted):
            return wanted
        raise UsageError(
            f"renderer={wanted} cannot draw here. Install it ({FIXES[wanted]}), or take renderer=auto or rays, "
            "which needs no OpenGL."
        )
    bound = os.environ.get("MUJOCO_GL", "").lower().strip()
    candidates = (bound,) if bound in BACKENDS else () if bound else BACKENDS
    return next((backend for backend in candidates if works(backend)), "rays")


def pictures(model: Any, width: int, height: int, renderer: str) -> Pictures:
    """Something that draws `model` with a renderer that `resolve` has named."""
    if renderer == "rays":
        from envs.mujoco.pictures import RayPictures

        return RayPictures(model, width, height)
    return GLPictures(model, width, height, renderer)
