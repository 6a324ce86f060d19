"""`tracker=wandb`: Weights & Biases. A run a cell, grouped by experiment; every number of an episode is on the step
`episode/number`. `offline` writes files under the experiment's `wandb` folder, for `wandb sync`."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.trackers import figures
from harness.trackers.protocol import Point, State, TrackedCell

if TYPE_CHECKING:
    from harness.protocols import Problem

NUMBER = figures.PREFIX + "number"
EXIT_CODES: Mapping[State, int] = {"finished": 0, "stopped": 255, "failed": 1}
"""255 is what wandb itself reports after Ctrl-C."""
LONGEST_TAG = 64


@dataclass(frozen=True)
class WandbRuns:
    mode: Literal["online", "offline", "disabled"] = "online"
    project: str = "engram"
    entity: str | None = None
    """Team or user; null: the account's default."""
    media: Literal["none", "failures", "all"] = "none"
    patience: float = 60.0

    def problems(self) -> list[Problem]:
        from harness.protocols import Problem

        if self.mode == "disabled":
            return []
        if importlib.util.find_spec("wandb") is None:
            return [Problem("The package wandb is not installed", "pip install 'engram[wandb]'")]
        return []

    def destination(self) -> str:
        if self.mode == "disabled":
            return ""
        server = os.environ.get("WANDB_BASE_URL", "wandb.ai") if self.mode == "online" else "files"
        return " ".join(filter(None, ("W&B", server, self.entity, self.project)))

    def open(self, root: Path) -> _Open:
        return _Open(self, root)


def tags_of(cell: TrackedCell) -> list[str]:
    """As the cell's run has them."""
    return [f"{key}:{value}"[:LONGEST_TAG] for key, value in cell.tags.items()]


class _Open:
    """Runs of one process; several may be open at once."""

    def __init__(self, config: WandbRuns, root: Path) -> None:
        self._config, self._root = config, root
        self._runs: dict[str, Any] = {}
        self.address = f"{root / 'wandb'} (upload them with `wandb sync`)"

    def begin(self, cell: TrackedCell, code: str) -> int | None:
        import wandb

        offline = self._config.mode == "offline"
        run = wandb.init(
            id=cell.run,
            resume="allow",
            reinit="create_new",
            mode=self._config.mode,
            project=self._config.project,
            entity=self._config.entity,
            group=cell.experiment,
            job_type=cell.method,
            name=cell.name,
            tags=tags_of(cell),
            config={**cell.config, "choices": dict(cell.choices), "cell": cell.identity, "code": code},
            allow_val_change=True,
            dir=self._root,
            settings=_settings(self._config.patience),
        )
        self._runs[cell.run] = run
        run.define_metric(NUMBER, summary="none")
        for names in (f"{figures.PREFIX}*", "so_far/*", "video", "images"):
            run.define_metric(names, step_metric=NUMBER, summary="none")
        if offline:
            return None
        self.address = str(run.project_url or self.address)
        return int(run.starting_step)

    def add(self, cell: TrackedCell, points: Sequence[Point]) -> None:
        for point in points:
            values = {NUMBER: point.number, **point.metrics, **_media(point)}
            self._runs[cell.run].log(values, step=point.number)

    def end(
        self, cell: TrackedCell, newest: Sequence[Point], summary: Mapping[str, Any], state: State
    ) -> None:
        import wandb

        run = self._runs[cell.run]
        table = wandb.Table(columns=list(figures.COLUMNS), data=[list(point.line) for point in newest])
        run.summary.update({**summary, "episodes_table": table})
        run.finish(exit_code=EXIT_CODES[state])
        del self._runs[cell.run]

    def close(self) -> None:
        """What is still open here was cut off: it is not told as finished."""
        for run in self._runs.values():
            run.finish(exit_code=EXIT_CODES["failed"])
        self._runs.clear()


def _settings(patience: float) -> Any:
    """Nothing of the machine, its environment or the command line is collected; the rows say what matters."""
    import wandb

    return wandb.Settings(
        console="off",
        silent=True,
        init_timeout=patience,
        disable_git=True,
        disable_code=True,
        save_code=False,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_disable_stats=True,
        x_save_requirements=False,
        x_transaction_log_flush_interval=1.0,
        stop_fn=lambda: None,  # a click on "stop" ends no sweep
    )


def _media(point: Point) -> dict[str, Any]:
    import wandb

    found: dict[str, Any] = {}
    if point.videos:
        found["video"] = [wandb.Video(str(path), caption=point.episode) for path in point.videos]
    if point.images:
        found["images"] = [wandb.Image(str(path), caption=path.stem) for path in point.images]
    return found
