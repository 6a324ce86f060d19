"""Plays cells: `python run.py -m method=voxposer,retry env=tabletop seed=0,1,2`. Without arguments, a small
default. Rerunning a command continues it."""

import sys
from contextlib import nullcontext
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from harness import help as page
from harness.cells import Cell
from harness.cli import messages, with_cells_keys, with_files
from harness.compose import to_plain
from harness.failures import UsageError
from harness.launcher import play_and_show


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def run(config: DictConfig) -> None:
    """One cell; `-m` goes through `harness.launcher.PoolLauncher` instead."""
    job = HydraConfig.get()
    choices = {str(group): str(option) for group, option in job.runtime.choices.items()}
    cell = Cell(to_plain(config), choices, tuple(job.overrides.task))
    alone = job.mode.name == "RUN"
    with messages() if alone else nullcontext():  # another launcher's jobs must not end its process
        if alone and config.item is not None:
            raise UsageError(
                "An experiment is a sweep: add -m, as in `python run.py -m +experiment=mtp_table1`."
            )
        if alone and (launcher := choices["hydra/launcher"]) != "pool":
            raise UsageError(f"hydra/launcher={launcher} is for sweeps, also of one cell: add -m.")
        play_and_show([cell], Path(job.run.dir if alone else job.sweep.dir))


if __name__ == "__main__":
    if {"--help", "-h"} & set(sys.argv):
        print(page.text())
        sys.exit()
    if len(sys.argv) == 1:
        print(
            "No arguments: a small default, the same as `python run.py +experiment=quick`.", file=sys.stderr
        )
        sys.argv.append("+experiment=quick")
    sys.argv[1:] = with_cells_keys(with_files(sys.argv[1:]))
    with messages():
        run()
