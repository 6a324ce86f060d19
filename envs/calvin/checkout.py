"""The user's checkouts of CALVIN: where they are, what is missing, and the sentences in them. No simulator here."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from envs.calvin.shims.sampling import SEQUENCES, STATES
from harness.failures import UsageError
from harness.protocols import Problem

VARIABLE = "CALVIN_ROOT"
CLONE = (
    "git clone https://github.com/mees/calvin_env PATH/calvin_env && git clone https://github.com/mees/calvin "
    f"PATH/calvin, then export {VARIABLE}=PATH or set env.root=PATH"
)
PACKAGES = {
    "pybullet": "pybullet",
    "scipy": "scipy",
    "quaternion": "numpy-quaternion",
    "gym": "gym",
    "cv2": "opencv-python-headless",
    "git": "GitPython",
}
"""What calvin_env imports, by module, and the package that has it."""
_SIMULATOR = (
    Path("calvin_env", "envs", "play_table_env.py"),
    Path("conf", "scene", "calvin_scene_D.yaml"),
    Path("conf", "tasks", "new_playtable_tasks.yaml"),
    Path("data", "calvin_table_D", "urdf", "calvin_table_D.urdf"),
)
_ANNOTATIONS = Path("calvin_models", "conf", "annotations")
_VALIDATION = _ANNOTATIONS / "new_playtable_validation.yaml"
_TRAINING = _ANNOTATIONS / "new_playtable.yaml"
_BENCHMARK = (SEQUENCES, STATES, _VALIDATION, _TRAINING)


@dataclass(frozen=True)
class Checkout:
    """A folder with the two repositories, by their own names."""

    root: Path

    @property
    def simulator(self) -> Path:
        """mees/calvin_env."""
        return self.root / "calvin_env"

    @property
    def benchmark(self) -> Path:
        """mees/calvin."""
        return self.root / "calvin"

    def missing(self) -> list[Path]:
        """Files that should be there and are not."""
        wanted = [self.simulator / path for path in _SIMULATOR]
        wanted += [self.benchmark / path for path in _BENCHMARK]
        return [path for path in wanted if not path.is_file()]

    def validation_sentences(self) -> Mapping[str, str]:
        """The one sentence of each task with which policies are evaluated."""
        return {task: sentences[0] for task, sentences in _sentences(self.benchmark / _VALIDATION).items()}

    def training_sentences(self) -> Mapping[str, Sequence[str]]:
        """The sentences of each task that policies are trained with; none of them is a validation sentence."""
        return _sentences(self.benchmark / _TRAINING)


def find(root: str | None) -> Checkout | None:
    """The checkout that the config or the environment variable names; it may lack files."""
    named = root or os.environ.get(VARIABLE)
    return Checkout(Path(named).expanduser().resolve()) if named else None


def required(root: str | None) -> Checkout:
    """The complete checkout. Raises `UsageError` that says what is missing and how to get it."""
    found = find(root)
    problems = checkout_problems(root)
    if problems or found is None:
        lines = "\n".join(f"  - {problem.what}. {problem.fix}" for problem in problems)
        raise UsageError(f"env=calvin cannot run here:\n{lines}")
    return found


def checkout_problems(root: str | None) -> list[Problem]:
    """What is wrong with the folder that was named."""
    found = find(root)
    if found is None:
        return [Problem("env=calvin does not know where CALVIN's code is", CLONE)]
    missing = found.missing()
    if not missing:
        return []
    if not found.root.is_dir():
        return [Problem(f"there is no folder {found.root}", CLONE)]
    gone = [repository for repository in (found.simulator, found.benchmark) if not repository.is_dir()]
    what = gone or missing
    return [Problem(f"CALVIN's code in {found.root} lacks {', '.join(map(str, what))}", CLONE)]


def package_problems() -> list[Problem]:
    """Packages that calvin_env imports and that are not installed."""
    missing = [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if not missing:
        return []
    return [Problem(f"CALVIN needs {', '.join(missing)}", "pip install -e '.[calvin]'")]


@lru_cache(maxsize=8)
def _sentences(path: Path) -> Mapping[str, tuple[str, ...]]:
    import yaml

    try:
        read = yaml.load(
            path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        return {str(task): tuple(map(str, sentences)) for task, sentences in read.items()}
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        raise UsageError(f"{path} is no list of sentences by task: {error}") from None
