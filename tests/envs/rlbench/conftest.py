from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envs.rlbench import RLBench, preflight, simulator
from envs.rlbench.environment import RLBenchEnvironment
from harness.seeding import Seeds

FAKE = Path(__file__).parent / "fake"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine on which everything seems to be there; the simulator's folder."""
    root = tmp_path / "CoppeliaSim_Edu_V4_1_0"
    root.mkdir()
    (root / "libcoppeliaSim.so").touch()
    monkeypatch.setenv("COPPELIASIM_ROOT", str(root))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/somewhere:{root}")
    monkeypatch.setenv("QT_QPA_PLATFORM_PLUGIN_PATH", str(root))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.syspath_prepend(FAKE)
    yield root
    for name in [name for name in sys.modules if name.partition(".")[0] in ("rlbench", "pyrep")]:
        del sys.modules[name]


@pytest.fixture
def faults(machine: Path) -> ModuleType:
    """How the fake is broken."""
    import rlbench.faults

    return rlbench.faults


@pytest.fixture
def config(machine: Path, monkeypatch: pytest.MonkeyPatch) -> RLBench:
    """The config, without the child process that starts the simulator on trial, and with small pictures."""
    monkeypatch.setattr(preflight, "_trial_start", lambda settings: ())
    monkeypatch.setattr(simulator, "PIXELS", 64)
    return RLBench()


@pytest.fixture
def rlbench(config: RLBench) -> Iterator[RLBenchEnvironment]:
    env = config.open()
    yield env
    env.close()


@pytest.fixture
def scene(rlbench: RLBenchEnvironment) -> Callable[..., RLBenchEnvironment]:
    """`scene(task, index)` resets and returns the environment."""

    def put_up(task: str, index: int = 0) -> RLBenchEnvironment:
        rlbench.reset(task, index, Seeds("rlbench", task, index, 0))
        return rlbench

    return put_up
