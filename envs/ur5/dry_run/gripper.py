"""A Robotiq gripper's socket, as its URCap opens it, on the fingers of a twin."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envs.ur5.dry_run.twin import Twin

_CLOSED = 255
_SLOWEST, _FASTEST = 0.010, 0.075
"""Of each finger at SPE 0 and at SPE 255, metres per second: half of what the 2F-85's data sheet has for both."""
_STILL = 0.0003
"""Fingers that moved less than this within `_LOOK` cycles stand, metres."""
_LOOK = 12
_MOVING, _STOPPED_OPENING, _STOPPED_CLOSING, _ARRIVED = range(4)
_NEAR = 4
"""Counts by which the fingers may be away from where they were sent and still be there."""


class Gripper:
    """`answer` from any thread, `cycle` from the controller's."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._lock = threading.Lock()
        self._values = {"ACT": 0, "GTO": 0, "STA": 0, "PRE": 0, "SPE": 255, "FOR": 0, "FLT": 0}
        self._object = _ARRIVED
        self._from = 0
        self._seen: deque[float] = deque(maxlen=_LOOK)

    def answer(self, line: str) -> str:
        """To one line of the URCap's: no line break after `ack`."""
        kind, *words = line.split()
        with self._lock:
            if kind == "GET" and len(words) == 1:
                found = {**self._values, "POS": self._position(), "OBJ": self._object}
                return f"{words[0]} {found[words[0]]}\n" if words[0] in found else "?"
            if kind != "SET" or len(words) % 2 or not all(word.isdigit() for word in words[1::2]):
                return "?"
            for name, value in zip(words[::2], map(int, words[1::2]), strict=True):
                self._set(name, value)
            return "ack"

    def cycle(self, period: float) -> None:
        """Lead the fingers on for `period` seconds."""
        twin = self._twin
        with self._lock:
            if self._object != _MOVING or not self._values["GTO"]:
                return
            wanted = self._travel(self._values["PRE"])
            reach = (_SLOWEST + (_FASTEST - _SLOWEST) * self._values["SPE"] / 255) * period
            twin.finger = min(max(wanted, twin.finger - reach), twin.finger + reach)
            self._seen.append(twin.fingers)
            stands = len(self._seen) == _LOOK and max(self._seen) - min(self._seen) < _STILL
            if twin.finger == wanted and stands:
                near = abs(self._position() - self._values["PRE"]) <= _NEAR
                stopped = _STOPPED_CLOSING if self._values["PRE"] > self._from else _STOPPED_OPENING
                self._object = _ARRIVED if near else stopped

    def _set(self, name: str, value: int) -> None:
        if name == "POS":
            self._from = self._position()
            self._values["PRE"], self._object = value, _MOVING
            # Led on from where the fingers are, so that what is held does not delay them.
            self._twin.finger = self._twin.fingers
            self._seen.clear()
            return
        self._values[name] = value
        if name == "ACT":
            self._values["STA"] = 3 if value else 0
        if name == "GTO" and not value:
            self._twin.finger = self._twin.fingers

    def _position(self) -> int:
        return round(_CLOSED * (1 - self._twin.fingers / self._twin.travel))

    def _travel(self, position: int) -> float:
        """Beyond the end for a gripper that is to close: with full force on what is thin."""
        if position >= _CLOSED:
            return self._twin.closed
        return self._twin.travel * (1 - position / _CLOSED)
