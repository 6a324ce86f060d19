"""The jobs that an experiment's folder has given to a scheduler which plays them also when nobody waits, in
`.jobs/jobs.json`. What they played is not here: their rows are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.failures import UsageError
from harness.store import PARTS, damaged, write_whole

FOLDER = ".jobs"
"""In an experiment's folder: this record, and what schedulers and jobs write beside rows."""
FILE = "jobs.json"


@dataclass(frozen=True)
class Given:
    """A job and what it was given."""

    job: str
    """The scheduler's id, such as 1234_7."""
    cell: str
    """Name of the cell's folder."""
    part: str
    """Name of the file of rows in it that the job alone writes."""
    episodes: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """What was given to a scheduler; no jobs where nothing was."""

    scheduler: str = ""
    jobs: tuple[Given, ...] = ()

    @property
    def named(self) -> str:
        """As a person says it: a job array counts as one."""
        arrays = list(dict.fromkeys(given.job.partition("_")[0] for given in self.jobs))
        return f"{self.scheduler} job{'s' * (len(arrays) > 1)} {', '.join(arrays)}"


def read(root: Path) -> Record:
    """Raises `UsageError` for a record that is damaged: which jobs may still play is not known then."""
    path = root / FOLDER / FILE
    try:
        found = json.loads(path.read_bytes())
        jobs = (Given(**{**given, "episodes": tuple(given["episodes"])}) for given in found["jobs"])
        return Record(found["scheduler"], tuple(jobs))
    except FileNotFoundError:
        return Record()
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(
            path,
            error,
            "It named the jobs that may still play this experiment: stop them by the scheduler's own command, then delete "
            "that file.",
        ) from error


def write(root: Path, scheduler: str, jobs: Sequence[Given]) -> None:
    """Replace the record; without jobs there is none."""
    path = root / FOLDER / FILE
    if not jobs:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(exist_ok=True)
    content = {"scheduler": scheduler, "jobs": [asdict(given) for given in jobs]}
    write_whole(path, json.dumps(content) + "\n")


def tidy(root: Path) -> None:
    """Delete what schedulers and jobs wrote beside rows, and what workers of jobs that were killed left."""
    for folder in (root / FOLDER, *(root / ".workers").glob(Path(PARTS).stem)):
        shutil.rmtree(folder, ignore_errors=True)


def refuse_others(root: Path, scheduler: str = "") -> None:
    """Raise `UsageError` where jobs of another scheduler may still play the experiment."""
    record = read(root)
    if record.jobs and record.scheduler != scheduler:
        raise UsageError(
            f"{root} was given to {record.named}, which may still play it. Go on with "
            f"hydra/launcher={record.scheduler}, or stop that with `python -m harness cancel {root}` first."
        )
