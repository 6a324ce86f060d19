"""What an executor may ask of a long-horizon environment: its sensors now. Not the oracle, not the user, not the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from harness.failures import PerceptionFailure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.protocols import Floats, LongHorizon, Pose, View


@runtime_checkable
class Lists(Protocol):
    """An environment that names what its cameras see without drawing their pictures."""

    def objects(self) -> list[str]: ...


class Senses:
    """A view of the environment without what only the oracle knows. What it gives is of the moment at which it is asked.
    Pictures are kept until the next control step, so that whoever shares it pays for them once."""

    def __init__(self, env: LongHorizon) -> None:
        self._env = env
        self._views: dict[str, View] = {}
        self._seen_at = -1

    @property
    def rest(self) -> Pose:
        """See `harness.protocols.LongHorizon`."""
        return self._env.rest

    @property
    def action_limits(self) -> tuple[float, float]:
        """See `harness.protocols.Actuation`."""
        return self._env.action_limits

    def cameras(self) -> Sequence[str]:
        return self._env.cameras()

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, NDArray[Any]]:
        """See `harness.protocols.Actuation.observation`."""
        return self._env.observation(cameras)

    def view(self, camera: str) -> View:
        """See `harness.protocols.LongHorizon.view`."""
        if self._env.steps() != self._seen_at:
            self._views, self._seen_at = {}, self._env.steps()
        if camera not in self._views:
            self._views[camera] = self._env.view(camera)
        return self._views[camera]

    def names(self) -> list[str]:
        """The objects that some camera sees now, each once. Where an environment lists more, `points` tells."""
        if isinstance(self._env, Lists):
            return list(self._env.objects())
        return list(dict.fromkeys(mark.name for camera in self.cameras() for mark in self.view(camera).marks))

    def points(self, name: str) -> Floats | None:
        """(N, 3), metres, world frame, of what is seen of an object; None when no camera sees it."""
        try:
            return self._env.cloud(name).points
        except PerceptionFailure:
            return None
