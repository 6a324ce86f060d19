"""`python -m harness track`: what it says, and what it refuses. What reaches a tracker is tested with the trackers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness import commands
from harness.cells import Cell
from harness.commandline import main
from harness.commands.track import configured
from harness.sweep import run_cells
from harness.trackers.ledger import held
from harness.trackers.mlflow_runs import MlflowRuns
from harness.trackers.wandb_runs import WandbRuns

MakeCell = Callable[..., Cell]

PACKAGE = """
from dataclasses import dataclass
from harness.trackers.none import NoTracker, Nowhere

class Cellar(Nowhere):
    address = "the cellar"
    def begin(self, cell, code):
        if self.full: raise OSError("the cellar is full")

@dataclass(frozen=True)
class ToTheCellar(NoTracker):
    depth: int = 1
    full: bool = False

    def problems(self):
        from harness.protocols import Problem
        return [Problem("There is no stair", "Build one.")] if self.depth > 9 else []

    def destination(self): return f"cellar {self.depth}"

    def open(self, root):
        cellar = Cellar()
        cellar.full = self.full
        return cellar
"""


@pytest.fixture
def experiment(tmp_path: Path, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]) -> Path:
    run_cells([make_cell(seed=seed) for seed in (0, 1)], tmp_path / "mine")
    capsys.readouterr()
    return tmp_path / "mine"


@pytest.fixture
def _cellar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tracker=cellar, as another package would bring it."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "cellar.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr("harness.commands.track.configured", lambda name, settings: build(settings))


def build(settings: list[str]) -> object:
    from cellar import ToTheCellar  # type: ignore[import-not-found]

    values = dict(setting.split("=") for setting in settings)
    return ToTheCellar(depth=int(values.get("depth", 1)), full="full" in values)


def track(experiment: Path, *to: str) -> int:
    return main(commands, "", ["track", str(experiment), "--to", *to])


def test_settings_are_those_of_the_tracker() -> None:
    assert configured("wandb", []) == WandbRuns()
    changed = configured("wandb", ["mode=offline", "project=mine", "entity=lab", "media=failures"])
    assert changed == WandbRuns("offline", "mine", "lab", "failures")
    assert configured("mlflow", ["uri=http://host:5000", "patience=5"]) == MlflowRuns(
        "http://host:5000", patience=5
    )


@pytest.mark.parametrize(
    ("to", "message"),
    [
        (["wandbb"], "Did you mean wandb"),
        (["wandb", "mod=offline"], "Did you mean mode"),
        (["wandb", "mode=sometimes"], "online, offline, disabled"),
        (["wandb", "mode=disabled"], "sends nothing anywhere"),
        (["none"], "sends nothing anywhere"),
        (["wandb", "outputs/mine"], "the experiment comes before --to"),
        (["mlflow", "patience=long"], "patience"),
    ],
)
def test_what_cannot_be(
    experiment: Path, capsys: pytest.CaptureFixture[str], to: list[str], message: str
) -> None:
    assert track(experiment, *to) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_is_no_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert track(tmp_path, "wandb") == 2
    assert "holds no cell" in capsys.readouterr().err


@pytest.mark.usefixtures("_cellar")
def test_nothing_is_sent_of_an_experiment_with_a_damaged_cell(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    description = sorted(experiment.glob("*/cell.json"))[1]
    description.write_text('{"format": 1}')
    assert track(experiment, "cellar") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"{description} is damaged (it has no `cell`). Delete that file")


@pytest.mark.usefixtures("_cellar")
def test_what_is_said(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert track(experiment, "cellar") == 0
    assert capsys.readouterr().out == "30 rows sent to the cellar\n"
    assert track(experiment, "cellar") == 0
    assert capsys.readouterr().out == "0 rows sent: cellar 1 has them all\n"
    assert track(experiment, "cellar", "depth=2") == 0
    assert capsys.readouterr().out == "30 rows sent to the cellar\n"


@pytest.mark.usefixtures("_cellar")
def test_a_tracker_that_fails(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert track(experiment, "cellar", "full=yes") == 1
    assert "OSError: the cellar is full" in capsys.readouterr().err
    assert track(experiment, "cellar", "depth=10") == 2
    assert "There is no stair. Build one." in capsys.readouterr().err
    with held(experiment, "cellar 1"):
        assert track(experiment, "cellar") == 2
    assert "another process mirrors" in capsys.readouterr().err
