"""How the embedded worlds are lit and drawn."""

from __future__ import annotations

from typing import Any


def soften(spec: Any, ambient: float, diffuse: float) -> None:
    """A soft light from the camera, and settings that drawing in software takes well."""
    look = spec.visual
    look.headlight.ambient = [ambient] * 3
    look.headlight.diffuse = [diffuse] * 3
    look.headlight.specular = [0.05] * 3
    # Times the size of the room: the wrist camera is a few centimetres from the fingers.
    look.map.znear = 0.001
    # EGL without a GPU takes a third of the time that it takes with the usual values.
    look.quality.shadowsize = 1024
    look.quality.numslices = 16
    look.quality.numstacks = 8
