"""What keeps RLBench from running on this machine: packages, variables, libraries, the display.

Without a display, or with a wrong variable, CoppeliaSim aborts in native code, which no `except` catches. So it is first
started in a child process (`python -m envs.rlbench.preflight`), which may die of it and whose last words are read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from envs.rlbench import package
from harness.protocols import Problem

ROOT = "COPPELIASIM_ROOT"
LIBRARIES = "LD_LIBRARY_PATH"
PLUGINS = "QT_QPA_PLATFORM_PLUGIN_PATH"
PLATFORM = "QT_QPA_PLATFORM"
DISPLAY = "DISPLAY"
LIBRARY = "libcoppeliaSim.so"
PATIENCE = 180.0
"""Seconds that the child may take to start the simulator and look through a camera."""
STARTED = "the simulator started and a camera saw the scene"

_GET_SIMULATOR = (
    f"Unpack CoppeliaSim 4.1.0 (coppeliarobotics.com/previousVersions) and export {ROOT}=its folder"
)
_INSTALL = (
    "pip install git+https://github.com/stepjam/PyRep git+https://github.com/stepjam/RLBench gymnasium, "
    f"with {ROOT} set (the package pyrep on PyPI is another one)"
)
_START_DISPLAY = "Run it under `xvfb-run -a`, or start `Xvfb :99` and export DISPLAY=:99"
_LAST_WORDS = 6


def problems() -> list[Problem]:
    """Everything that is missing; where nothing seems to be, what a trial start says."""
    found = [*_packages(), *_variables()]
    if not found:
        settings = tuple(os.environ.get(name, "") for name in (ROOT, LIBRARIES, PLUGINS, PLATFORM, DISPLAY))
        found = list(_trial_start(settings))
    return found


def _packages() -> list[Problem]:
    found = []
    pyrep = package.folder("pyrep")
    if pyrep is None:
        found.append(Problem("the package PyRep is not installed", _INSTALL))
    elif not (pyrep / "pyrep.py").is_file():
        what = f"the package pyrep in {pyrep} is not CoppeliaSim's PyRep but PyPI's, which is another one"
        found.append(Problem(what, f"pip uninstall pyrep, then {_INSTALL}"))
    if package.folder() is None:
        found.append(Problem("the package RLBench is not installed", _INSTALL))
    return found


def _variables() -> list[Problem]:
    root = os.environ.get(ROOT, "")
    if not root:
        return [Problem(f"{ROOT} is not set", _GET_SIMULATOR), *_display()]
    if not (Path(root) / LIBRARY).exists():
        return [Problem(f"{ROOT} is {root}, where there is no {LIBRARY}", _GET_SIMULATOR), *_display()]
    found = []
    searched = {Path(entry).resolve() for entry in os.environ.get(LIBRARIES, "").split(":") if entry}
    if Path(root).resolve() not in searched:
        fix = f"export {LIBRARIES}=${LIBRARIES}:${ROOT} before Python starts"
        found.append(Problem(f"{LIBRARIES} does not name {root}", fix))
    plugins = os.environ.get(PLUGINS, "")
    if not plugins:
        found.append(Problem(f"{PLUGINS} is not set", f"export {PLUGINS}=${ROOT}"))
    elif not Path(plugins).is_dir():
        found.append(Problem(f"{PLUGINS} is {plugins}, which is no folder", f"export {PLUGINS}=${ROOT}"))
    elif "cv2" in Path(plugins).parts:
        fix = f"pip install opencv-python-headless in place of opencv-python, and export {PLUGINS}=${ROOT}"
        found.append(Problem(f"{PLUGINS} names the Qt of OpenCV, {plugins}", fix))
    return [*found, *_display()]


def _display() -> list[Problem]:
    if os.environ.get(PLATFORM, "") == "offscreen":
        what = f"{PLATFORM} is offscreen, with which CoppeliaSim dies as soon as a camera is read"
        return [Problem(what, f"unset {PLATFORM}. {_START_DISPLAY}")]
    if not os.environ.get(DISPLAY):
        return [Problem(f"{DISPLAY} is not set, and cameras need an X display", _START_DISPLAY)]
    return []


@cache
def _trial_start(settings: tuple[str, ...]) -> tuple[Problem, ...]:
    """Start the simulator in a child process; once for the `settings` of this process."""
    command = [sys.executable, "-m", "envs.rlbench.preflight"]
    project = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([project, *filter(None, sys.path)])}
    try:
        child = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except subprocess.TimeoutExpired as late:
        said = late.stderr if isinstance(late.stderr, str) else (late.stderr or b"").decode(errors="replace")
        what = f"CoppeliaSim did not start within {PATIENCE:.0f} s{_quoted(said)}"
        return (Problem(what, f"See whether the display answers (`xdpyinfo`). {_START_DISPLAY}"),)
    if child.returncode == 0 and STARTED in child.stdout:
        return ()
    return (_diagnosis(child.returncode, f"{child.stdout}\n{child.stderr}"),)


def _diagnosis(status: int, said: str) -> Problem:
    """What a child that died was missing, from its exit status and its last words."""
    library = re.search(r"([\w./+-]+\.so[.\d]*): cannot open shared object file", said)
    if library:
        return Problem(
            f"the library {library[1]} is not found",
            f"If CoppeliaSim has it, export {LIBRARIES}=${LIBRARIES}:${ROOT}; else install the package that does",
        )
    if re.search(r"could not connect to display|cannot open display", said, re.IGNORECASE):
        return Problem(
            f"the X display {DISPLAY}={os.environ.get(DISPLAY, '')} does not answer", _START_DISPLAY
        )
    if re.search(r"platform plugin", said, re.IGNORECASE):
        return Problem(
            f"Qt finds no plugin for the display with {PLUGINS}={os.environ.get(PLUGINS, '')}{_quoted(said)}",
            f"export {PLUGINS}=${ROOT}, and install libxcb's libraries",
        )
    module = re.search(r"No module named '([\w.]+)'", said)
    if module:
        return Problem(f"the module {module[1]} is not installed", f"pip install {module[1].split('.')[0]}")
    ended = f"died of signal {-status}" if status < 0 else f"ended with status {status}"
    fix = f"See `{Path(sys.executable).name} -m envs.rlbench.preflight`, and the variables in docs/rlbench.md"
    return Problem(f"CoppeliaSim {ended} when it was started on trial{_quoted(said)}", fix)


def _quoted(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f". It said: {' / '.join(lines[-_LAST_WORDS:])}" if lines else ""


def main() -> int:
    """The child: start RLBench's scene, look through a camera, end."""
    from envs.rlbench.simulator import Simulator

    simulator = Simulator()
    try:
        simulator.look_around()
    finally:
        simulator.close()
    print(STARTED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
