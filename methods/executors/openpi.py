"""`executor=openpi`: a trained policy on a server that speaks openpi's protocol, asked once a chunk.

What goes over the wire is what the client of HiMe's robot sends: the state of the arm, two pictures of 224 x 224 pixels and
the subtask as the prompt. Under which keys a checkpoint expects them depends on how it was trained, so they are the
config's."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from harness.failures import MotionFailure, PolicyServerError
from harness.protocols import Problem
from methods.executors import check_executed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.protocols import Floats, Image
    from methods.executors.senses import Senses
    from methods.policy_server import PolicyServer

PIXELS = 224
"""Height and width of the pictures that the models take."""


@dataclass(frozen=True)
class OpenPi:
    """The config behind `conf/executor/openpi.yaml`."""

    server: str = "ws://127.0.0.1:8000"
    """`ws://host:port`."""
    actions: Literal["absolute", "relative"] = "absolute"
    """What the first six numbers of an action are: the tool's pose (position in metres and rotation vector in radians,
    world frame), or what is added to the pose that the tool had when the server was asked. The seventh is the gripper,
    from 0 closed to 1 open."""
    pictures: dict[str, str] = field(
        default_factory=lambda: {"observation/image": "third_person", "observation/wrist_image": "wrist"}
    )
    """The server's key of each picture, and the camera that it is from."""
    state: str = "observation/state"
    """The server's key of the state, (7,) float32: position, rotation vector and opening of the gripper."""
    executed: int = 5
    """See `methods.executors.ExecutorConfig`."""
    timeout: float = 60.0
    """Seconds that the server has for an answer."""
    attempts: int = 3
    """How often it is asked the same before it counts as down, each time over a new connection."""
    pause: float = 1.0
    """Seconds before the second attempt; twice as many before each further one."""

    def __post_init__(self) -> None:
        check_executed(self.executed)
        if not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {self.timeout}; it is a number of seconds above 0")
        if self.attempts < 1 or not 0 <= self.pause < float("inf"):
            raise ValueError(
                f"attempts is {self.attempts} and pause {self.pause}; they are at least 1, and seconds of 0 or more"
            )
        keys = [*self.pictures, self.state]
        if "prompt" in keys or len(set(keys)) < len(keys):
            raise ValueError(f"the keys {', '.join(keys)} have to differ from each other and from `prompt`")

    def problems(self) -> list[Problem]:
        from methods.policy_server import problems

        return [
            Problem(problem.what, problem.fix.replace("method.", "executor."))
            for problem in problems(self.server)
        ]

    def open(self) -> OpenPiExecutor:
        return OpenPiExecutor(self)


class OpenPiExecutor:
    """See `methods.executors.Executor`. It keeps a connection and nothing of what was sensed."""

    def __init__(self, config: OpenPi) -> None:
        self._config = config
        self.name = f"openpi {config.server}"
        self.reconnected = 0
        """How often a connection broke and another was made."""
        self._subtask = ""
        self._server: PolicyServer | None = None

    def reset(self, subtask: str) -> None:
        """A new subtask is a new connection, which is openpi's way to begin an episode."""
        self.close()
        self._subtask = subtask

    def act(self, senses: Senses) -> Floats:
        """Raises `PolicyServerError` when the server is down after all attempts or reports an exception, and
        `MotionFailure` for an answer that is no chunk of actions."""
        tool, request = self._request(senses)
        return _steps(self._ask(request), tool, self._config.actions)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _request(self, senses: Senses) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """The tool's pose as position and rotation vector, (6,), and what is sent."""
        import numpy as np

        from methods.executors.motion import turn

        cameras = self._config.pictures
        seen = senses.observation(tuple(dict.fromkeys(cameras.values())))
        tool = np.concatenate([seen["tool"][:3], turn(np.array([1.0, 0, 0, 0]), seen["tool"][3:])])
        state = np.concatenate([tool, seen["gripper"]]).astype(np.float32)
        pictures = {key: padded(seen[f"rgb_{camera}"], PIXELS) for key, camera in cameras.items()}
        return tool, {**pictures, self._config.state: state}

    def _ask(self, request: dict[str, NDArray[Any]]) -> Any:
        from methods.policy_server import PolicyServer

        for attempt in range(self._config.attempts):
            if attempt:
                time.sleep(self._config.pause * 2 ** (attempt - 1))
                self.reconnected += 1
            try:
                if self._server is None:
                    self._server = PolicyServer(self._config.server, self._config.timeout)
                    self._server.reset(self._subtask)
                return self._server.act(request)
            except PolicyServerError as error:
                self.close()
                if attempt + 1 == self._config.attempts:
                    times = f"{attempt + 1} times" if attempt else "once"
                    said = str(error).replace("method.", "executor.")
                    raise PolicyServerError(f"{said} (tried {times})") from error
        raise AssertionError("there is at least one attempt")


def padded(image: Image, pixels: int) -> Image:
    """(pixels, pixels, 3) uint8: the picture scaled to fit, in its middle, black around it."""
    import numpy as np
    from PIL import Image as Pictures

    height, width = image.shape[:2]
    if (height, width) == (pixels, pixels):
        return image
    scale = pixels / max(height, width)
    size = max(1, int(width * scale)), max(1, int(height * scale))
    scaled = np.asarray(Pictures.fromarray(image).resize(size, Pictures.Resampling.BILINEAR))
    result = np.zeros((pixels, pixels, 3), np.uint8)
    top, left = (pixels - size[1]) // 2, (pixels - size[0]) // 2
    result[top : top + size[1], left : left + size[0]] = scaled
    return result


def _steps(answer: Any, tool: Floats, kind: str) -> Floats:
    """The small actions that lead along a chunk of poses from where the tool is; `tool` (6,) as the server was told."""
    import numpy as np

    from methods.executors.motion import from_vector, turn

    try:
        chunk: np.ndarray[Any, Any] = np.array(answer.get("actions"), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MotionFailure(f"the policy server's actions are not made of numbers: {error}") from None
    if chunk.ndim != 2 or chunk.shape[1] != 7 or not len(chunk):
        raise MotionFailure(f"the policy server's actions are a chunk (N, 7), not {chunk.shape}")
    if not np.isfinite(chunk).all():
        raise MotionFailure("the policy server's actions are not all finite")
    poses = chunk[:, :6] + tool if kind == "relative" else chunk[:, :6]
    at, facing, steps = tool[:3], from_vector(tool[3:]), []
    for pose, opening in zip(poses, chunk[:, 6], strict=True):
        after = from_vector(pose[3:])
        steps.append([*(pose[:3] - at), *turn(facing, after), 1.0 if opening > 0.5 else -1.0])
        at, facing = pose[:3], after
    return np.array(steps)
