"""RTDE's bytes, by the protocol's own description: a header of a size and a letter, and big-endian numbers."""

import socket
import struct
import threading

import pytest

from envs.ur5.dry_run.rtde import Client


class Wire:
    """The client's end of a connection, as raw bytes."""

    def __init__(self):
        self.taken = []
        self.raised = []
        self.end, theirs = socket.socketpair()
        self.end.settimeout(5)
        self.client = Client(theirs, self.taken.append)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        try:
            self.client.serve()
        except Exception as error:
            self.raised.append(error)

    def send(self, kind, data=b""):
        self.end.sendall(struct.pack(">HB", 3 + len(data), ord(kind)) + data)

    def receive(self):
        size, kind = struct.unpack(">HB", self._exactly(3))
        return chr(kind), self._exactly(size - 3)

    def ask(self, kind, data=b""):
        self.send(kind, data)
        answered, answer = self.receive()
        assert answered == kind
        return answer

    def start(self):
        """Packages are sent from now on: what comes after the answer to a start has been done when the next is given."""
        assert self.ask("S") == b"\x01"
        assert self.ask("V", b"\x00\x02") == b"\x01"

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            data += self.end.recv(count - len(data))
        return data

    def over(self):
        self.end.close()
        self.thread.join(5)
        return self.raised


@pytest.fixture
def wire():
    wire = Wire()
    yield wire
    wire.over()


def test_the_second_version_is_spoken_and_no_other(wire):
    assert wire.ask("V", b"\x00\x02") == b"\x01"
    assert wire.ask("V", b"\x00\x01") == b"\x00"
    assert struct.unpack(">4I", wire.ask("v"))[:2] == (3, 15)


def test_outputs_come_in_the_order_and_the_types_that_were_agreed_upon(wire):
    # ur_rtde ends its lists with a comma.
    names = b"timestamp,actual_q,runtime_state,output_int_register_2,"
    assert wire.ask("O", struct.pack(">d", 125.0) + names) == b"\x01DOUBLE,VECTOR6D,UINT32,INT32"
    wire.client.publish({"timestamp": 1.0})
    wire.start()
    values = {
        "timestamp": 0.5,
        "actual_q": [1, 2, 3, 4, 5, 6],
        "runtime_state": 2,
        "output_int_register_2": -7,
    }
    wire.client.publish(values)
    kind, data = wire.receive()
    assert (kind, data[0]) == ("U", 1)
    assert struct.unpack(">d6dIi", data[1:]) == (0.5, 1, 2, 3, 4, 5, 6, 2, -7)
    wire.client.publish({})
    assert struct.unpack(">d6dIi", wire.receive()[1][1:]) == (0,) * 9


def test_packages_come_as_often_as_was_asked(wire):
    wire.ask("O", struct.pack(">d", 25.0) + b"timestamp")
    wire.start()
    for cycle in range(11):
        wire.client.publish({"timestamp": float(cycle)})
    assert [struct.unpack(">d", wire.receive()[1][1:])[0] for _ in range(3)] == [0.0, 5.0, 10.0]
    assert wire.ask("P") == b"\x01"
    wire.client.publish({})
    assert wire.ask("V", b"\x00\x02") == b"\x01"


@pytest.mark.parametrize("names", [b"actual_q,no_such_thing", b"output_int_register_48"])
def test_an_output_that_is_not_known_is_said_and_nothing_starts(wire, names):
    answer = wire.ask("O", struct.pack(">d", 125.0) + names)
    assert answer[0] == 0
    assert answer.endswith(b"NOT_FOUND")
    assert wire.ask("S") == b"\x00"


def test_inputs_are_taken_by_their_recipes(wire):
    assert wire.ask("I", b"input_int_register_0,input_double_register_3") == b"\x01INT32,DOUBLE"
    assert wire.ask("I", b"input_int_register_99")[0] == 0
    assert wire.ask("I", b"input_int_register_0,external_force_torque") == b"\x02INT32,VECTOR6D"
    wire.send("U", b"\x01" + struct.pack(">id", 3, 0.25))
    wire.send("U", b"\x02" + struct.pack(">i6d", -1, *range(6)))
    wire.ask("V", b"\x00\x02")
    assert wire.taken == [
        {"input_int_register_0": 3, "input_double_register_3": 0.25},
        {"input_int_register_0": -1, "external_force_torque": [0, 1, 2, 3, 4, 5]},
    ]


@pytest.mark.parametrize(
    ("package", "error"),
    [
        (("U", b"\x05abcd"), ValueError),
        (("Q", b""), ValueError),
        (("O", b"short"), struct.error),
    ],
)
def test_what_is_no_rtde_ends_the_connection(wire, package, error):
    wire.send(*package)
    wire.thread.join(5)
    assert isinstance(wire.raised[0], error)


def test_a_client_that_goes_is_noticed(wire):
    wire.end.sendall(b"\x00\x08V")
    (gone,) = wire.over()
    assert isinstance(gone, ConnectionError)


def test_a_client_that_does_not_read_is_dropped_and_holds_nothing_up(wire):
    wire.ask("O", struct.pack(">d", 125.0) + b"actual_q,actual_qd,target_q,target_qd")
    wire.start()

    def publish():
        for _ in range(1_000_000):
            wire.client.publish({})

    with pytest.raises((ConnectionError, BlockingIOError)):
        publish()
