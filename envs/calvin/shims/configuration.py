"""The config of CALVIN's environment, put together from the checkout's own files.

Its `get_env` reads the config from a downloaded dataset of hundreds of gigabytes, and its `hydra.main` wants virtual
reality. The files are the ones that the benchmark uses, but for four values: no EGL (the software renderer needs no
driver), no virtual reality, the scene's info (the oracle reads it) and an absolute path of the data. Cameras are left
out: they render at every step, and the tactile one imports tacto; `envs.calvin.cameras` renders when it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omegaconf import DictConfig

SCENE = "calvin_scene_D"
"""The scene of the benchmark's evaluation."""


def environment_config(checkout: Path) -> DictConfig:
    """What `hydra.utils.instantiate` builds the environment from."""
    from omegaconf import OmegaConf

    folder = checkout / "conf"
    robot = {
        **_plain(folder / "robot" / "panda.yaml"),
        **_plain(folder / "robot" / "panda_longer_finger.yaml"),
    }
    del robot["defaults"]
    config = OmegaConf.create(
        {
            "use_vr": False,
            "data_path": str((checkout / "data").resolve()),
            "robot": robot,
            "scene": OmegaConf.load(folder / "scene" / f"{SCENE}.yaml"),
            "cameras": {},
            "env": OmegaConf.load(folder / "env" / "play_table_env.yaml"),
        }
    )
    config.env.use_egl = False
    config.env.use_scene_info = True
    node: DictConfig = config.env
    return node


def camera_config(checkout: Path, name: str) -> dict[str, Any]:
    """A camera's numbers: `static` or `gripper`."""
    return _plain(checkout / "conf" / "cameras" / "cameras" / f"{name}.yaml")


def oracle_config(checkout: Path) -> dict[str, Any]:
    """The predicates of the 34 tasks: the arguments of calvin_env's `Tasks`."""
    tasks: dict[str, Any] = _plain(checkout / "conf" / "tasks" / "new_playtable_tasks.yaml")["tasks"]
    return tasks


def _plain(path: Path) -> dict[str, Any]:
    """A file's keys and values, its references left as they are."""
    from omegaconf import OmegaConf

    node = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert isinstance(node, dict)
    return {str(key): value for key, value in node.items()}
