"""Every task can be done: a hand-written expert solves 18 of 20 held-out scenes through the motion interface.
An expert is a file in `experts/`; adding one adds a test."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from envs.tabletop import Tabletop
from harness.failures import StepLimit
from harness.seeding import Seeds

EXPERTS = Path(__file__).parent / "experts"
HELD_OUT = range(1000, 1020)
NEEDED = 18


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"expert_{name}", EXPERTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(env, task: str, scene: int) -> bool:
    kit = load("arm")
    env.reset(task, scene, Seeds("tabletop", task, scene, 0))
    arm = kit.Arm(env)
    try:
        load(task).solve(arm, kit)
    except StepLimit:
        return False
    return env.verdict().success


def test_every_task_has_an_expert():
    experts = {path.stem for path in EXPERTS.glob("*.py")} - {"arm"}
    assert experts == set(Tabletop().definitions())


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(Tabletop().definitions()))
def test_expert_solves_held_out_scenes(task):
    env = Tabletop(noise=0).open()
    try:
        failed = [scene for scene in HELD_OUT if not play(env, task, scene)]
    finally:
        env.close()
    assert len(HELD_OUT) - len(failed) >= NEEDED, f"the expert failed scenes {failed}"
