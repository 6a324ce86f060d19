"""What goes between a run and the arm's server: lines of JSON, a question and its answer each. After the server's greeting,

    {"do": "take", "limits": {...}}       drive the arm, within limits; it stays where it is
    {"do": "state"}
    {"do": "step", "position": [...], "quaternion": [...], "open": true}      one control step; answered when it is over
    {"do": "home", "open": true}                                              one control step on the way home
    {"do": "resume"}                      after a stop

are answered with the arm's state, or with {"error": ...}. The line `stop` alone, from anybody, is answered with `Stopped`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

from envs.widowx.guard import Limits, State

GREETING = "engram widowx 1"


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def decode(line: str) -> dict[str, Any]:
    """Raises `ValueError` for what is no message."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError(f"a message is an object, not {message!r:.60}")
    return message


def told(state: State) -> dict[str, Any]:
    """A state as a message."""
    return {
        "position": state.position.tolist(),
        "quaternion": state.quaternion.tolist(),
        "joints": state.joints.tolist(),
        "opening": state.opening,
        "goal": [*state.goal[0].tolist(), *state.goal[1].tolist()],
        "held": state.held,
        "at_home": state.at_home,
        "stopped": state.stopped,
    }


def heard(message: dict[str, Any]) -> State:
    """The state of a message. Raises `ValueError`."""
    try:
        goal = np.array(message["goal"], dtype=np.float64)
        return State(
            np.array(message["position"], dtype=np.float64),
            np.array(message["quaternion"], dtype=np.float64),
            np.array(message["joints"], dtype=np.float64),
            float(message["opening"]),
            (goal[:3], goal[3:]),
            str(message["held"]),
            bool(message["at_home"]),
            bool(message["stopped"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no state: {error!r}") from None


def limits_told(limits: Limits) -> dict[str, Any]:
    return dataclasses.asdict(limits)


def limits_heard(message: Any) -> Limits:
    """Raises `ValueError`."""
    try:
        lower, upper = (tuple(map(float, corner)) for corner in message["workspace"])
        assert len(lower) == len(upper) == 3
        return Limits((lower, upper), *(float(message[name]) for name in ("speed", "turn", "joint_speed")))
    except (AssertionError, KeyError, TypeError) as error:
        raise ValueError(f"no limits: {message!r}") from error
