"""A WidowX that is not there: an arm that is where it is told to be, cameras, an operator whose answers are known."""

from __future__ import annotations

import numpy as np

from envs.household.setting import SETTING
from envs.robots.camera import Shot
from harness.failures import SimulatorError


class Arm:
    name = "stub"

    def __init__(self):
        self.at = np.array(SETTING.home)
        self.wide = 1.0
        self.log = []
        self.lost = self.blocked = self.closed = False
        self.during = lambda step: None
        """Called while a control step passes, with how many have been commanded."""

    def joints(self):
        if self.lost:
            raise SimulatorError("the stub tells its joints no more")
        return self.at.copy()

    def opening(self):
        return self.wide

    def command(self, joints, open_fingers, seconds):
        self.log.append((joints.copy(), open_fingers, seconds))
        if not self.blocked:
            self.at, self.wide = joints.copy(), float(open_fingers)

    def halt(self):
        self.log.append("halt")

    def wait(self, seconds):
        self.during(len(self.commands))

    def close(self):
        self.closed = True

    @property
    def commands(self):
        return [entry for entry in self.log if entry != "halt"]


class Operator:
    """`answers` to what is asked in turn, then yes; `lines` are typed, a list a control step."""

    def __init__(self):
        self.asked, self.told = [], []
        self.answers, self.words, self.lines = [], [], []
        self.closed = False

    def allows(self, what):
        self.asked.append(what)
        return self.answers.pop(0) if self.answers else True

    def asks(self, question):
        self.asked.append(question)
        return self.words.pop(0) if self.words else ""

    def tells(self, text):
        self.told.append(text)

    def typed(self):
        return self.lines.pop(0) if self.lines else []

    def close(self):
        self.closed = True


class Camera:
    """Grey, and lighter with each picture."""

    def __init__(self, width="8"):
        self.width, self.shots, self.closed = int(width), 0, False

    def shoot(self):
        self.shots += 1
        return Shot(
            np.full((6, self.width, 3), self.shots, np.uint8), np.zeros((6, self.width)), (1, 1), (0, 0)
        )

    def close(self):
        self.closed = True
