"""Breaks the fake on request."""

from __future__ import annotations

import os
import sys
import time

placements = 0
"""How many resets fail to place the task."""
shifts = 0
"""How many resets find their first placement out of reach and draw a second one."""
dies_after = -1
"""Steps after which the simulator is gone; -1: never."""
blocked = False
"""Whether the arm stops half-way."""
jammed = False
"""Whether the fingers do not open."""
not_finite = False
bad_shutdown = False


def tick() -> None:
    global dies_after
    if dies_after == 0:
        raise RuntimeError("The call failed on the V-REP side. Return value: -1")
    dies_after -= dies_after > 0


def heal() -> None:
    global placements, shifts, dies_after, blocked, jammed, not_finite, bad_shutdown
    placements = shifts = 0
    dies_after = -1
    blocked = jammed = not_finite = bad_shutdown = False


def at_launch() -> None:
    """What FAKE_LAUNCH asks for, as CoppeliaSim does it: by dying."""
    how = os.environ.get("FAKE_LAUNCH", "")
    if how == "library":
        raise ImportError("libavcodec.so.57: cannot open shared object file: No such file or directory")
    if how == "hang":
        time.sleep(60)
    words = {
        "display": "qt.qpa.screen: QXcbConnection: Could not connect to display :7",
        "plugin": 'This application failed to start because no Qt platform plugin "xcb" could be initialized.',
        "quietly": "",
    }
    if how in words:
        print(words[how], file=sys.stderr, flush=True)
        os.abort()
