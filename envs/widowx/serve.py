"""The arm's server, a process on the robot's computer: `python -m envs.widowx.serve`. It holds the arm, keeps the limits that
it is started with, and is told one control step at a time (`envs.widowx.wire`) by the one client that drives.

Whoever can reach its port can move the arm: it listens at this machine alone unless `--host` says otherwise."""

from __future__ import annotations

import argparse
import logging
import socket
import socketserver
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from envs.commands import checked_pose
from envs.robots import maker
from envs.widowx import PORT, wire
from envs.widowx.arms import Arm
from envs.widowx.guard import LIMITS, PERIOD, Guard, Limits, State, Stopped
from harness.failures import HarnessError, MotionFailure
from harness.protocols import Pose

_log = logging.getLogger("envs.widowx")


class Server:
    """Answers from the start, in threads of its own. `close` it. Raises `OSError` when the port is taken."""

    def __init__(self, arm: Arm, limits: Limits, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.guard = Guard(arm, limits)
        self._arm = arm
        self._driver: object | None = None
        self._lock = threading.Lock()
        answer = self._answer

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with suppress(ConnectionError):
                    answer(self)

        self._server = _Threading((host, port), Handler)
        self.address = host, int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._arm.close()

    def _answer(self, client: socketserver.StreamRequestHandler) -> None:
        client.wfile.write(f"{wire.GREETING} {self._arm.name}\n".encode())
        try:
            for line in client.rfile:
                if line.strip().lower() == b"stop":
                    self._stop()
                    client.wfile.write(b"Stopped\n")
                else:
                    client.wfile.write(wire.encode(self._done(client, line.decode(errors="replace"))))
        finally:
            with self._lock:
                if self._driver is client:
                    self._driver = None
                    _log.info("the client has gone; the arm stands")

    def _stop(self) -> None:
        _log.info("stopped")
        try:
            self.guard.stop()
        except HarnessError as error:
            # No command is taken any more, whether the arm has heard or not.
            _log.warning("the arm did not take the stop: %s", error)

    def _done(self, client: object, line: str) -> dict[str, Any]:
        try:
            message = wire.decode(line)
            if message.get("do") == "take":
                self._take(client, wire.limits_heard(message.get("limits")))
            elif message.get("do") != "state" and self._driver is not client:
                return {"error": "this connection does not drive the arm: take it first"}
            return {"period": PERIOD, "rest": self._rest(), **wire.told(self._state(message))}
        except Stopped:
            return wire.told(self.guard.state())
        except (HarnessError, MotionFailure, ValueError) as error:
            return {"error": str(error)}

    def _take(self, client: object, limits: Limits) -> None:
        with self._lock:
            if self._driver not in (None, client):
                raise ValueError("another client drives the arm")
            self.guard.take(limits)
            self._driver = client

    def _state(self, message: dict[str, Any]) -> State:
        """Does what a message says."""
        guard, what = self.guard, message.get("do")
        if what == "step":
            try:
                pose = checked_pose(Pose(np.array(message["position"]), np.array(message["quaternion"])))
                return guard.step(pose.position, pose.quaternion, bool(message["open"]))
            except KeyError as error:
                raise ValueError(f"a step has no {error}") from None
        if what == "home":
            return guard.step_home(bool(message.get("open")))
        if what == "resume":
            guard.resume()
        elif what not in ("take", "state"):
            raise ValueError(f"what is {what!r}? It can be take, state, step, home or resume")
        return guard.state()

    def _rest(self) -> list[float]:
        return [*self.guard.rest[0].tolist(), *self.guard.rest[1].tolist()]


class _Threading(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


def main(arguments: Sequence[str] | None = None) -> int:
    (lower, upper) = LIMITS.workspace
    parser = argparse.ArgumentParser(prog="python -m envs.widowx.serve", description="The WidowX' server.")
    parser.add_argument(
        "--arm", default="envs.widowx.interbotix.Interbotix", help="what makes an arm, a Python path"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address at which it listens")
    parser.add_argument("--port", type=int, default=PORT)
    corners = "corners of what the tool's point may reach, metres: x y z of the lower and of the upper one"
    parser.add_argument(
        "--workspace", type=float, nargs=6, default=[*lower, *upper], metavar="M", help=corners
    )
    parser.add_argument("--speed", type=float, default=LIMITS.speed, help="of the tool, metres per second")
    parser.add_argument("--turn", type=float, default=LIMITS.turn, help="of the tool, radians per second")
    parser.add_argument("--joint-speed", type=float, default=LIMITS.joint_speed, help="radians per second")
    options = parser.parse_args(arguments)
    corner = tuple(options.workspace)
    limits = Limits((corner[:3], corner[3:]), options.speed, options.turn, options.joint_speed)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        arm = maker(options.arm)()
        try:
            server = Server(arm, limits, options.host, options.port)
        except BaseException:
            arm.close()
            raise
    except (HarnessError, ImportError, OSError, OverflowError) as error:
        print(
            f"{options.arm} cannot be served at {options.host}, port {options.port}: {error}. Another arm: --arm; another "
            "address: --host, --port (0 for any port that is free)."
        )
        return 1
    _log.info("%s at %s:%d, within %s", options.arm, *server.address, limits)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    server.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
