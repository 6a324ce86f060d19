"""The project's Hydra launcher: a sweep is one pool of episodes over all its cells. Registered with Hydra in
`hydra_plugins/engram.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from harness.cells import Cell
from harness.compose import Composer
from harness.failures import UsageError

if TYPE_CHECKING:
    from harness.sweep import SweepResult


class SweepIncompleteError(Exception):
    """Some episodes have no verdict; the summary has listed them."""


class PoolLauncher(Launcher):
    """Composes every cell first, then plays all their episodes in one pool of worker processes."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self._context, self._config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        composer = Composer(self._context.config_loader, self._config)
        cells = [_composed(composer, overrides, job_overrides) for overrides in job_overrides]
        names = {str(cell.config["name"]) for cell in cells}
        if len(names) > 1:
            raise UsageError(
                f"A sweep has one folder, but `name` takes several values: {', '.join(sorted(names))}."
            )
        self.play(cells, Path(str(self._config.hydra.sweep.dir)))
        return [
            JobReturn(overrides=list(o), status=JobStatus.COMPLETED, _return_value=None)
            for o in job_overrides
        ]

    def play(self, cells: Sequence[Cell], root: Path) -> None:
        """Play them and print the table. Raises `SweepIncompleteError`."""
        play_and_show(cells, root)


def _composed(composer: Composer, overrides: Sequence[str], of_all: Sequence[Sequence[str]]) -> Cell:
    """One cell. Raises `UsageError` that names it by what it does not share with all others."""
    from harness.cli import explain

    try:
        return composer.cell(overrides)
    except (HydraException, OmegaConfBaseException) as error:
        own = [override for override in overrides if not all(override in others for others in of_all)]
        where = f"The cell {' '.join(own)}: " if own else ""
        raise UsageError(f"{where}{explain(error, lambda: composer.keys(overrides))}") from error


def play_and_show(cells: Sequence[Cell], root: Path) -> None:
    """Play cells and print the table. Raises `SweepIncompleteError` when some episode has no verdict."""
    from harness import sweep

    show_result(sweep.run_cells(cells, root))


def show_result(result: SweepResult) -> None:
    """Print the table. Raises `SweepIncompleteError` when some episode has no verdict."""
    from harness import summary

    summary.show(result)
    if not result.complete:
        raise SweepIncompleteError
