"""What is said of a machine on which RLBench cannot run, before anything dies of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.rlbench import RLBench, package, preflight
from harness.failures import SimulatorError, UsageError


def told(where=preflight.problems) -> list[str]:
    return [f"{problem.what}. {problem.fix}" for problem in where()]


def test_a_machine_that_has_all_passes_and_the_child_has_looked(machine, monkeypatch) -> None:
    assert told() == []
    monkeypatch.setenv("DISPLAY", "")
    assert len(told()) == 1  # what was found before is of other settings


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("COPPELIASIM_ROOT", None, "COPPELIASIM_ROOT is not set. Unpack CoppeliaSim 4.1.0"),
        ("COPPELIASIM_ROOT", "/nowhere", "COPPELIASIM_ROOT is /nowhere, where there is no libcoppeliaSim.so"),
        ("LD_LIBRARY_PATH", "/usr/lib", "LD_LIBRARY_PATH does not name /"),
        ("QT_QPA_PLATFORM_PLUGIN_PATH", None, "QT_QPA_PLATFORM_PLUGIN_PATH is not set. export"),
        ("QT_QPA_PLATFORM_PLUGIN_PATH", "/nowhere", "is /nowhere, which is no folder"),
        ("DISPLAY", None, "DISPLAY is not set, and cameras need an X display. Run it under `xvfb-run -a`"),
        ("QT_QPA_PLATFORM", "offscreen", "QT_QPA_PLATFORM is offscreen, with which CoppeliaSim dies"),
    ],
)
def test_a_wrong_variable_is_named(machine, monkeypatch, variable, value, expected) -> None:
    if value is None:
        monkeypatch.delenv(variable)
    else:
        monkeypatch.setenv(variable, value)
    (line,) = told()
    assert expected in line


def test_the_qt_of_opencv_is_recognised(machine, monkeypatch, tmp_path: Path) -> None:
    plugins = tmp_path / "cv2" / "qt" / "plugins"
    plugins.mkdir(parents=True)
    monkeypatch.setenv("QT_QPA_PLATFORM_PLUGIN_PATH", str(plugins))
    (line,) = told()
    assert "names the Qt of OpenCV" in line and "opencv-python-headless" in line


def test_several_things_are_told_at_once(machine, monkeypatch) -> None:
    for variable in ("LD_LIBRARY_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "DISPLAY"):
        monkeypatch.delenv(variable)
    assert len(told()) == 3


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("display", "the X display DISPLAY=:7 does not answer. Run it under `xvfb-run -a`"),
        ("plugin", "Qt finds no plugin for the display with QT_QPA_PLATFORM_PLUGIN_PATH=/"),
        ("library", "the library libavcodec.so.57 is not found"),
        ("quietly", "CoppeliaSim died of signal 6 when it was started on trial"),
    ],
)
def test_a_child_that_dies_is_survived_and_read(machine, monkeypatch, how, expected) -> None:
    monkeypatch.setenv("FAKE_LAUNCH", how)
    (line,) = told()
    assert expected in line


def test_a_child_that_hangs_is_ended(machine, monkeypatch) -> None:
    monkeypatch.setenv("FAKE_LAUNCH", "hang")
    monkeypatch.setattr(preflight, "PATIENCE", 2.0)
    (line,) = told()
    assert "CoppeliaSim did not start within 2 s" in line


def test_a_missing_module_is_named() -> None:
    problem = preflight._diagnosis(1, "ModuleNotFoundError: No module named 'gymnasium'")
    assert (problem.what, problem.fix) == ("the module gymnasium is not installed", "pip install gymnasium")


def test_open_says_what_is_missing_in_place_of_dying(machine, monkeypatch) -> None:
    monkeypatch.setenv("FAKE_LAUNCH", "display")
    with pytest.raises(
        SimulatorError, match="RLBench cannot run here:\n  - the X display DISPLAY=:7 does not"
    ):
        RLBench().open()


def test_packages_that_are_missing_are_told(machine, monkeypatch) -> None:
    monkeypatch.setattr(package, "folder", lambda name="rlbench": None)
    lines = told()
    assert "PyRep is not installed" in lines[0] and "github.com/stepjam/PyRep" in lines[0]
    assert "RLBench is not installed" in lines[1]
    with pytest.raises(
        UsageError, match="env=rlbench cannot run here:\n  - the package PyRep is not installed"
    ):
        RLBench().suite()


def test_the_other_pyrep_is_recognised(machine, monkeypatch, tmp_path: Path) -> None:
    other = tmp_path / "site" / "pyrep"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    monkeypatch.syspath_prepend(other.parent)
    (line,) = told()
    assert "is not CoppeliaSim's PyRep but PyPI's" in line and "pip uninstall pyrep" in line
