"""What the robot's cameras see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from harness.failures import PerceptionFailure
from harness.protocols import PointCloud, View

if TYPE_CHECKING:
    from envs.robots.camera import Camera
    from harness.protocols import Image


class Eyes(Protocol):
    """Of an environment. `forget` whenever something may have moved."""

    def forget(self) -> None: ...

    def render(self, camera: str) -> Image: ...

    def view(self, camera: str, gripper: float) -> View: ...

    def objects(self) -> list[str]: ...

    def cloud(self, name: str) -> PointCloud: ...

    def close(self) -> None: ...


class Cameras:
    """Real ones, which give pictures and name nothing."""

    def __init__(self, cameras: Mapping[str, Camera]) -> None:
        self._cameras = cameras
        self._seen: dict[str, Image] = {}

    def forget(self) -> None:
        self._seen.clear()

    def render(self, camera: str) -> Image:
        """The picture is kept until it is forgotten."""
        if camera not in self._seen:
            self._seen[camera] = self._cameras[camera].shoot().rgb
        return self._seen[camera]

    def view(self, camera: str, gripper: float) -> View:
        return View(self.render(camera), (), gripper, named=False)

    def objects(self) -> list[str]:
        return []

    def cloud(self, name: str) -> PointCloud:
        raise PerceptionFailure(
            f"these cameras give pictures and do not say where {name!r} is: drive by executor=openpi or human"
        )

    def close(self) -> None:
        for camera in self._cameras.values():
            camera.close()
