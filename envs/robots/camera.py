"""What a camera is to the robots: a Python path whose class gives pictures with depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.protocols import Floats, Image


@dataclass(frozen=True)
class Shot:
    """A picture with depth."""

    rgb: Image
    """(H, W, 3) uint8."""
    depth: Floats
    """(H, W), metres along the optical axis; 0 or not finite where nothing was measured."""
    focal: tuple[float, float]
    """In pixels, along x and y."""
    centre: tuple[float, float]
    """The principal point in pixels."""


class Camera(Protocol):
    def shoot(self) -> Shot:
        """What is seen now, depth aligned with colour. Raises `SimulatorError` when there is no picture."""
        ...

    def close(self) -> None: ...
