"""Ray: one task for each shard, on a cluster of this machine or on one that is named. Tasks end with the sweep."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.children import import_path
from harness.cluster.shards import Shard
from harness.failures import UsageError


@dataclass
class Ray:
    address: str = "local"
    """`local` starts Ray here; `auto` finds the cluster of this machine; ray://HOST:10001 is one elsewhere."""
    cpus: int = 1
    gpus: float = 0
    _tasks: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    name = "ray"
    lasting = False
    patience = 1.0

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        ray = _ray()
        self._connect(ray)
        # A task whose node is lost is played again elsewhere, and goes on from its rows.
        task = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_retries=3)(_play)
        for shard in shards:
            self._tasks[shard.part] = task.remote(shard)
        return [shard.part for shard in shards]

    def alive(self) -> frozenset[str] | None:
        if not self._tasks:
            return frozenset()
        ready, _ = _ray().wait(list(self._tasks.values()), num_returns=len(self._tasks), timeout=0)
        over = set(ready)
        return frozenset(name for name, task in self._tasks.items() if task not in over)

    def cancel(self, jobs: Collection[str]) -> None:
        for job in jobs:
            _ray().cancel(self._tasks[job], force=False)

    def close(self) -> None:
        if self._tasks:
            _ray().shutdown()
            self._tasks.clear()

    def _connect(self, ray: Any) -> None:
        environment = {"env_vars": {"PYTHONPATH": import_path()}}
        try:
            ray.init(address=self.address, runtime_env=environment, log_to_driver=False)
        except ConnectionError as error:
            raise UsageError(f"Ray does not answer at {self.address}: {error}") from error
        there = ray.cluster_resources()
        for resource, wanted in (("CPU", self.cpus), ("GPU", self.gpus)):
            if wanted > there.get(resource, 0):
                raise UsageError(
                    f"A job wants {wanted:g} {resource}s and the whole Ray cluster has {there.get(resource, 0):g}. "
                    f"Lower hydra.launcher.{resource.lower()}s."
                )


def _play(shard: Shard) -> None:
    shard()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "hydra/launcher=ray needs Ray, in an environment of its own: pip install -e '.[ray]'"
        ) from error
    return ray
