"""Slurm, through submitit: one job array for up to a thousand shards."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.children import PROJECT
from harness.cluster.shards import Shard
from harness.failures import UsageError

ARRAY = 1000
"""Jobs of an array: one less than Slurm's own default limit (MaxArraySize) allows."""
GRACE = 90
"""Seconds before the time limit at which a job is told to put itself back into the queue."""


@dataclass(frozen=True)
class Slurm:
    """`sbatch` holds further options of sbatch by their long names, underscores for dashes."""

    minutes: int = 240
    """Time limit of a job."""
    cpus: int = 4
    gpus: int = 0
    memory: str | None = None
    """As sbatch takes it: 16GB."""
    partition: str | None = None
    account: str | None = None
    parallel: int = 256
    """Jobs of an array that run at a time."""
    requeues: int = 10
    """Times that a job which runs out of time puts itself back into the queue."""
    setup: Sequence[str] = ()
    """Shell lines that run before a job."""
    sbatch: Mapping[str, Any] = field(default_factory=dict)

    name = "slurm"
    lasting = True
    patience = 5.0

    def submit(self, shards: Sequence[Shard], folder: Path) -> list[str]:
        submitit = _submitit()
        logs = folder / shards[0].part.removesuffix(".jsonl")
        try:
            executor = submitit.SlurmExecutor(logs, max_num_timeout=self.requeues)
            executor.update_parameters(**self._parameters())
        except (RuntimeError, ValueError) as error:
            raise UsageError(f"hydra/launcher=slurm: {error}") from error
        ids: list[str] = []
        for start in range(0, len(shards), ARRAY):
            try:
                with executor.batch():
                    jobs = [executor.submit(shard) for shard in shards[start : start + ARRAY]]
            except submitit.core.utils.FailedJobError as error:
                self.cancel(ids)
                raise UsageError(f"Slurm refused the jobs: {str(error).strip()}") from error
            ids += [str(job.job_id) for job in jobs]
        return ids

    def alive(self) -> frozenset[str] | None:
        done = _call("squeue", "--me", "--noheader", "--array", "--format=%i")
        return frozenset(done.stdout.split()) if done.returncode == 0 else None

    def cancel(self, jobs: Collection[str]) -> None:
        if not jobs:
            return
        arrays = dict.fromkeys(job.partition("_")[0] for job in jobs)
        done = _call("scancel", "--quiet", *arrays)
        if done.returncode and (left := self.alive()) != frozenset() and (left is None or left & set(jobs)):
            raise UsageError(f"Slurm did not cancel {', '.join(arrays)}: {done.stderr.strip()}")

    def close(self) -> None:
        """Nothing to let go of."""

    def _parameters(self) -> dict[str, Any]:
        named = {"partition": self.partition, "account": self.account, "mem": self.memory}
        return {
            "job_name": "engram",
            "time": self.minutes,
            "cpus_per_task": self.cpus,
            "array_parallelism": self.parallel,
            "signal_delay_s": GRACE,
            "setup": [f"export PYTHONPATH={shlex.quote(str(PROJECT))}:$PYTHONPATH", *self.setup],
            **({"gpus_per_node": self.gpus} if self.gpus else {}),
            **{key: value for key, value in named.items() if value is not None},
            "additional_parameters": {"requeue": True, **self.sbatch},
        }


def _call(*command: str) -> subprocess.CompletedProcess[str]:
    """A command of Slurm's; a missing one and one that does not answer fail."""
    if shutil.which(command[0]) is None:
        raise UsageError(
            f"`{command[0]}` is not found: hydra/launcher=slurm runs where Slurm's commands are."
        )
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "no answer within a minute")


def _submitit() -> Any:
    try:
        import submitit
    except ImportError as error:
        raise UsageError(
            "hydra/launcher=slurm needs submitit. Install it: pip install -e '.[slurm]'"
        ) from error
    return submitit
