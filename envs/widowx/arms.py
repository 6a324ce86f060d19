"""What `envs.widowx.serve` drives: an arm as its joints. Which joints, how fast and how far is for `envs.widowx.guard` to
say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.protocols import Floats


class Arm(Protocol):
    """A WidowX-250s. Joints are (6,) in radians: waist, shoulder, elbow, forearm roll, wrist angle, wrist rotate. All
    raise `SimulatorError` when the arm does not do it or is lost. `halt` may come from another thread than the rest."""

    name: str

    def joints(self) -> Floats:
        """As measured."""
        ...

    def opening(self) -> float:
        """Of the fingers, measured, from 0 closed to 1."""
        ...

    def command(self, joints: Floats, open_fingers: bool, seconds: float) -> None:
        """Begin to go there, within that time; nothing comes after it unless it is told."""
        ...

    def halt(self) -> None:
        """Stay where it is."""
        ...

    def wait(self, seconds: float) -> None:
        """Let that much of the arm's time pass."""
        ...

    def close(self) -> None:
        """Leave the arm as it stands."""
        ...
