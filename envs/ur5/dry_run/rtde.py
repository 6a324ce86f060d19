"""The bytes of RTDE version 2, Universal Robots' Real-Time Data Exchange, on the controller's side: one client's recipes,
packed and unpacked. What the variables are worth is for `controller` to say."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

CONTROLLER = (3, 15, 8, 0)
"""The version that it says it is: a CB3's."""
RATE = 125.0
"""Data packages a second at most, as a CB3 sends them."""

_HEADER = struct.Struct(">HB")
_FORMATS = {
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "INT32": "i",
    "UINT32": "I",
    "UINT64": "Q",
    "UINT8": "B",
}
_OUTPUTS = {
    **dict.fromkeys(
        (
            *("target_q", "target_qd", "target_qdd", "target_current", "target_moment"),
            *("actual_q", "actual_qd", "actual_current", "joint_control_output", "joint_temperatures"),
            *("actual_TCP_pose", "actual_TCP_speed", "actual_TCP_force", "target_TCP_pose"),
            *("target_TCP_speed", "actual_joint_voltage", "payload_inertia"),
        ),
        "VECTOR6D",
    ),
    **dict.fromkeys(
        (
            *("timestamp", "actual_execution_time", "speed_scaling", "target_speed_fraction"),
            *("actual_momentum", "actual_main_voltage", "actual_robot_voltage", "actual_robot_current"),
            *("standard_analog_input0", "standard_analog_input1", "payload"),
            *("standard_analog_output0", "standard_analog_output1"),
        ),
        "DOUBLE",
    ),
    **dict.fromkeys(("actual_tool_accelerometer", "payload_cog"), "VECTOR3D"),
    **dict.fromkeys(("actual_digital_input_bits", "actual_digital_output_bits"), "UINT64"),
    **dict.fromkeys(("robot_mode", "safety_mode"), "INT32"),
    **dict.fromkeys(("runtime_state", "robot_status_bits", "safety_status_bits"), "UINT32"),
    "joint_mode": "VECTOR6INT32",
    **{f"output_int_register_{index}": "INT32" for index in range(48)},
    **{f"output_double_register_{index}": "DOUBLE" for index in range(48)},
}
_INPUTS = {
    **{f"input_int_register_{index}": "INT32" for index in range(48)},
    **{f"input_double_register_{index}": "DOUBLE" for index in range(48)},
    "external_force_torque": "VECTOR6D",
}


@dataclass(frozen=True)
class _Recipe:
    """Variables that travel together."""

    names: tuple[str, ...]
    types: tuple[str, ...]

    @cached_property
    def layout(self) -> struct.Struct:
        return struct.Struct(">" + "".join(_FORMATS[kind] for kind in self.types))

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """Variables that have no value are zero."""
        flat: list[float] = []
        for name, kind in zip(self.names, self.types, strict=True):
            count = int(_FORMATS[kind][:-1] or 1)
            value = values.get(name, [0] * count)
            flat.extend(value if isinstance(value, Sequence) else [value])
        return self.layout.pack(*flat)

    def unpack(self, data: bytes) -> dict[str, Any]:
        numbers, found = list(self.layout.unpack(data)), {}
        for name, kind in zip(self.names, self.types, strict=True):
            count = int(_FORMATS[kind][:-1] or 1)
            found[name] = numbers[0] if count == 1 else numbers[:count]
            del numbers[:count]
        return found


class Client:
    """One connection. Raises `ConnectionError` when it ends, and `ValueError` for what is no RTDE."""

    def __init__(self, connection: socket.socket, on_input: Callable[[Mapping[str, Any]], None]) -> None:
        self._connection, self._on_input = connection, on_input
        self._stream = connection.makefile("rb")
        self._inputs: list[_Recipe] = []
        self._output: _Recipe | None = None
        self._every = 1
        self._due = 0
        self._started = False

    def serve(self) -> None:
        """Answer until the client goes."""
        while True:
            size, kind = _HEADER.unpack(self._read(_HEADER.size))
            self._answer(chr(kind), self._read(size - _HEADER.size))

    def publish(self, values: Mapping[str, Any]) -> None:
        """A tick of the controller: sends a data package when one is due. A client that does not read is dropped."""
        if not self._started or self._output is None:
            return
        self._due -= 1
        if self._due <= 0:
            self._due = self._every
            self._send("U", b"\x01" + self._output.pack(values))

    def close(self) -> None:
        self._started = False
        with suppress(OSError):  # it has gone already
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _answer(self, kind: str, data: bytes) -> None:
        if kind == "V":
            self._send(kind, bytes([data == b"\x00\x02"]))
        elif kind == "v":
            self._send(kind, struct.pack(">4I", *CONTROLLER))
        elif kind == "O":
            (rate,) = struct.unpack(">d", data[:8])
            self._every = max(1, round(RATE / rate)) if rate > 0 else 1
            recipe = _recipe(data[8:], _OUTPUTS)
            self._output = recipe if _known(recipe) else None
            self._send(kind, bytes([self._output is not None]) + ",".join(recipe.types).encode())
        elif kind == "I":
            recipe = _recipe(data, _INPUTS)
            if _known(recipe):
                self._inputs.append(recipe)
            number = len(self._inputs) if _known(recipe) else 0
            self._send(kind, bytes([number]) + ",".join(recipe.types).encode())
        elif kind in "SP":
            self._send(kind, bytes([self._output is not None]))
            self._started = kind == "S" and self._output is not None
        elif kind == "U":
            number = data[0]
            if not 1 <= number <= len(self._inputs):
                raise ValueError(f"there is no input recipe {number}")
            self._on_input(self._inputs[number - 1].unpack(data[1:]))
        else:
            raise ValueError(f"no package of RTDE is of kind {kind!r}")

    def _read(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) < count:
            raise ConnectionError("the client has gone")
        return data

    def _send(self, kind: str, data: bytes) -> None:
        package = _HEADER.pack(_HEADER.size + len(data), ord(kind)) + data
        if self._connection.send(package, socket.MSG_DONTWAIT) < len(package):
            raise ConnectionError("the client does not read what it is sent")


def _recipe(names: bytes, known: Mapping[str, str]) -> _Recipe:
    asked = tuple(name for name in names.decode("ascii").split(",") if name)
    return _Recipe(asked, tuple(known.get(name, "NOT_FOUND") for name in asked))


def _known(recipe: _Recipe) -> bool:
    return "NOT_FOUND" not in recipe.types
