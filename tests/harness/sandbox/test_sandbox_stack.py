"""Programs that call the task API where the stack ends. Stopping and starting the clock need some of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
def f():
    try:
        look()
        f()
    except RecursionError:
        pass
f()
while True:
    pass
"""
SCRIPT = """
import sys, time
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from harness.failures import CodeFailure
from harness.sandbox import Limits, Sandbox, running
running.time = SimpleNamespace(monotonic=time.process_time)  # what others do on this machine is not the program's
hang_file = Path(sys.argv[3]) if len(sys.argv) > 3 else None
def run():
    sandbox = Sandbox(Limits(seconds=0.5, api_calls=10**6), hang_file)
    try:
        sandbox.compile(sys.argv[1], {"look": lambda: None}).run()
    except CodeFailure as failure:
        print(failure)
if sys.argv[2] == "thread":
    thread = Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""


@pytest.mark.parametrize("where", ["main", "thread", "hang file"])
def test_the_clock_goes_on_after_a_call_at_the_end_of_the_stack(where: str, tmp_path: Path) -> None:
    arguments = [PROGRAM, where, *([f"{tmp_path}/hang"] if where == "hang file" else [])]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], timeout=300, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() in (
        "line 9: ran longer than 0.5 s of its own time (`while True:`)",
        "line 10: ran longer than 0.5 s of its own time (`pass`)",
    ), done.stderr
