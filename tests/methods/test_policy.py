"""A policy in closed loop: what it is asked, what its actions become, how its episode ends and whose doing that is."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envs.mujoco.environment import ManipulationEnvironment
from envs.tabletop import Tabletop
from harness.cells import Cell
from harness.failures import HarnessError, MotionFailure, ProviderError, UsageError
from harness.play import CellRuntime, play
from harness.preflight import check
from harness.protocols import Actuated, Actuation, Pose
from harness.testing.conformance import check_method
from methods import policy as policy_module
from methods.lmp.rotations import euler2quat, quat2euler
from methods.policy import Policy
from tests.methods.conftest import Stage, World

LIMIT = 0.021


class Driven(World):
    """The kinematic world, driven by actions: the tool follows at once, turns are noted and not made."""

    action_limits = (LIMIT, 0.05)

    def reset(self, task: str, scene: int, seeds: Any) -> Any:
        self.taken: list[np.ndarray] = []
        self.shown: list[tuple[str, ...]] = []
        return super().reset(task, scene, seeds)

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, Any]:
        self.shown.append(tuple(cameras))
        for camera in cameras:
            if camera not in self.cameras():
                raise UsageError(f"no camera {camera}")
        pictures = {f"rgb_{camera}": np.zeros((4, 4, 3), np.uint8) for camera in cameras}
        tool = np.concatenate([self.tool.position, self.tool.quaternion])
        return {**pictures, "tool": tool, "gripper": np.array([self.opening]), "joints": np.zeros(7)}

    def act(self, action: Any) -> Actuated:
        if np.shape(action) != (7,) or not np.isfinite(action).all():
            raise MotionFailure("malformed")
        self._step()
        self.taken.append(action)
        length = float(np.linalg.norm(action[:3]))
        shift = action[:3] * min(1.0, LIMIT / length) if length else action[:3]
        wanted = self.tool.position + shift
        inside = np.clip(wanted, *self.workspace)
        self.tool = Pose(inside, self.tool.quaternion)
        self._judge()
        held = "the edge of the workspace" if (inside != wanted).any() else ""
        return Actuated(length > LIMIT * (1 + 1e-9), held)


@dataclass
class Scripted:
    """Gives the replies of `script` in turn, the last one for ever; an exception among them is raised."""

    script: Sequence[Any]
    told: list[Any] = field(default_factory=list)
    seen: list[Mapping[str, Any]] = field(default_factory=list)

    def reset(self, instruction: str) -> None:
        self.told.append(instruction)

    def act(self, observation: Mapping[str, Any]) -> Any:
        self.seen.append(observation)
        reply = self.script[min(len(self.seen), len(self.script)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


UP = [0, 0, 0.01, 0, 0, 0, 1]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """`module(source)` writes a Python module and gives its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = []

    def write(source: str) -> str:
        name = f"policy_of_the_test_{len(names)}"
        names.append(name)
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        return name

    yield write
    policy_module._load.cache_clear()
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def run(
    stage: Callable[..., Stage], prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Stage, Driven, Scripted]]:
    """`run(script, goal=..., **config)` plays the replies in the kinematic world."""

    def play_it(
        script: Sequence[Any] | Any,
        goal: Callable[[Any], bool] = lambda world: False,
        loss: Callable[[Any], bool] = lambda world: False,
        limit: int = 100,
        **config: Any,
    ) -> tuple[Stage, Driven, Scripted]:
        actor = Scripted(script) if isinstance(script, list) else script
        one, world = stage({}), Driven(prompts)
        world.goal, world.loss, world.limit = goal, loss, limit
        one.episode.env = world
        monkeypatch.setattr(policy_module, "_load", lambda path: actor)
        Policy(policy="some.module:make", **config).play(one.episode)
        return one, world, actor

    return play_it


Run = Callable[..., tuple[Stage, Driven, Scripted]]


def outcome(one: Stage) -> tuple[bool, str | None, str]:
    (record,) = one.episode.trials
    return record.success, record.failure, record.reason


def test_it_acts_until_the_task_has_succeeded(run: Run) -> None:
    one, world, actor = run([UP], goal=lambda world: world.tool.position[2] > 0.455)
    assert outcome(one) == (True, None, "")
    assert world.steps() == len(actor.seen) == 6
    assert actor.told == ["lift the red block"]
    assert [seen["tool"][2] for seen in actor.seen] == pytest.approx([0.40, 0.41, 0.42, 0.43, 0.44, 0.45])
    assert one.episode.trials[0].facts == {"asked": 6}
    assert one.episode.served == {"some.module:make"}


def test_it_needs_an_environment_that_takes_actions(prompts: Path) -> None:
    assert Policy().requires() == (Actuation,)
    assert isinstance(Driven(prompts), Actuation)
    assert not isinstance(World(prompts), Actuation)


def test_a_fail_condition_ends_it(run: Run) -> None:
    one, world, _ = run([UP], loss=lambda world: world.tool.position[2] > 0.425)
    assert outcome(one) == (False, "goal", "a fail condition of the task was met")
    assert world.steps() == 3


def test_the_step_limit_is_a_failure_of_its_own_kind(run: Run) -> None:
    one, world, actor = run([UP], limit=20)
    assert outcome(one)[:2] == (False, "steps")
    assert len(world.taken) == 20 and len(actor.seen) == 21


@pytest.mark.parametrize(
    ("last", "steps"),
    [({"action": UP, "done": True}, 3), ({"done": True}, 2), ({"actions": [UP, UP], "done": np.True_}, 4)],
)
def test_its_own_end_is_a_failure_when_the_goal_is_not_met(run: Run, last: Any, steps: int) -> None:
    one, world, actor = run([UP, {"action": UP}, last], chunk=2)
    assert outcome(one)[:2] == (False, "goal")
    assert (world.steps(), len(actor.seen)) == (steps, 3)


def test_of_a_chunk_so_many_actions_are_taken_as_the_config_says(run: Run) -> None:
    chunk = np.outer([1, 2, 3, 4], [0.001, 0, 0, 0, 0, 0, 1])
    _, world, actor = run([chunk, {"actions": chunk, "done": True}], chunk=3)
    assert [round(1000 * action[0]) for action in world.taken] == [1, 2, 3] * 2
    assert len(actor.seen) == 2
    _, world, _ = run([chunk, {"done": True}], chunk=10)
    assert [round(1000 * action[0]) for action in world.taken] == [1, 2, 3, 4]


def test_success_within_a_chunk_ends_it(run: Run) -> None:
    one, world, _ = run([[UP] * 10], chunk=10, goal=lambda world: world.tool.position[2] > 0.425)
    assert outcome(one)[0]
    assert world.steps() == 3


def test_calvins_actions_map_by_their_scale(run: Run) -> None:
    _, world, _ = run([{"action": [1, -0.5, 0, 0, 0, 1, -1], "done": True}], action_scale=[0.02, 0.05])
    assert world.taken[0] == pytest.approx([0.02, -0.01, 0, 0, 0, 0.05, -1])


@pytest.mark.parametrize("added", [(0.05, 0, 0), (0, -0.04, 0), (0, 0, 0.05), (0.03, 0.02, -0.05)])
def test_euler_increments_become_rotation_vectors(run: Run, added: Any) -> None:
    """The tool that is turned by the vector has the Euler angles that were asked for."""
    from scipy.spatial.transform import Rotation

    action = {"action": [0, 0, 0, *(np.array(added) / 0.05), 1], "done": True}
    start = euler2quat(3.0, 0.1, 1.2)
    original = World.reset

    def tilted(self: Any, *arguments: Any) -> Any:
        done = original(self, *arguments)
        self.tool = Pose(self.tool.position, start)
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "reset", tilted)
        _, world, _ = run([action], rotation="euler", action_scale=[0.02, 0.05])
    turned = Rotation.from_rotvec(world.taken[0][3:6]) * Rotation.from_quat(start, scalar_first=True)
    after = quat2euler(turned.as_quat(scalar_first=True))
    assert after == pytest.approx(np.array([3.0, 0.1, 1.2]) + added, abs=1e-9)


def test_what_was_clipped_or_held_is_counted(run: Run) -> None:
    far = [0.03, 0, 0, 0, 0, 0, 1]  # the edge is 23.8 steps away
    one, _, _ = run([far], limit=31)
    events = one.episode.trials[0].events
    assert events == {"action: clipped": 31, "action: the edge of the workspace": 8}


def test_the_trace_has_every_answer(run: Run) -> None:
    one, _, _ = run([UP, {"action": UP, "done": True}])
    assert [(entry["step"], entry["done"]) for entry in one.traced("policy")] == [(0, False), (1, True)]
    assert one.traced("policy")[0]["actions"] == pytest.approx(np.array([UP]))


def test_it_sees_the_cameras_that_are_named(run: Run) -> None:
    _, _, actor = run([{"done": True}], cameras=["front"])
    assert set(actor.seen[0]) == {"rgb_front", "tool", "gripper", "joints"}
    with pytest.raises(UsageError, match="no camera wrist"):
        run([UP], cameras=["wrist"])


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([0.0] * 6, r"\(7,\) or a chunk \(N, 7\), not \(6,\)"),
        (np.zeros((0, 7)), r"not \(0, 7\)"),
        ([], "not"),
        (np.zeros((2, 2, 7)), "not"),
        (0.5, "not"),
        ([np.nan] * 7, "not finite"),
        ([[0] * 7, [0] * 6], "not made of numbers"),
        ("forward", "not made of numbers"),
        (None, "not"),
        ({}, "no keys"),
        ({"velocity": UP}, "'velocity'"),
        ({"action": UP, "actions": [UP]}, "one of 'action' and 'actions'"),
        ({"action": None}, "one of"),
    ],
)
def test_an_action_that_is_none_is_the_policys_failure(run: Run, reply: Any, message: str) -> None:
    one, world, _ = run([reply])
    assert outcome(one)[:2] == (False, "motion")
    assert re.search(message, outcome(one)[2])
    assert world.steps() == 0


def test_what_is_not_taken_of_a_chunk_is_not_looked_at(run: Run) -> None:
    one, world, _ = run([{"actions": [UP, [np.nan] * 7], "done": True}], chunk=1)
    assert outcome(one)[:2] == (False, "goal")
    assert world.steps() == 1


def test_an_exception_of_its_code_is_an_error_and_no_failure(run: Run) -> None:
    with pytest.raises(
        HarnessError, match=r"some\.module:make raised KeyError in act: 'rgb_front'"
    ) as caught:
        run([UP, KeyError("rgb_front")])
    assert caught.value.kind == "bug"
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(ProviderError, match="no GPU"):
        run([ProviderError("no GPU")])


def test_a_policy_may_say_itself_that_it_failed(run: Run) -> None:
    one, _, _ = run([UP, MotionFailure("I am stuck")])
    assert outcome(one) == (False, "motion", "I am stuck")


def test_a_policy_that_draws_is_seeded_by_cell_episode_and_trial(run: Run) -> None:
    @dataclass
    class Drawing(Scripted):
        seeds: list[int] = field(default_factory=list)

        def seed(self, number: int) -> None:
            assert len(self.told) == len(self.seeds), "before the reset"
            self.seeds.append(number)

    actor = Drawing([{"done": True}])
    for _ in range(2):
        one, _, _ = run(actor)
    assert actor.seeds == [one.episode.seeds.sampling("policy")] * 2


# Configs


def test_a_policy_is_loaded_once_a_process(module: Callable[[str], str], stage: Any, prompts: Path) -> None:
    name = module(
        "made = []\nclass Still:\n    def __init__(self): made.append(self)\n"
        "    def reset(self, instruction): pass\n    def act(self, observation): return {'done': True}\n"
    )
    for _ in range(3):
        one = stage({})
        one.episode.env = Driven(prompts)
        Policy(f"{name}:Still").play(one.episode)
    assert len(sys.modules[name].made) == 1


def test_a_factory_that_raises_is_an_error(module: Callable[[str], str], stage: Any, prompts: Path) -> None:
    name = module("def make(): raise FileNotFoundError('no weights.pt')")
    one = stage({})
    one.episode.env = Driven(prompts)
    with pytest.raises(HarnessError, match=r"raised FileNotFoundError in factory: no weights\.pt"):
        Policy(f"{name}:make").play(one.episode)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "no path of the form package.module:factory"),
        ("just.a.module", "no path of the form"),
        ("no_such_package.module:make", "No module named 'no_such_package'"),
        ("json:no_such_function", "no attribute 'no_such_function'"),
        ("methods.policy:_load.cache", "no attribute"),
        ("string:digits", "can be called"),
    ],
)
def test_a_path_that_leads_nowhere_is_a_problem_before_anything_runs(path: str, message: str) -> None:
    (problem,) = Policy(path).problems()
    assert message in problem.what
    assert "method.policy=package.module:factory" in problem.fix


def test_a_module_that_cannot_be_imported_is_a_problem(module: Callable[[str], str]) -> None:
    name = module("raise RuntimeError('no CUDA here')\ndef make(): ...")
    (problem,) = Policy(f"{name}:make").problems()
    assert "RuntimeError: no CUDA here" in problem.what


def test_preflight_names_it_and_an_environment_without_actions(make_policy_cell: Callable[..., Cell]) -> None:
    with pytest.raises(UsageError, match="method=policy: policy is ''"):
        check([make_policy_cell("")])
    with pytest.raises(UsageError, match="needs an environment with Actuation; env=noop"):
        check([make_policy_cell("tests.methods.test_policy:Press", env="harness.testing.noop.NoopEnv")])
    check([make_policy_cell(f"{__name__}:Press")])


@pytest.mark.parametrize(
    "config",
    [
        {"policy": "a:b", "server": "ws://localhost:1"},
        {"action_scale": [1.0]},
        {"action_scale": [1.0, 0.0]},
        {"action_scale": [float("nan"), 1.0]},
        {"chunk": 0},
        {"timeout": 0.0},
        {"timeout": float("inf")},
    ],
)
def test_a_config_that_cannot_be_is_refused(config: Any) -> None:
    with pytest.raises(ValueError, match=r" is |both"):
        Policy(**config)


def test_another_content_of_the_file_is_another_fingerprint(module: Callable[[str], str]) -> None:
    one, other = module("def make(): return 1"), module("def make(): return 2")
    prints = [Policy(f"{name}:make").fingerprint() for name in (one, other, one)]
    assert prints[0] == prints[2] != prints[1]
    assert all(len(text) == 16 for text in prints)
    assert [Policy(path).fingerprint() for path in ("", "no_such_package.module:make", ":x")] == [""] * 3
    assert Policy(server="ws://localhost:1").fingerprint() == ""


# On the tabletop


class Press:
    """A proportional policy: a fist above where the cameras saw the button, then down."""

    env: ManipulationEnvironment

    def reset(self, instruction: str) -> None:
        self.button = self.env.cloud("button").points.mean(axis=0)
        self.above = False

    def act(self, observation: Mapping[str, Any]) -> Any:
        off = self.button - observation["tool"][:3] + [0, 0, 0.0 if self.above else 0.06]
        self.above = self.above or float(np.linalg.norm(off)) < 0.005
        return [*np.clip(0.3 * off, -0.011, 0.011), 0, 0, 0, -1]


class Rise:
    """Goes up by ten centimetres and ends; refuses pictures that are none."""

    def reset(self, instruction: str) -> None:
        self.steps = 0

    def act(self, observation: Mapping[str, Any]) -> Any:
        assert observation["rgb_front"].shape == (256, 256, 3)
        self.steps += 1
        return {"action": [0, 0, 0.5, 0, 0, 0, -1], "done": self.steps == 10}


@pytest.fixture
def make_policy_cell() -> Callable[..., Cell]:
    def make(path: str, env: str = "envs.tabletop.Tabletop", scenes: int = 1) -> Cell:
        config = {
            "name": "test",
            "seed": 0,
            "method": {"_target_": "methods.policy.Policy", "policy": path},
            "env": {"_target_": env, "tasks": ["push_button"], "scenes": scenes}
            if env.startswith("envs")
            else {"_target_": env},
            "llm": {"_target_": "harness.chat.rules.Rules"},
            "embedder": {"_target_": "harness.embedding.Lexical"},
            "image_embedder": {"_target_": "harness.embedding.ColourLayout"},
            "memory": {"_target_": "methods.code_memory.CodeMemory"},
            "retriever": {"_target_": "methods.retrieval.RandomRank"},
            "tracker": {"_target_": "harness.trackers.NoTracker"},
            "record": {"trace": True, "images": False, "video": "none", "camera": "front", "fps": 10.0},
            "run": {
                "workers": 0,
                "episode_timeout": 600.0,
                "retries": 1,
                "max_errors": 5,
                "fail_fast": False,
            },
            "sampling": {"temperature": 0.0, "max_tokens": 512},
            "sandbox": {"seconds": 5.0, "memory_mb": 1024, "output_chars": 10000, "api_calls": 2000},
            "cache": {"path": None},
            "budget": {"usd": None, "tokens": None, "calls": None, "episode": {}},
        }
        names = {"method": "policy", "env": "tabletop" if env.startswith("envs") else "noop"}
        names |= {"llm": "rules", "embedder": "lexical", "image_embedder": "colour_layout", "tracker": "none"}
        return Cell(config, names, ())

    return make


def test_a_proportional_policy_pushes_the_button_in_every_scene(
    make_policy_cell: Callable[..., Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_policy_cell(f"{__name__}:Press", scenes=6)
    actor = Press()
    actor.env = Tabletop().open()
    monkeypatch.setattr(policy_module, "_load", lambda path: actor)
    runtime = CellRuntime(cell, tmp_path, "test")
    rows = [play(runtime, actor.env, key, attempt=1) for key in cell.episodes()]
    actor.env.close()
    assert [row["status"] for row in rows] == ["success"] * 6
    assert all(20 < row["steps"] < 300 and row["usage"]["calls"] == 0 for row in rows)
    assert all(row["models"] == [f"{__name__}:Press"] for row in rows)


def test_it_conforms(make_policy_cell: Callable[..., Cell], tmp_path: Path) -> None:
    cell = make_policy_cell(f"{__name__}:Rise")
    check_method(Policy(f"{__name__}:Rise", cameras=["front"], action_scale=[0.02, 0.05]), cell, tmp_path)
