"""Server and client over loopback: who drives, what is no message, who stops."""

import json
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from envs.robots import stop
from envs.widowx import serve, wire
from envs.widowx.client import RemoteArm
from envs.widowx.guard import LIMITS, Limits
from harness.failures import HarnessError, SimulatorError
from tests.envs.widowx import stub


@pytest.fixture
def remote(server):
    remote = RemoteArm(*server.address, LIMITS)
    yield remote
    remote.close()


class Line:
    """A connection that says what it likes."""

    def __init__(self, server):
        self.socket = socket.create_connection(server.address, timeout=10)
        self.lines = self.socket.makefile("r")
        self.greeting = self.lines.readline().strip()

    def ask(self, line):
        self.socket.sendall(f"{line}\n".encode())
        return self.lines.readline().strip()

    def close(self):
        self.lines.close()
        self.socket.close()


def test_poses_go_over_the_wire_to_the_bit(remote, server, arm):
    state = remote.state()
    assert (state.joints == arm.at).all()
    assert (state.position == server.guard.state().position).all()
    assert remote.name == "stub"
    assert remote.period == 0.1
    assert (remote.rest.position == server.guard.rest[0]).all()
    moved = remote.step(state.goal[0] + np.array([0.01, 0.0, 0.0]), state.goal[1], False)
    assert moved.position[0] - state.position[0] == pytest.approx(0.01, abs=1e-3)
    assert (moved.opening, moved.held, moved.stopped) == (0.0, "", False)


def test_one_client_drives_and_the_next_one_may_when_it_has_gone(remote, server, arm):
    with pytest.raises(SimulatorError, match="another client drives the arm"):
        RemoteArm(*server.address, LIMITS)
    other = Line(server)
    assert other.greeting == "engram widowx 1 stub"
    assert "does not drive" in other.ask('{"do": "home", "open": true}')
    assert json.loads(other.ask('{"do": "state"}'))["at_home"] is True
    assert arm.log == []
    remote.close()
    # Its going is noticed in a thread of its own.
    for _ in range(1000):
        if "error" not in (
            answer := other.ask(
                wire.encode({"do": "take", "limits": wire.limits_told(LIMITS)}).decode().strip()
            )
        ):
            break
    assert "error" not in answer
    other.close()


def test_a_client_that_dies_leaves_an_arm_that_stands(server, arm):
    remote = RemoteArm(*server.address, LIMITS)
    far = np.array([0.40, 0.2, 0.1])
    remote.step(far, remote.rest.quaternion, True)
    remote._socket.shutdown(socket.SHUT_RDWR)
    remote.close()
    again = None
    while again is None:
        try:
            again = RemoteArm(*server.address, LIMITS)
        except SimulatorError as error:
            assert "another client" in str(error)
    assert len(arm.commands) == 1
    again.close()


def test_limits_wider_than_the_servers_are_said(server):
    with pytest.raises(SimulatorError, match=r"turn 2\.0 \(at most 1\.2\)"):
        RemoteArm(*server.address, Limits(LIMITS.workspace, 0.2, 2.0, 2.0))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("hello", "Expecting value"),
        ("[1]", "a message is an object"),
        ('{"do": "dance"}', "what is 'dance'"),
        ('{"do": "step", "position": [0, 0, 0]}', "a step has no 'quaternion'"),
        ('{"do": "step", "position": [0, 0], "quaternion": [1, 0, 0, 0], "open": true}', "a pose is"),
        ('{"do": "step", "position": [0, 0, NaN], "quaternion": [1, 0, 0, 0], "open": true}', "not finite"),
        ('{"do": "step", "position": ["x", 0, 0], "quaternion": [1, 0, 0, 0], "open": true}', "numbers"),
        ('{"do": "take", "limits": {"speed": 1}}', "no limits"),
    ],
)
def test_what_is_no_message_is_answered_and_moves_nothing(server, arm, line, what):
    client = Line(server)
    client.ask(wire.encode({"do": "take", "limits": wire.limits_told(LIMITS)}).decode().strip())
    assert what in json.loads(client.ask(line))["error"]
    assert arm.log == []
    client.close()


def test_anybody_stops(remote, server, arm):
    stop.tell(*server.address)
    assert arm.log == ["halt"]
    assert remote.step(*remote.state().goal, True).stopped
    assert remote.step_home(True).stopped
    assert arm.commands == []
    assert not remote.resume().stopped


def test_a_stop_holds_where_the_arm_does_not_hear_it(remote, server, arm):
    def deaf():
        raise SimulatorError("the stub is deaf")

    arm.halt = deaf
    stop.tell(*server.address)
    assert remote.step_home(True).stopped


def test_a_lost_arm_is_one_clear_error(remote, arm):
    arm.lost = True
    with pytest.raises(HarnessError, match="the stub tells its joints no more"):
        remote.step_home(True)


def test_a_server_that_is_not_there_or_goes_is_one_clear_error(server):
    remote = RemoteArm(*server.address, LIMITS)
    server._server.shutdown()
    server._server.server_close()
    remote._socket.shutdown(socket.SHUT_RDWR)
    with pytest.raises(SimulatorError, match=r"has closed the connection|has gone"):
        remote.state()
    remote.close()
    with pytest.raises(SimulatorError, match=r"cannot be reached.*envs\.widowx\.serve"):
        RemoteArm(*server.address, LIMITS)


def test_something_else_at_the_port_is_said():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet():
            connection, _ = listener.accept()
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\n")
            connection.close()

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(SimulatorError, match=r"greets with 'SSH-2\.0"):
            RemoteArm(*listener.getsockname(), LIMITS)
        thread.join()


def test_the_command_serves_an_arm_with_its_own_limits(tmp_path):
    command = (
        *(sys.executable, "-m", "envs.widowx.serve", "--port", "0", "--speed", "0.1"),
        *("--arm", "tests.envs.widowx.stub.Arm", "--workspace", "0.1", "-0.2", "0.05", "0.4", "0.2", "0.3"),
    )
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        port = int(said.split("127.0.0.1:")[1].split(",")[0])
        narrow = Limits(((0.1, -0.2, 0.05), (0.4, 0.2, 0.3)), 0.1, 1.2, 2.0)
        with pytest.raises(SimulatorError, match=r"speed 0\.2"):
            RemoteArm("127.0.0.1", port, LIMITS)
        for _ in range(1000):
            try:
                remote = RemoteArm("127.0.0.1", port, narrow)
                break
            except SimulatorError as error:
                assert "another client" in str(error)
        assert remote.state().at_home
        remote.close()
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--arm", "no.such.Arm"], "No module named"),
        (["--arm", "envs.widowx.interbotix.Interbotix"], "interbotix"),
    ],
)
def test_an_arm_that_cannot_be_served_is_said(capsys, arguments, what):
    assert serve.main(arguments) == 1
    assert what in capsys.readouterr().out


@pytest.mark.parametrize("beyond", [0, 1 << 16])
def test_a_port_that_is_taken_or_none_is_told_and_the_arm_let_go(capsys, monkeypatch, beyond):
    made = []
    monkeypatch.setattr(serve, "maker", lambda path: lambda: made.append(stub.Arm()) or made[0])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1] + beyond)
        assert serve.main(["--port", port]) == 1
    said = capsys.readouterr().out
    assert f"cannot be served at 127.0.0.1, port {port}: " in said
    assert "Another arm: --arm; another address: --host, --port" in said
    assert made[0].closed
