"""What environments, methods and chat models look like to each other. `envs` and `methods` implement
these and never import each other.

Every entry of a config group is a light dataclass named by the YAML's `_target_`: it can be built,
checked and asked for its tasks without importing a simulator or a client; `open()` brings the heavy part.

Units: metres, radians, seconds. Quaternions are wxyz. Frames: world, z up, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.episode import Episode
    from harness.seeding import Seeds

    Floats = NDArray[np.float64]
    Image = NDArray[np.uint8]


# Environments


@dataclass(frozen=True)
class Task:
    """A named goal. `instructions[0]` is the single instruction, the rest are paraphrases."""

    name: str
    instructions: tuple[str, ...]
    step_limit: int
    """Control steps that a trial may take; in a chain, that each of its sentences may take."""
    share: int = 1
    """Scenes that it has for each one that `env.scenes` asks for: a suite may weigh its tasks."""
    sentences: int = 1
    """More than one for a chain: they are given one after the other, see `Chained`, and the instruction tells them all,
    for people who read the row."""


@dataclass(frozen=True)
class Reset:
    """What a reset gives."""

    state_hash: str
    """Hash of the simulator's initial state before sensor noise; equal for all methods on a scene."""
    attempts: int = 1
    variation: Mapping[str, str] = field(default_factory=dict)
    """Words that the scene drew; they fill the braces of the task's instructions, as in "push the {colour} button"."""


@dataclass(frozen=True)
class Mark:
    """An object in a picture."""

    name: str
    box: tuple[int, int, int, int]
    """Left, top, right, bottom in pixels, the last two not included."""


@dataclass(frozen=True)
class View:
    """A picture in which the objects that the camera sees are framed and named. What it does not see has
    no mark."""

    image: Image
    marks: tuple[Mark, ...]
    gripper: float
    """As `Manipulation.gripper` says."""
    named: bool = True
    """Whether this camera can name what it sees; where it cannot, that there are no marks says nothing."""


@dataclass(frozen=True)
class Verdict:
    """The oracle's word, latched: `success` once the task's predicate held, `failed` once a fail
    condition held first. `holds` says whether the predicate holds right now."""

    success: bool
    failed: bool = False
    holds: bool = False
    subtasks_done: int = 0
    subtasks: int = 1


@dataclass(frozen=True)
class Pose:
    """End-effector pose: tool centre point (3,) in metres, orientation (4,) wxyz, world frame."""

    position: Floats
    quaternion: Floats


@dataclass(frozen=True)
class Motion:
    """How a commanded motion ended. A target that cannot be reached is `reached=False` with a
    reason, never an exception: it is the method's to handle, and it is counted."""

    reached: bool
    reason: str = ""
    position_error: float = 0.0
    """Metres between the commanded and the final tool centre point."""


@dataclass(frozen=True)
class PointCloud:
    """Points (N, 3) and unit normals (N, 3), metres, world frame, float64."""

    points: Floats
    normals: Floats


@runtime_checkable
class Environment(Protocol):
    """One live simulator or robot, in one process."""

    control_hz: float
    on_control_step: Callable[[], None] | None
    """Called after each control step when set; the recorder uses it."""

    def reset(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """Put up the scene. `seeds.scene()` gives all of its randomness, `seeds.noise()` the sensors'."""
        ...

    def verdict(self) -> Verdict: ...

    def steps(self) -> int:
        """Control steps since the reset."""
        ...

    def cameras(self) -> Sequence[str]: ...

    def render(self, camera: str) -> Image:
        """RGB (H, W, 3), uint8."""
        ...

    def info(self) -> Mapping[str, str]:
        """Simulator, its version, the renderer: what a row has to say about where it was measured."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Manipulation(Environment, Protocol):
    """An environment that code-writing methods can use: named objects as point clouds, motions of a
    gripper. Any motion raises `StepLimit` when the task's control steps are spent."""

    workspace: Floats
    """(2, 3): lower and upper corner."""
    effector_names: tuple[str, ...]
    """Names by which plans call the end effector, for example ("gripper", "robot")."""
    surface_names: tuple[str, ...]
    """Names by which plans call the supporting surface, for example ("table",)."""
    prompts: Path
    """Folder with the few-shot examples of this environment, one file a program."""

    def objects(self) -> list[str]:
        """The names that the scene exposes."""
        ...

    def cloud(self, name: str) -> PointCloud:
        """What the cameras see of an object now, with sensor noise. Raises `PerceptionFailure`
        naming the known objects when there is none of that name, or when no camera sees it."""
        ...

    def scene_cloud(self, ignore_robot: bool = True, ignore_grasped: bool = False) -> PointCloud: ...

    def view(self, camera: str) -> View:
        """What a camera shows, with the objects that it sees named as `objects` does, and `gripper`."""
        ...

    def pose(self) -> Pose: ...

    def gripper(self) -> float:
        """Last commanded opening: 1 open, 0 closed."""
        ...

    def move(self, pose: Pose, speed: float = 1.0) -> Motion:
        """Straight-line move of the tool centre point; `speed` is a factor on the usual one. Raises
        `MotionFailure` for a malformed command: wrong shape, not finite, quaternion of zero length."""
        ...

    def set_gripper(self, opening: float) -> Motion:
        """Open (above 0.5) or close; waits until the fingers stop."""
        ...

    def home(self) -> Motion:
        """Back to the pose after the reset; the gripper keeps its last command."""
        ...


@dataclass(frozen=True)
class Actuated:
    """How an action was taken. What it was denied is said, never dropped silently."""

    clipped: bool = False
    """It was larger than a control step allows and was shortened."""
    held: str = ""
    """Why the commanded pose could not follow it: the edge of the workspace, the end of the arm's reach,
    something in the way. Empty when it did."""


@runtime_checkable
class Actuation(Environment, Protocol):
    """An environment that a trained policy can drive: observations out, one small action a control step in."""

    action_limits: tuple[float, float]
    """The longest translation in metres and the largest turn in radians of one control step."""

    def observation(self, cameras: Sequence[str] = ()) -> Mapping[str, NDArray[Any]]:
        """What the robot senses now, in arrays of the caller's own:

        - `rgb_CAMERA` (H, W, 3) uint8 for each of `cameras`, as `render` gives it. Raises `UsageError` for an
          unknown one;
        - `tool` (7,) float64: tool centre point xyz in metres and orientation wxyz, world frame; a quaternion
          and its negative are one orientation;
        - `gripper` (1,) float64: how far the fingers are open, measured, from 0 closed to 1;
        - `joints` (n,) float64: joint angles in radians, 7 of them for an arm like the Panda.
        """
        ...

    def act(self, action: NDArray[Any]) -> Actuated:
        """Take one control step. `action` (7,), world frame: translation of the tool in metres, rotation vector
        in radians about the tool centre point, and the gripper: above 0 it opens, else it closes. The first two
        are added to the commanded pose, each shortened to its limit along its direction; the commanded pose
        never runs ahead of what the arm can reach or is kept from. The tool follows it with the delay of its
        servos, and the fingers take several steps. Raises `MotionFailure` for an action of another shape or with
        a number that is not finite, and `StepLimit` when the task's control steps are spent."""
        ...


@dataclass(frozen=True)
class Utterance:
    """What the user said during a run, and the control step at which it was said."""

    step: int
    text: str


@dataclass(frozen=True)
class Fact:
    """What a subtask takes knowledge of, as words: ("left box", "holds", "plush bear")."""

    subject: str
    relation: str
    value: str
    since: int | None
    """Control step at which the robot was first told or shown it; None as long as it was not."""


@dataclass(frozen=True)
class Subtask:
    """A part of a long-horizon task, as the oracle knows it."""

    text: str
    """As a planner would put it: "inspect X", "pick up X from Y and place it to Z"."""
    stage: int
    """Counted from 0; stages follow each other."""
    done_at: int | None
    """Control step at which it was done, latched."""
    facts: tuple[Fact, ...] = ()
    """What has to be known for it and cannot be seen while it is done: it must be in memory. Empty where a look is
    enough."""
    outdated: tuple[Fact, ...] = ()
    """What was so in an earlier stage and leads astray now."""


@runtime_checkable
class LongHorizon(Actuation, Protocol):
    """An environment whose tasks go on for minutes: the user speaks during the run, changes the world between stages,
    and no single picture shows all that a robot has to know. `subtasks` and `current_subtask` are the oracle's: for
    scoring, and for a human's part. A method that reads them is told what it should find out."""

    rest: Pose
    """The tool's pose after the reset, where the arm hides little."""

    def utterances(self) -> Sequence[Utterance]:
        """All that the user has said since the reset, oldest first; whoever listens remembers how much he has heard.
        What was said before it is the instruction."""
        ...

    def view(self, camera: str) -> View:
        """As `Manipulation.view`: what this camera sees now, and nothing else."""
        ...

    def cloud(self, name: str) -> PointCloud:
        """As `Manipulation.cloud`, for what some camera sees now. Raises `PerceptionFailure` naming what is seen."""
        ...

    def subtasks(self) -> Sequence[Subtask]:
        """All of them, in the order in which they are best done, also those of stages to come."""
        ...

    def current_subtask(self) -> int | None:
        """Index of the first one that is not done of the stage that runs; None when all of its are."""
        ...


@dataclass(frozen=True)
class Sentence:
    """What is asked for at one place of a chain."""

    task: str
    """The task by its own name, as the environment's single tasks have it."""
    text: str


@runtime_checkable
class Chained(Environment, Protocol):
    """An environment that has chains of tasks, CALVIN's long-horizon protocol: a sentence is given, and when its task is
    done the next one is, with no reset between. `verdict` counts the tasks that are done as subtasks. `harness.chains`
    plays them, up to the first one that fails."""

    def next_sentence(self) -> Sentence | None:
        """Give the sentence that is to be done now, the first one after a reset; None when all are done. It is judged
        against the state in which it was given, and has the task's control steps to itself. Once it is done, a control
        step raises `StepLimit` until the next one is given; asked for again before, this is the same sentence."""
        ...


class EnvironmentConfig(Protocol):
    """The dataclass behind `conf/env/*.yaml`. The first three fields choose episodes."""

    # It may also have `cameras() -> Sequence[str]`, the names that the open environment will give: a method or a
    # recorder that asks for another camera is then told before anything runs.

    tasks: list[str] | None
    scenes: int
    instructions: str

    def suite(self) -> Sequence[Task]:
        """All tasks, in their standard order."""
        ...

    def interfaces(self) -> tuple[type, ...]:
        """Protocols that the open environment implements, for example `(Manipulation,)`."""
        ...

    def problems(self) -> list[Problem]:
        """What keeps this environment from running here."""
        ...

    def open(self) -> Environment: ...


@dataclass(frozen=True)
class Problem:
    """Something missing on this machine, and the command that mends it."""

    what: str
    fix: str


# Chat models


@dataclass(frozen=True)
class Message:
    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[bytes, ...] = ()
    """PNG files."""


@dataclass(frozen=True)
class Reply:
    text: str
    finish_reason: str = "stop"
    model: str = ""
    """Name and version as served."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    """None where no price is known."""
    cached: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sampling:
    """How a reply is drawn. `seed` hangs under (cell seed, episode, trial)."""

    temperature: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int = 0


class ChatModel(Protocol):
    """Answers a conversation. It sees the messages and nothing else. Raises `ProviderError`."""

    name: str

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply: ...

    def close(self) -> None: ...


class ChatModelConfig(Protocol):
    """The dataclass behind `conf/llm/*.yaml`."""

    # It may also have
    # - `incidental`, a class attribute: keys that cannot change an answer (limits, prices, where the key is read from);
    #   with other values it is the same cell, and finds the same replies in the cache;
    # - `fingerprint() -> str`, a hash of what answers hang on beside its keys (empty for nothing);
    # - `cached = False`, a class attribute, for a model whose replies are not worth keeping;
    # - `is_priced() -> bool`: whether the cost of its replies is known, which a budget in USD needs;
    # - `probe(sampling) -> list[Problem]`, which asks it one question before any simulator starts.

    def problems(self) -> list[Problem]: ...

    def open(self) -> ChatModel: ...


# Methods


class Method(Protocol):
    """The dataclass behind `conf/method/*.yaml`: plays one episode and returns nothing; what happened
    is in the episode's trials, and what it means is the oracle's to say."""

    # A method may also have `problems() -> list[Problem]`, as the other components do, `cameras`, the names of those
    # that it was told to look through, `roles`, those for which it asks chat models, and `fingerprint() -> str`, a
    # hash of the files it reads (empty for none): with another content it is another cell. A method that learns from
    # episode to episode has `order(keys, seed)`, which gives the order in which a cell's episodes are played one
    # after the other (None for any order); `Episode.history` then gives the rows of those before.

    def requires(self) -> tuple[type, ...]:
        """Protocols that the environment has to implement, for example `(Manipulation,)`."""
        ...

    def play(self, episode: Episode) -> None: ...
