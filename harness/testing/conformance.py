"""Checks for parts that another package adds. Each raises `AssertionError` saying what is not as
`harness.protocols` wants it; call them from your own tests.

    from harness.testing.conformance import check_environment
    def test_it() -> None:
        check_environment(MyEnvironment())
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from harness import store
from harness.cells import Cell
from harness.failures import MotionFailure, PerceptionFailure, StepLimit, UsageError
from harness.play import CellRuntime, comparable, play
from harness.protocols import (
    Actuated,
    Actuation,
    ChatModelConfig,
    Environment,
    EnvironmentConfig,
    Manipulation,
    Message,
    Method,
    Pose,
    Problem,
    Sampling,
)
from harness.records import VERDICTS
from harness.seeding import Seeds
from harness.trackers import Tracker
from harness.trackers.mirror import mirroring

PROJECT = Path(__file__).resolve().parent.parent.parent


def check_environment(
    config: EnvironmentConfig, name: str = "under_test", scenes: Sequence[int] = (0, 1)
) -> None:
    """The suite is well formed; scenes repeat bit for bit, also after another task and under another seed;
    the oracle starts from no success; every interface that is promised is there."""
    _check_config(config)
    suite = config.suite()
    assert suite, "suite() has no task"
    assert len({task.name for task in suite}) == len(suite), "two tasks have the same name"
    for task in suite:
        assert task.instructions and all(text.strip() for text in task.instructions), (
            f"{task.name}: an empty instruction"
        )
        assert task.step_limit > 0, f"{task.name}: step_limit is {task.step_limit}"
    env = config.open()
    try:
        for interface in config.interfaces():
            assert isinstance(env, interface), f"the open environment is no {interface.__name__}"
        hashes = {}
        for task in suite:
            for scene in scenes:
                hashes[task.name, scene] = _reset(env, name, task.name, scene, seed=0)
        for (task_name, scene), before in reversed(hashes.items()):
            after = _reset(env, name, task_name, scene, seed=1)
            assert after == before, (
                f"{task_name} scene {scene} differs with the order of episodes or the cell's seed"
            )
        assert len(set(hashes.values())) == len(hashes), "different scenes have the same hash"
        info = env.info()
        assert all(isinstance(v, str) for v in info.values()) and info, "info() has to name the simulator"
        image = env.render(env.cameras()[0])
        assert image.ndim == 3 and image.shape[2] == 3 and image.dtype.name == "uint8", (
            "render() is (H, W, 3) uint8"
        )
        if isinstance(env, Manipulation):
            _check_manipulation(env)
        if isinstance(env, Actuation):
            shortest = min(suite, key=lambda task: task.step_limit)
            _reset(env, name, shortest.name, scenes[0], seed=0)
            _check_actuation(env, shortest.step_limit)
    finally:
        env.close()


def _reset(env: Environment, name: str, task: str, scene: int, seed: int) -> str:
    reset = env.reset(task, scene, Seeds(name, task, scene, seed))
    verdict = env.verdict()
    assert not verdict.success, f"{task} scene {scene} is solved before anything moved"
    assert not verdict.failed, f"{task} scene {scene} has failed before anything moved"
    assert env.steps() == 0, "steps() counts from the reset"
    return reset.state_hash


def _check_manipulation(env: Manipulation) -> None:
    names = env.objects()
    assert names and len(set(names)) == len(names), "objects() has to name each object once"
    low, high = env.workspace
    assert (low < high).all(), "workspace is (lower corner, upper corner)"
    assert (env.prompts / "planner.txt").is_file(), f"{env.prompts} has no planner.txt"
    try:
        env.cloud("no such object")
    except PerceptionFailure as failure:
        assert names[0] in str(failure), "the failure has to name the known objects"
    else:
        raise AssertionError("cloud() of an unknown name has to raise PerceptionFailure")
    cloud = env.scene_cloud()
    assert cloud.points.shape == cloud.normals.shape and cloud.points.shape[1] == 3, "clouds are (N, 3)"
    start = env.pose()
    far = env.move(Pose(high + 10.0, start.quaternion))
    assert not far.reached and far.reason, "a target out of reach is reached=False with a reason"
    assert env.home() is not None


def _check_actuation(env: Actuation, step_limit: int) -> None:
    """From a reset of a task to its last control step."""
    import numpy as np

    reach, turn = env.action_limits
    assert reach > 0 and turn > 0, "action_limits are metres and radians, both above 0"
    _check_observation(env)
    rest = np.array([0.0, 0, 0, 0, 0, 0, 1])
    wrong: tuple[Any, ...] = (rest[:6], rest[None], np.full(7, np.nan), np.full(7, np.inf), "left")
    before = env.observation()
    for action in wrong:
        with _expected(MotionFailure, f"act() of {action!r}"):
            env.act(action)
    assert env.steps() == 0, "a malformed action takes no control step"
    assert np.array_equal(before["tool"], env.observation()["tool"]), "a malformed action moved the tool"

    called: list[int] = []
    env.on_control_step = lambda: called.append(env.steps())
    allowed = np.array([0, 0, reach, 0, 0, turn, 1]) * 0.999
    action = allowed.copy()
    done = env.act(action)
    env.on_control_step = None
    assert isinstance(done, Actuated), "act() says how the action was taken"
    assert np.array_equal(action, allowed), "act() changed the array that it was given"
    assert env.steps() == 1 and len(called) == 1, "an action is one control step, and on_control_step is told"
    assert not done.clipped, "an action within action_limits is not clipped"
    for large in ([10 * reach, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 10 * turn, 1]):
        at = env.observation()["tool"][:3]
        assert env.act(np.array(large)).clipped, (
            f"{large} is more than action_limits allow and was not clipped"
        )
        moved = np.linalg.norm(env.observation()["tool"][:3] - at)
        assert moved < 3 * reach, f"the tool moved by {moved:.3f} m in one control step"

    for gripper in (-1.0, 1.0):
        start = env.observation()["gripper"][0]
        for _ in range(min(round(3 * env.control_hz), (step_limit - env.steps()) // 2)):
            env.act(np.append(rest[:6], gripper))
        change = env.observation()["gripper"][0] - start
        assert change * gripper > 0.2, (
            f"the fingers moved by {change:.2f} after three seconds of {gripper:+.0f}"
        )
    while env.steps() < step_limit:
        env.act(rest)
    with _expected(StepLimit, f"act() after all {step_limit} control steps of the task"):
        env.act(rest)
    assert env.steps() == step_limit, f"{env.steps()} control steps were taken of {step_limit}"


def _check_observation(env: Actuation) -> None:
    import numpy as np

    camera = env.cameras()[0]
    seen = env.observation([camera])
    shapes = {"tool": (7,), "gripper": (1,), "joints": (seen["joints"].size,)}
    for key, shape in shapes.items():
        value = seen[key]
        assert value.shape == shape and value.dtype == np.float64, f"{key} is {shape} float64"
        assert np.isfinite(value).all(), f"{key} is not finite"
    assert set(seen) == {*shapes, f"rgb_{camera}"}, f"an observation with one camera has {', '.join(seen)}"
    assert abs(np.linalg.norm(seen["tool"][3:]) - 1) < 1e-6, "tool[3:] is a unit quaternion"
    assert 0 <= seen["gripper"][0] <= 1, "gripper is from 0 to 1"
    picture, rendered = seen[f"rgb_{camera}"], env.render(camera)
    assert picture.dtype == np.uint8 and picture.shape == rendered.shape, "pictures are those of render()"
    assert set(env.observation()) == set(shapes), "pictures are for the cameras that are asked for"
    kept = {key: value.copy() for key, value in seen.items()}
    for value in seen.values():
        value[...] = 0
    again = env.observation([camera])
    for key, value in kept.items():
        assert np.array_equal(value, again[key]), (
            f"who writes into {key} of an observation changes the next one"
        )
    with _expected(UsageError, "observation() with an unknown camera"):
        env.observation(["no such camera"])


@contextmanager
def _expected(kind: type[Exception], what: str) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}, not {kind.__name__}") from error
    raise AssertionError(f"{what} has to raise {kind.__name__}")


def check_method(config: Method, cell: Cell, folder: Path) -> None:
    """The method plays an episode of `cell` to a verdict, and to the same one again."""
    assert is_dataclass(config), "a method is a dataclass"
    assert all(isinstance(interface, type) for interface in config.requires()), "requires() names protocols"
    rows = []
    for attempt in range(2):
        runtime = CellRuntime(cell, folder / str(attempt), "test")
        runtime.method = config
        env = runtime.environment.open()
        try:
            rows.append(play(runtime, env, cell.episodes()[0], attempt=1))
        finally:
            env.close()
            runtime.close()
    assert rows[0]["status"] in VERDICTS, f"the episode is an error: {rows[0]['reason']}"
    assert comparable(rows[0]) == comparable(rows[1]), "two plays of one episode differ"


def check_chat_model(config: ChatModelConfig, messages: Sequence[Message]) -> None:
    """The model answers, says who it is, counts its tokens and repeats itself at temperature 0."""
    _check_config(config)
    model = config.open()
    try:
        first, second = (model.complete(messages, Sampling(seed=1)) for _ in range(2))
        assert first.text.strip(), "the reply is empty"
        assert first.model, "the reply does not name its model"
        assert first.prompt_tokens > 0 and first.completion_tokens > 0, "tokens are not counted"
        assert first.text == second.text, "two replies at temperature 0 differ"
    finally:
        model.close()


def check_embedder(embedder: Any) -> None:
    """Rows of unit length, one a text, the same each time; an empty text is a row of zeros."""
    import numpy as np

    _check_config(embedder)
    texts = ["open the drawer", "", "push the button", "open the drawer"]
    vectors = embedder.embed(texts)
    assert vectors.shape[0] == len(texts) and vectors.ndim == 2, "one row a text"
    norms = np.linalg.norm(vectors, axis=1)
    assert np.allclose(norms, [1, 0, 1, 1], atol=1e-5), f"lengths are {norms}, not 1, 0 for the empty text"
    assert np.array_equal(vectors[0], vectors[3]) and np.array_equal(vectors, embedder.embed(texts)), (
        "not repeatable"
    )
    assert embedder.embed([]).shape[0] == 0, "no texts give no rows"


def check_image_embedder(embedder: Any) -> None:
    """Rows of unit length, one a picture, the same each time and whatever the picture's size."""
    import numpy as np

    _check_config(embedder)
    drawn = np.random.default_rng(0).integers(0, 255, (2, 16, 16, 3), dtype=np.uint8)
    images = [drawn[0].repeat(4, 0).repeat(4, 1), drawn[1].repeat(5, 0).repeat(4, 1)]
    vectors = embedder.embed_images([*images, images[0]])
    assert vectors.shape[0] == 3 and vectors.ndim == 2 and vectors.dtype == np.float32, "one row a picture"
    norms = np.linalg.norm(vectors, axis=1)
    assert np.allclose(norms, 1, atol=1e-5), f"lengths are {norms}, not 1"
    assert np.allclose(vectors[0], vectors[2], atol=1e-5), "not repeatable"
    assert vectors[0] @ vectors[1] < 0.9999, "two pictures are one"
    assert embedder.embed_images([]).shape == (0, vectors.shape[1]), "no pictures give no rows"


def check_tracker(tracker: Tracker, root: Path) -> None:
    """The tracker takes a played experiment, and takes nothing twice."""
    _check_config(tracker)
    rows = len(store.load(root))
    for expected in (rows, 0):
        with mirroring(root, tracker) as mirror:
            mirror.finish("ended")
            assert mirror.sent == expected, f"{mirror.sent} rows of {rows} were sent, not {expected}"


def check_launcher(name: str, folder: Path) -> None:
    """`hydra/launcher=NAME` plays the no-op sweep to the same rows as the pool."""
    rows = []
    for launcher in ("pool", name):
        target = folder / launcher
        command = [
            sys.executable,
            "run.py",
            "-m",
            "env=noop",
            "method=noop",
            "seed=0,1",
            f"hydra/launcher={launcher}",
        ]
        command += [
            "hydra.searchpath=[pkg://harness.testing.conf]",
            f"hydra.sweep.dir={target}",
            "run.workers=0",
        ]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
        assert done.returncode == 0, f"exit status {done.returncode}:\n{done.stderr}"
        rows.append({(row["cell"], row["episode"]): comparable(row) for row in store.load(target)})
    assert rows[0] == rows[1], "the rows differ from the pool's"


def _check_config(config: Any) -> None:
    assert is_dataclass(type(config)), "a config group's target is a dataclass"
    assert replace(config) == config, "it has to be rebuilt from its fields"
    assert all(isinstance(problem, Problem) for problem in config.problems()), "problems() lists Problem"
