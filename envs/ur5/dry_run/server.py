"""What a dry run answers at: the ports of a UR5's controller and of Robotiq's URCap on one loopback address, around one
twin that goes on in time. ur_rtde knows no other ports than the controller's own, so the address is what is free."""

from __future__ import annotations

import logging
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from envs.ur5.dry_run.controller import PERIOD, Controller, Program
from envs.ur5.dry_run.gripper import Gripper
from envs.ur5.dry_run.rtde import CONTROLLER, Client
from envs.ur5.dry_run.twin import Twin

RTDE, SCRIPTS, DASHBOARD, GRIPPER = 30004, 30003, 29999, 63352
ADDRESSES = tuple(f"127.0.0.{last}" for last in range(1, 33))
_LATE = 0.1
"""Seconds by which the twin may be behind before it gives up to catch up."""
_log = logging.getLogger("envs.ur5.dry_run")


class Server:
    """Raises `OSError` when there is no address with these ports free. It answers from the start, and moves while `run`
    runs."""

    def __init__(self, pace: float, addresses: Sequence[str] = ADDRESSES) -> None:
        """`pace`: how many times as fast as a real one the robot's time goes."""
        self.twin = Twin()
        self.controller = Controller(self.twin)
        self._gripper = Gripper(self.twin)
        self._pace = pace
        self._clients: list[Client] = []
        self._lock = threading.Lock()
        self._silent = threading.Event()
        self.address, self._listening = self._listen(addresses)

    def _listen(self, addresses: Sequence[str]) -> tuple[str, list[_Listener]]:
        """At the first address where all ports are free."""
        served = {
            RTDE: self._serve_rtde,
            SCRIPTS: self._serve_scripts,
            DASHBOARD: self._serve_dashboard,
            GRIPPER: self._serve_gripper,
        }
        for address in addresses:
            opened: list[_Listener] = []
            try:
                for port, serve in served.items():
                    opened.append(_Listener((address, port), serve))
            except OSError:
                for listener in opened:
                    listener.close()
                continue
            return address, opened
        taken = f"one of the ports {', '.join(map(str, served))}"
        raise OSError(f"{taken} is taken at each of {addresses[0]} to {addresses[-1]}")

    def run(self, ended: threading.Event) -> None:
        """Cycle by cycle, until that is set."""
        due = time.monotonic()
        while not ended.is_set():
            self._gripper.cycle(PERIOD)
            values = self.controller.cycle()
            for client in () if self._silent.is_set() else self._known():
                try:
                    client.publish(values)
                except OSError as reason:
                    self._drop(client, reason)
            due += PERIOD / self._pace
            left = due - time.monotonic()
            if left < -_LATE:
                due -= left
            time.sleep(max(0.0, left))

    def unplug(self) -> None:
        """Cut RTDE's connections and take no new ones, as when the cable is pulled."""
        self._listening[0].close()
        for client in self._known():
            self._drop(client, None)

    def close(self) -> None:
        for listener in self._listening:
            listener.close()
        for client in self._known():
            self._drop(client, None)

    def _known(self) -> list[Client]:
        with self._lock:
            return list(self._clients)

    def _drop(self, client: Client, reason: Exception | None) -> None:
        if reason is not None:
            _log.info("a client of RTDE has gone: %s", reason)
        with self._lock, suppress(ValueError):
            self._clients.remove(client)
        client.close()

    def _serve_rtde(self, connection: socket.socket) -> None:
        client = Client(connection, self.controller.take)
        with self._lock:
            self._clients.append(client)
        reason: Exception | None = None
        try:
            client.serve()
        except ConnectionError:
            pass
        except (ValueError, struct.error, OSError) as error:
            reason = error
        self._drop(client, reason)

    def _serve_scripts(self, connection: socket.socket) -> None:
        script = b""
        while piece := connection.recv(65536):
            script += piece
            # Functions inside are indented; the end of the program is not.
            while (end := script.find(b"\nend\n")) >= 0:
                self.controller.play(script[:end].decode(errors="replace"))
                script = script[end + 5 :]

    def _serve_dashboard(self, connection: socket.socket) -> None:
        with _lines(connection, "Connected: Universal Robots Dashboard Server\n") as lines:
            for line in lines:
                connection.sendall(f"{self._dashboard(line)}\n".encode())

    def _dashboard(self, line: str) -> str:
        """The answer to a line."""
        controller, asked = self.controller, line.strip().lower()
        version = ".".join(map(str, CONTROLLER))
        told = {
            "polyscopeversion": f"{version} (dry run)",
            "programstate": f"{controller.program.name} rtde_control",
            "running": f"Program running: {str(controller.program is Program.PLAYING).lower()}",
            "safetymode": f"Safetymode: {controller.safety}",
            "robotmode": "Robotmode: RUNNING",
            "close safety popup": "closing safety popup",
        }
        does: dict[str, tuple[Callable[[], None], str]] = {
            "stop": (controller.stop_program, "Stopped"),
            "unlock protective stop": (controller.unlock, "Protective stop releasing"),
            # The rest is no real server's: what hands do at a real robot.
            "pendant press": (lambda: controller.press_emergency_stop(True), "pressed"),
            "pendant release": (lambda: controller.press_emergency_stop(False), "released"),
            "pendant collide": (lambda: controller.stop_itself("as the pendant said"), "stopped itself"),
            "pendant unplug": (self.unplug, "unplugged"),
            "pendant silence": (self._silent.set, "silent"),
        }
        if asked in does:
            act, answer = does[asked]
            act()
            return answer
        return told.get(asked, f"could not understand: {line.strip()!r}")

    def _serve_gripper(self, connection: socket.socket) -> None:
        with _lines(connection) as lines:
            for line in lines:
                if line.strip():
                    connection.sendall(self._gripper.answer(line).encode())


@contextmanager
def _lines(connection: socket.socket, greeting: str = "") -> Iterator[Iterator[str]]:
    connection.sendall(greeting.encode())
    with connection.makefile("r", encoding="utf-8", errors="replace") as lines, suppress(ConnectionError):
        yield lines


class _Listener:
    """Serves one port, each connection in a thread of its own."""

    def __init__(self, place: tuple[str, int], serve: Callable[[socket.socket], None]) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with suppress(ConnectionError):
                    serve(self.request)

        self._server = _Threading(place, Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Threading(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True
