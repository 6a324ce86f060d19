"""Hydra launchers for clusters. The keys of each are those of its YAML in `conf/hydra/launcher/`. Registered with
Hydra in `hydra_plugins/engram.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cells import Cell
from harness.launcher import PoolLauncher, show_result


class SlurmLauncher(PoolLauncher):
    """Jobs of Slurm play the cells. Settings: `harness.cluster.slurm.Slurm`."""

    def __init__(self, shard: int | None, wait: bool, **settings: Any) -> None:
        self._shard, self._wait, self._settings = shard, wait, settings

    def play(self, cells: Sequence[Cell], root: Path) -> None:
        from harness.cluster.slurm import Slurm
        from harness.cluster.sweep import Plan, run_on_cluster

        slurm = Slurm(**self._settings)
        result = run_on_cluster(cells, root, slurm, Plan(self._shard, slurm.cpus, self._wait))
        if self._wait or result.complete:
            show_result(result)
        else:
            print("\n".join(result.notes))


class RayLauncher(PoolLauncher):
    """Tasks of Ray play the cells. Settings: `harness.cluster.ray_tasks.Ray`."""

    def __init__(self, shard: int | None, **settings: Any) -> None:
        self._shard, self._settings = shard, settings

    def play(self, cells: Sequence[Cell], root: Path) -> None:
        from harness.cluster.ray_tasks import Ray
        from harness.cluster.sweep import Plan, run_on_cluster

        ray = Ray(**self._settings)
        show_result(run_on_cluster(cells, root, ray, Plan(self._shard, ray.cpus)))
