"""A UR5 that is not there: the surface of ur_rtde that the adapter touches, a Robotiq gripper and a dashboard server that
answer on loopback, a camera above a table with one red thing on it, an operator whose answers are known."""

# ruff: noqa: N802 (the names are those of ur_rtde)

from __future__ import annotations

import importlib.machinery
import socketserver
import threading
import types

import numpy as np

from envs.robots.camera import Shot

HOME = (-0.2762, -1.8069, 1.6896, -1.4535, -1.5708, -1.8470)
DOWN = (0.0, np.pi, 0.0)
"""Rotation vector of the tool pointing down, base frame."""
_STEPS = 6
"""How often one has to look until a motion has ended."""


class Arm:
    """The state that both interfaces share, as the robot's own frame has it. Motions go on each time that one asks
    whether they do."""

    def __init__(self):
        self.pose = np.array([-0.40, 0.0, 0.32, *DOWN])
        self.joints = np.array(HOME)
        self.log = []
        self.running = self.connected = True
        self.protected = self.emergency = False
        self.left = self.operation = self.words = 0
        self.during = lambda step: None
        """Called at each look while it moves."""
        self._target = None

    def start(self, kind, target, speed, acceleration):
        self.log.append((kind, tuple(target), speed, acceleration))
        self.operation += 1
        self._target, self._kind, self.left = np.array(target), kind, _STEPS

    def look(self):
        if self.left:
            self.during(_STEPS - self.left)
        if not self.left or self.protected or not self.running:
            return self.protected and bool(self.left)
        self.left -= 1
        part = 1 / (self.left + 1)
        if self._kind == "moveL":
            self.pose[:3] += part * (self._target[:3] - self.pose[:3])
            self.pose[3:] = self._target[3:]
        else:
            self.joints += part * (self._target - self.joints)
            if not self.left:
                self.pose = np.array([-0.40, 0.0, 0.32, *DOWN])
        return bool(self.left)

    def stop(self, *_):
        self.log.append(("stopL",))
        self.left = 0


SHARED = Arm()
"""The one of a process that takes this module for ur_rtde."""


def modules(arm):
    """Modules as `rtde_control` and `rtde_receive` are."""

    class Control:
        def __init__(self, host):
            if not arm.connected:
                raise RuntimeError("connection refused")

        def setTcp(self, offset):
            arm.log.append(("setTcp", tuple(offset)))
            return True

        def moveL(self, pose, speed, acceleration, asynchronous):
            assert asynchronous
            arm.start("moveL", pose, speed, acceleration)
            return True

        def moveJ(self, joints, speed, acceleration, asynchronous):
            assert asynchronous
            arm.start("moveJ", joints, speed, acceleration)
            return True

        def getAsyncOperationProgressEx(self):
            return types.SimpleNamespace(isAsyncOperationRunning=arm.look, operationId=lambda: arm.operation)

        def isPoseWithinSafetyLimits(self, pose):
            return np.linalg.norm(pose[:3]) < 0.85

        def stopL(self, deceleration):
            arm.stop()

        def isConnected(self):
            return arm.connected

        def isProgramRunning(self):
            return arm.running

        def reuploadScript(self):
            arm.log.append(("reuploadScript",))
            arm.running = True
            return True

        def stopScript(self):
            arm.log.append(("stopScript",))

        def disconnect(self):
            arm.log.append(("disconnect",))

    class Receive:
        def __init__(self, host):
            if not arm.connected:
                raise RuntimeError("connection refused")

        def getActualTCPPose(self):
            return arm.pose.tolist()

        def getActualQ(self):
            return arm.joints.tolist()

        def getTimestamp(self):
            arm.words += 1
            return arm.words

        def isConnected(self):
            return arm.connected

        def isProtectiveStopped(self):
            return arm.protected

        def isEmergencyStopped(self):
            return arm.emergency

        def disconnect(self):
            pass

    control, receive = types.ModuleType("rtde_control"), types.ModuleType("rtde_receive")
    control.RTDEControlInterface, receive.RTDEReceiveInterface = Control, Receive
    for module in (control, receive):
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
    return {"rtde_control": control, "rtde_receive": receive}


class Server(socketserver.ThreadingTCPServer):
    """Answers lines on a loopback port of its own while the `with` block lasts."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, answer, greeting=""):
        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(greeting.encode())
                for line in self.rfile:
                    self.wfile.write(answer(line.decode().strip()).encode())

        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Gripper:
    """As the URCap answers: no line break after `ack`."""

    def __init__(self, blocked_at=None):
        self.values = {"ACT": 0, "GTO": 0, "STA": 0, "POS": 0, "PRE": 0, "OBJ": 3, "SPE": 0, "FOR": 0}
        self.log = []
        self.blocked_at = blocked_at

    def answer(self, line):
        kind, *rest = line.split()
        if kind == "GET":
            if rest[0] == "OBJ" and self.values["OBJ"] == 0:
                self._arrive()
                return "OBJ 0"
            return f"{rest[0]} {self.values[rest[0]]}\n"
        self.log.append(line)
        for name, value in zip(rest[::2], map(int, rest[1::2]), strict=True):
            self.values[name] = value
            if name == "ACT":
                self.values["STA"] = 3 if value else 0
            if name == "POS":
                self.values |= {"PRE": value, "OBJ": 0}
        return "ack"

    def _arrive(self):
        blocked = self.blocked_at is not None
        self.values |= {"POS": self.blocked_at if blocked else self.values["PRE"], "OBJ": 2 if blocked else 3}


class Operator:
    """`answers` to what is asked in turn; then yes."""

    def __init__(self):
        self.asked = []
        self.answers = []

    def allows(self, what):
        self.asked.append(what)
        return self.answers.pop(0) if self.answers else True

    def judges(self, instruction):
        return self.allows(f"judge: {instruction}")

    def close(self):
        pass


EYE, FOCAL, WIDTH, HEIGHT = (0.45, 0.0, 1.0), 300.0, 160, 120
POSE = [*EYE, 0.0, np.sqrt(0.5), -np.sqrt(0.5), 0.0]
"""It looks down, its x axis along -y and its y axis along -x of the world."""
BOX = ((0.50, 0.10), 0.03, 0.05)
"""Middle, half side and height of the red thing."""


class Camera:
    """Above the table, without noise."""

    def shoot(self):
        columns, rows = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
        depth = np.full((HEIGHT, WIDTH), EYE[2])
        rgb = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)
        (x, y), half, height = BOX
        near = EYE[2] - height
        across = EYE[1] - (columns - WIDTH / 2) / FOCAL * near
        along = EYE[0] - (rows - HEIGHT / 2) / FOCAL * near
        top = (np.abs(along - x) < half) & (np.abs(across - y) < half)
        depth[top], rgb[top] = near, (200, 0, 0)
        depth[0, 0] = 0.0
        return Shot(rgb, depth, (FOCAL, FOCAL), (WIDTH / 2, HEIGHT / 2))

    def close(self):
        pass


class Detector:
    """Finds what is red by any name that says so."""

    def find(self, image, name):
        red = (image[..., 0] > 150) & (image[..., 1] < 50)
        return red if name.startswith("red") else np.zeros_like(red)
