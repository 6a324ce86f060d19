"""An Intel RealSense through pyrealsense2, for a config's camera. It was not run: there is no such camera here."""

from __future__ import annotations

import numpy as np
import pyrealsense2  # type: ignore[import-not-found, unused-ignore]

from envs.robots.camera import Shot
from harness.failures import SimulatorError

_WIDTH, _HEIGHT, _RATE = 640, 480, 30
_WARMING = 30
"""Pictures until exposure has settled."""


class RealSense:
    """The one with that serial number, or else the first one that is plugged in."""

    def __init__(self, serial: str = "") -> None:
        self._pipeline = pyrealsense2.pipeline()
        streams = pyrealsense2.config()
        if serial:
            streams.enable_device(serial)
        streams.enable_stream(pyrealsense2.stream.color, _WIDTH, _HEIGHT, pyrealsense2.format.rgb8, _RATE)
        streams.enable_stream(pyrealsense2.stream.depth, _WIDTH, _HEIGHT, pyrealsense2.format.z16, _RATE)
        try:
            profile = self._pipeline.start(streams)
        except RuntimeError as error:
            raise SimulatorError(f"no RealSense {serial and serial + ' '}gives pictures: {error}") from error
        self._scale = profile.get_device().first_depth_sensor().get_depth_scale()
        self._align = pyrealsense2.align(pyrealsense2.stream.color)
        for _ in range(_WARMING):
            self._pipeline.wait_for_frames()

    def shoot(self) -> Shot:
        """See `envs.robots.camera.Camera`."""
        try:
            frames = self._align.process(self._pipeline.wait_for_frames())
        except RuntimeError as error:
            raise SimulatorError(f"the RealSense gave no picture: {error}") from error
        colour, depth = frames.get_color_frame(), frames.get_depth_frame()
        lens = colour.profile.as_video_stream_profile().get_intrinsics()
        return Shot(
            np.array(colour.get_data()),
            np.array(depth.get_data()) * self._scale,
            (lens.fx, lens.fy),
            (lens.ppx, lens.ppy),
        )

    def close(self) -> None:
        self._pipeline.stop()
