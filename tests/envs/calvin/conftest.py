"""A tiny checkout of our own for tests that need no simulator, and the real environment for those marked `calvin`."""

import importlib.util
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envs.calvin import Calvin
from envs.calvin.chains import official_chains
from envs.calvin.checkout import Checkout
from harness.seeding import Seeds

SEQUENCES = """
    from concurrent.futures import ProcessPoolExecutor
    from pathlib import Path

    from calvin_agent.evaluation.utils import temp_seed
    import numpy as np


    def one(i):
        first = ["open_drawer", "turn_on_led", "open_drawer", "lift_red_block_table"][i % 4]
        return first, "close_drawer", "turn_on_led", "turn_off_led", "stack_block"


    def get_sequences(num_sequences=1000, num_workers=None):
        with open(Path(__file__).with_name("calls"), "a") as calls:
            calls.write("x")
        with temp_seed(0):
            shift = int(np.random.randint(1000))
        with ProcessPoolExecutor(max_workers=2) as executor:
            tasks = list(executor.map(one, range(num_sequences), chunksize=500))
        return [({"drawer": "closed", "led": (i + shift) % 2}, tasks[i]) for i in range(num_sequences)]
"""
STATES = """
    import contextlib

    import torch_of_another_time
    import numpy as np
    from numpy import pi

    hasher = torch_of_another_time.hasher


    @contextlib.contextmanager
    def temp_seed(seed):
        state = np.random.get_state()
        np.random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(state)


    def get_env_state_for_initial_condition(initial_condition):
        with temp_seed(hasher(str(initial_condition.values()))):
            return np.full(15, pi), np.random.uniform(size=24)
"""
TASKS = ("open_drawer", "close_drawer", "turn_on_led", "turn_off_led", "lift_red_block_table", "stack_block")
VALIDATION = "\n".join(f'{task}: ["please {task}"]' for task in TASKS)
TRAINING = "\n".join(f"{task}: [{', '.join(f'{task} by way {i}' for i in range(7))}]" for task in TASKS)


@pytest.fixture
def fake_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with all files that are looked for, written by us. The cache is a folder of the test's own."""
    root = tmp_path / "checkouts"
    agent = "calvin/calvin_models/calvin_agent/evaluation"
    annotations = "calvin/calvin_models/conf/annotations"
    for path, text in {
        "calvin_env/calvin_env/envs/play_table_env.py": "",
        "calvin_env/conf/scene/calvin_scene_D.yaml": "",
        "calvin_env/conf/tasks/new_playtable_tasks.yaml": "",
        "calvin_env/data/calvin_table_D/urdf/calvin_table_D.urdf": "",
        f"{agent}/multistep_sequences.py": SEQUENCES,
        f"{agent}/utils.py": STATES,
        f"{annotations}/new_playtable_validation.yaml": VALIDATION,
        f"{annotations}/new_playtable.yaml": TRAINING,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(textwrap.dedent(text))
    monkeypatch.delenv("CALVIN_ROOT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield root
    official_chains.cache_clear()


@pytest.fixture
def fake(fake_root: Path) -> Checkout:
    return Checkout(fake_root)


@pytest.fixture(scope="session")
def calvin() -> Iterator[object]:
    """The real environment without noise, one for all tests of a process; skips where it cannot be."""
    config = Calvin(noise=0)
    if problems := config.problems():
        pytest.skip(f"{problems[0].what}. {problems[0].fix}")
    env = config.open()
    yield env
    env.close()


@pytest.fixture
def scene(calvin) -> Callable[..., object]:
    """`scene(task, index)` resets the real environment and returns it."""

    def put_up(task: str, index: int = 0, seed: int = 0):
        calvin.on_control_step = None
        calvin.reset(task, index, Seeds("calvin", task, index, seed))
        return calvin

    return put_up


@pytest.fixture(scope="session")
def calvin_expert() -> ModuleType:
    """The experts of all families of tasks."""
    spec = importlib.util.spec_from_file_location("calvin_expert", Path(__file__).parent / "expert.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
