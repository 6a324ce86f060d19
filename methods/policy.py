"""Runs a trained policy in closed loop: one observation in, one action or a chunk of them out, until the task's
outcome is settled. What the policy is, a Python object or a server, is the config's to say; nothing is trained here."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harness.failures import HarnessError, MethodFailure, MotionFailure
from harness.protocols import Actuation, Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.episode import Episode, Trial

    Floats = NDArray[np.float64]


class Actor(Protocol):
    """What a factory returns. It may also have `seed(number)`, called before each `reset` with a seed that hangs
    under (cell seed, episode, trial): a policy that draws has to draw from it, or runs do not repeat."""

    def reset(self, instruction: str) -> None:
        """A new episode begins."""
        ...

    def act(self, observation: Mapping[str, NDArray[Any]]) -> Any:
        """The next action (7,), a chunk of them (N, 7), or a mapping with `action` (or `actions`, as openpi's
        servers say) and perhaps `done`: with it the episode ends after those actions. `observation` is what
        `harness.protocols.Actuation.observation` gives."""
        ...


@dataclass(frozen=True)
class Policy:
    """One trial of a policy, named by `policy` or by `server`.

    The policy answers for what it does: an action of a wrong shape or with a number that is not finite is a `motion`
    failure, its own `done` before the goal a `goal` failure, the spent step limit a `steps` failure. An exception that
    its code raises is no decision of a policy (a missing key, a full GPU), so that is an error of the episode: in no
    rate, shown beside it, and played again. The same holds for a server that is down or reports an exception.
    """

    policy: str = ""
    """`package.module:factory`; `factory()` returns an `Actor`, and is called once a process."""
    server: str | None = None
    """`ws://host:port` of a server that speaks openpi's protocol, see `methods.policy_server`."""
    action_scale: list[float] = field(default_factory=lambda: [1.0, 1.0])
    """Metres and radians that 1.0 in an action stands for."""
    rotation: Literal["vector", "euler"] = "vector"
    """What an action's rotation is: a rotation vector in world axes, or, as for CALVIN's relative actions, what is
    added to the tool's Euler angles about the fixed x, then y, then z axis."""
    cameras: list[str] = field(default_factory=list)
    """Whose pictures the policy sees."""
    chunk: int = 1
    """Actions of a chunk that are taken before the policy is asked again; all of them where it has fewer."""
    timeout: float = 60.0
    """Seconds that a server has for each answer."""

    def __post_init__(self) -> None:
        if self.policy and self.server:
            raise ValueError("both policy and server are set; a method runs one of them")
        if len(self.action_scale) != 2 or not all(0 < scale < float("inf") for scale in self.action_scale):
            raise ValueError(f"action_scale is {self.action_scale}; it is metres and radians, both above 0")
        if self.chunk < 1:
            raise ValueError(f"chunk is {self.chunk}; at least one action is taken of each")
        if not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {self.timeout}; it is a number of seconds above 0")

    def requires(self) -> tuple[type, ...]:
        return (Actuation,)

    def problems(self) -> list[Problem]:
        if self.server:
            from methods.policy_server import problems

            return problems(self.server)
        try:
            locate(self.policy)
        except ValueError as error:
            fix = "Name one: method.policy=package.module:factory, or method.server=ws://host:port"
            return [Problem(str(error), fix)]
        return []

    def fingerprint(self) -> str:
        """Hash of the file that the policy's path names. Weights that it reads are not known here: give another
        path, or another `name` of the sweep, to other weights."""
        try:
            spec = importlib.util.find_spec(self.policy.partition(":")[0]) if self.policy else None
        except Exception:  # whatever a package does when it is imported; `problems` says so
            return ""
        if spec is None or spec.origin is None or not Path(spec.origin).is_file():
            return ""
        return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:16]

    def play(self, episode: Episode) -> None:
        assert isinstance(episode.env, Actuation)
        with episode.trial() as trial, self._actor(episode) as actor:
            episode.served.add(self.policy or str(self.server))
            trial.record.facts["asked"] = 0
            seed = getattr(actor, "seed", None)
            with self._own("reset"):
                if seed is not None:
                    seed(trial.seeds.sampling("policy"))
                actor.reset(episode.instruction)
            self._drive(episode, trial, episode.env, actor)

    def _drive(self, episode: Episode, trial: Trial, env: Actuation, actor: Actor) -> None:
        done = False
        while not done:
            observation = env.observation(self.cameras)
            with self._own("act"):
                reply = actor.act(observation)
            trial.record.facts["asked"] += 1
            actions, done = _read(reply, self.chunk)
            episode.trace("policy", step=env.steps(), actions=actions.round(5), done=done)
            for action in actions:
                taken = env.act(self._scaled(action, env))
                if taken.clipped:
                    trial.count("action: clipped")
                if taken.held:
                    trial.count(f"action: {taken.held}")
                verdict = episode.verdict()
                if verdict.success or verdict.failed:
                    return

    def _scaled(self, action: Floats, env: Actuation) -> Floats:
        """The action in metres and radians, its rotation as a vector in world axes."""
        metres, radians = self.action_scale
        scaled = action * [metres, metres, metres, radians, radians, radians, 1.0]
        if self.rotation == "euler":
            from methods.lmp.rotations import euler2quat, qinverse, qmult, quat2euler

            tool = env.observation()["tool"][3:]
            after = euler2quat(*(quat2euler(tool) + scaled[3:6]))
            scaled[3:6] = _vector(qmult(after, qinverse(tool)))
        return scaled

    @contextmanager
    def _actor(self, episode: Episode) -> Iterator[Actor]:
        if self.server:
            from methods.policy_server import PolicyServer

            server = PolicyServer(self.server, self.timeout)
            try:
                episode.trace("policy_server", url=self.server, metadata=server.metadata)
                yield server
            finally:
                server.close()
        else:
            with self._own("factory"):
                actor = _load(self.policy)
            yield actor

    @contextmanager
    def _own(self, where: str) -> Iterator[None]:
        """An exception of the policy's code is an error, and names it."""
        try:
            yield
        except (HarnessError, MethodFailure):
            raise
        except Exception as error:
            raise HarnessError(
                f"the policy {self.policy or self.server} raised {type(error).__name__} in {where}: {error}"
            ) from error


def locate(path: str) -> Callable[[], Actor]:
    """The factory that `package.module:factory` names. Raises `ValueError` where there is none."""
    module_name, _, name = path.partition(":")
    if not (module_name and name):
        raise ValueError(f"policy is {path!r}, which is no path of the form package.module:factory")
    try:
        factory = getattr(importlib.import_module(module_name), name)
    except Exception as error:  # whatever a module does when it is imported
        raise ValueError(f"cannot import the policy {path}: {type(error).__name__}: {error}") from error
    if not callable(factory):
        raise ValueError(f"the policy {path} is no function or class that can be called")
    found: Callable[[], Actor] = factory
    return found


@lru_cache(maxsize=1)
def _load(path: str) -> Actor:
    """Loading a checkpoint can take minutes, so a process does it once."""
    return locate(path)()


def _read(reply: Any, chunk: int) -> tuple[Floats, bool]:
    """The first `chunk` actions (N, 7) and whether the episode ends after them. Raises `MotionFailure` for anything
    else."""
    import numpy as np

    done = False
    if isinstance(reply, Mapping):
        done = bool(reply.get("done", False))
        names = [name for name in ("action", "actions") if reply.get(name) is not None]
        if not names and done:
            return np.empty((0, 7)), True
        if len(names) != 1:
            raise MotionFailure(
                f"the policy's answer has {', '.join(map(repr, reply)) or 'no keys'}; one of 'action' and 'actions' is "
                "needed"
            )
        reply = reply[names[0]]
    try:
        actions = np.array(reply, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MotionFailure(f"the policy's action is not made of numbers: {error}") from None
    if actions.shape == (7,):
        actions = actions[None]
    if actions.ndim != 2 or actions.shape[1] != 7 or not len(actions):
        raise MotionFailure(f"the policy's action is (7,) or a chunk (N, 7), not {actions.shape}")
    actions = actions[:chunk]
    if not np.isfinite(actions).all():
        raise MotionFailure(f"the policy's action is not finite: {actions}")
    return actions, done


def _vector(quaternion: Floats) -> Floats:
    """Rotation vector (3,) of a unit quaternion, of at most half a turn."""
    import numpy as np

    w, axis = float(quaternion[0]), quaternion[1:]
    if w < 0:
        w, axis = -w, -axis
    sine = float(np.linalg.norm(axis))
    if sine == 0:
        return np.zeros(3)
    vector: Floats = axis * (2 * np.arctan2(sine, w) / sine)
    return vector
