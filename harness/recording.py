"""What is kept of an episode beside its row and its trace: an MP4, PNGs at the ends of trials."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.failures import UsageError
from harness.protocols import Environment
from harness.records import EpisodeKey

if TYPE_CHECKING:
    from harness.protocols import Image

MOMENTS = ("start", "end")
"""Of a trial, at which an observer is called."""


@dataclass
class Film:
    """A video in the making; `keep` is decided when the episode is over."""

    keep: bool = False
    kept: Path | None = None


@dataclass(frozen=True)
class Recorder:
    """The `record` node of a config, applied to one cell's folder."""

    folder: Path
    trace: bool
    images: bool
    video: str
    camera: str | None
    fps: float

    def __post_init__(self) -> None:
        if self.video not in ("none", "failures", "all"):
            raise UsageError(f"record.video is `{self.video}`; it can be none, failures or all.")
        if self.fps <= 0:
            raise UsageError(f"record.fps is {self.fps}; it has to be above 0.")

    def trace_path(self, key: EpisodeKey) -> Path | None:
        return self._trace(key) if self.trace else None

    def forget(self, key: EpisodeKey) -> None:
        """Remove what an attempt that ended in an error left of an episode, whatever is recorded now: beside the row of
        another attempt it would show what did not happen in it."""
        for path in (self._trace(key), self._video(key), _unfinished(self._video(key))):
            path.unlink(missing_ok=True)
        for trial in count():
            pictures = [self._image(key, trial, moment) for moment in MOMENTS]
            if not any(picture.exists() for picture in pictures):
                return
            for picture in pictures:
                picture.unlink(missing_ok=True)

    def wants_video(self, status: str) -> bool:
        return self.video == "all" or (self.video == "failures" and status != "success")

    def relative(self, path: Path | None) -> str | None:
        """A path inside the cell's folder, as a row names it."""
        return os.path.relpath(path, self.folder) if path is not None else None

    @contextmanager
    def filming(self, env: Environment, key: EpisodeKey) -> Iterator[Film]:
        """Film what `env` does inside the block, if videos are on."""
        film = Film()
        if self.video == "none":
            yield film
            return
        target = self._video(key)
        temporary = _unfinished(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        writer = _writer(temporary, self.fps)
        env.on_control_step = self._every_frame(env, writer)
        try:
            yield film
        finally:
            env.on_control_step = None
            writer.close()
            if film.keep and temporary.exists():
                film.kept = temporary.replace(target)
            else:
                temporary.unlink(missing_ok=True)

    def observer(self, env: Environment, key: EpisodeKey) -> Callable[[str, int], None]:
        """Called at the start and the end of each trial."""

        def observe(moment: str, trial: int) -> None:
            if self.images:
                path = self._image(key, trial, moment)
                path.parent.mkdir(parents=True, exist_ok=True)
                _save_png(self._picture(env), path)

        return observe

    def _trace(self, key: EpisodeKey) -> Path:
        return self.folder / "traces" / f"{key}.jsonl"

    def _video(self, key: EpisodeKey) -> Path:
        return self.folder / "videos" / f"{key}.mp4"

    def _image(self, key: EpisodeKey, trial: int, moment: str) -> Path:
        return self.folder / "images" / f"{key}-t{trial}-{moment}.png"

    def _picture(self, env: Environment) -> Image:
        return env.render(self.camera or env.cameras()[0])

    def _every_frame(self, env: Environment, writer: Any) -> Callable[[], None]:
        every = max(1, round(env.control_hz / self.fps))
        steps = count()

        def step() -> None:
            if next(steps) % every == 0:
                writer.append_data(self._picture(env))

        return step


def _unfinished(video: Path) -> Path:
    return video.with_suffix(".part.mp4")


def _writer(path: Path, fps: float) -> Any:
    import imageio.v2 as imageio

    return imageio.get_writer(path, fps=fps, codec="libx264", macro_block_size=2)


def _save_png(image: Any, path: Path) -> None:
    from PIL import Image

    Image.fromarray(image).save(path)
