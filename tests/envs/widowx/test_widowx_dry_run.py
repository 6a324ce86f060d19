"""A dry run: the real adapter, over loopback, against a process with the twin; and whole runs of the command."""

import os
import pty
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from envs.robots import operator as terminal
from envs.robots import stop
from envs.widowx.dry_run import WidowXDryRun
from envs.widowx.dry_run import environment as dry_run
from harness.failures import PerceptionFailure, SimulatorError
from harness.seeding import Seeds
from harness.store import read_cell
from tests.envs.widowx import stub
from tests.terminal import without_echo

PROJECT = Path(__file__).parents[3]
PACE = 1000.0
PATIENCE = 120
"""Seconds without a word after which a command hangs."""


def seeds(task, scene=0):
    return Seeds("widowx_dry_run", task, scene, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stop")


@pytest.fixture(scope="module")
def opened(folder):
    """Nobody is asked; the twin judges."""
    config = WidowXDryRun(
        pace=PACE, stop_folder=str(folder), oracle="simulated", confirm="nothing", noise=0.0
    )
    env = config.open()
    yield env
    env.close()


@pytest.fixture
def twin(opened, folder):
    """With a scene up."""
    stop.clear(folder)
    opened.reset("object_search", 0, seeds("object_search"))
    return opened


def move(env, x=0.0, y=0.0, z=0.0, gripper=1.0):
    return env.act(np.array([x, y, z, 0.0, 0.0, 0.0, gripper]))


def test_the_arm_follows_with_the_delay_of_its_servos(twin):
    start = twin.observation()["tool"]
    assert start[:3] == pytest.approx(twin.rest.position, abs=3e-3)
    for _ in range(8):
        assert move(twin, x=0.01).held == ""
    for _ in range(4):
        move(twin)
    assert twin.observation()["tool"][:3] - start[:3] == pytest.approx([0.08, 0.0, 0.0], abs=5e-3)
    assert twin.steps() == 12


def test_the_fingers_take_several_steps(twin):
    seen = []
    for _ in range(6):
        move(twin, gripper=-1.0)
        seen.append(float(twin.observation()["gripper"][0]))
    assert seen[0] > 0.3
    assert seen[-1] < 0.05
    assert sorted(seen, reverse=True) == pytest.approx(seen, abs=1e-3)


def test_an_arm_that_meets_the_table_pushes_and_no_more(twin):
    move(twin, x=0.02)
    held = {move(twin, z=-0.02).held for _ in range(30)}
    assert twin.observation()["tool"][2] > 0.0
    assert held & {"the edge of the workspace", "something is in the way"}


def test_the_twin_names_what_it_sees_and_says_where_it_is(twin):
    view = twin.view("third_person")
    assert view.named
    assert {"left box", "middle box", "right box", "tray"} <= {mark.name for mark in view.marks}
    assert view.image.shape == (224, 224, 3)
    assert {"left box", "middle box", "right box", "tray"} <= set(twin.objects())
    assert twin.cloud("tray").points[:, 2].max() < 0.01
    with pytest.raises(PerceptionFailure, match="no camera sees 'teapot'"):
        twin.cloud("teapot")


def test_scenes_are_repeatable_and_the_household_judges(twin):
    first = twin.reset("counting", 1, seeds("counting", 1))
    again = twin.reset("counting", 1, seeds("counting", 1))
    assert first == again
    assert len(first.state_hash) == 16
    assert twin.subtasks()[0].text == "inspect recipe card"
    assert twin.current_subtask() == 0
    assert (twin.verdict().subtasks_done, twin.verdict().subtasks) == (0, 7)
    assert list(twin.utterances()) == []
    assert twin.info()["oracle"] == "simulated"
    assert twin.info()["robot"] == "twin"


def test_a_stop_from_another_terminal_halts_the_twin(twin, folder):
    for _ in range(3):
        move(twin, y=0.02)
    command = (sys.executable, "-m", "envs.robots.stop", "--folder", str(folder))
    assert subprocess.run(command, cwd=PROJECT, capture_output=True, check=True).returncode == 0
    state = twin._arm.state()
    assert state.stopped
    with pytest.raises(SimulatorError, match="stopped from another terminal"):
        move(twin, y=0.02)
    with pytest.raises(SimulatorError, match="stopped from another terminal"):
        twin.reset("object_search", 0, seeds("object_search"))
    assert (twin._arm.state().joints == state.joints).all()
    assert subprocess.run((*command, "--clear"), cwd=PROJECT, capture_output=True, check=True).returncode == 0
    twin.reset("object_search", 0, seeds("object_search"))
    assert move(twin, y=0.02).held == ""


def test_with_an_operator_the_twin_lays_out_and_changes_the_table(monkeypatch, tmp_path):
    operator = stub.Operator()
    monkeypatch.setattr(dry_run, "Operator", lambda: operator)
    env = WidowXDryRun(pace=PACE, stop_folder=str(tmp_path), noise=0.0).open()
    reset = env.reset("rearrangement", 0, seeds("rearrangement"))
    assert len(reset.state_hash) == 16
    toys = [
        line.split(" in or on")[0].strip()
        for line in operator.asked[1].split("\n")
        if " mat" in line and "toy" in line
    ]
    assert len(toys) == 3
    assert set(toys) <= set(env.objects())
    operator.lines = [["done"], ["next"], ["done", "done", "done"]]
    for _ in range(3):
        move(env)
    # Behind the chest's walls no camera sees them, and nothing of it was the robot's doing.
    assert "chest" in env.objects()
    assert not set(toys) & set(env.objects())
    assert env.verdict().subtasks_done == 4
    assert not env.verdict().success
    assert [said.step for said in env.utterances()] == [2]
    assert not any("it is so on the twin's table" in text for text in operator.told[:2])
    env.close()
    assert operator.closed


def test_a_process_that_has_gone_is_one_clear_error(tmp_path):
    config = WidowXDryRun(pace=PACE, stop_folder=str(tmp_path), oracle="simulated", confirm="nothing")
    env = config.open()
    env.reset("counting", 0, seeds("counting"))
    os.kill(env._counterpart._process.pid, signal.SIGKILL)
    env._counterpart._process.wait()
    with pytest.raises(SimulatorError, match="the arm's server at 127"):
        move(env, x=0.01)
    with pytest.raises(SimulatorError, match="the process of the dry run has"):
        env.render("wrist")
    env.close()
    assert stop.robots(tmp_path) == []


def test_who_is_asked_needs_a_terminal_and_who_is_not_does_not(monkeypatch):
    monkeypatch.setattr(terminal, "TERMINAL", "/nowhere/tty")
    for keys in ({}, {"confirm": "nothing"}, {"oracle": "simulated"}):
        (problem,) = WidowXDryRun(**keys).problems()
        assert problem.fix == "Start the command from a terminal, with run.workers=0"
        with pytest.raises(SimulatorError, match="cannot open"):
            WidowXDryRun(**keys).open()
    assert WidowXDryRun(oracle="simulated", confirm="nothing").problems() == []


@pytest.mark.parametrize("pace", [0.0, -1.0, 2000.0, float("nan")])
def test_a_pace_that_cannot_be_is_refused(pace):
    with pytest.raises(ValueError, match="pace"):
        WidowXDryRun(pace=pace)


# The command


@pytest.fixture
def command(tmp_path):
    """`command(KEY=VALUE...)`: a run of one scene of object_search into a folder of the test's own."""

    def line(method, env, *more):
        return [
            *(
                sys.executable,
                str(PROJECT / "run.py"),
                f"method={method}",
                f"env={env}",
                "env.tasks=[object_search]",
            ),
            *("env.scenes=1", "executor=scripted", "run.workers=0", f"env.stop_folder={tmp_path / 'stop'}"),
            *(f"hydra.run.dir={tmp_path / 'run'}", f"hydra.sweep.dir={tmp_path / 'run'}", *more),
        ]

    return line


def row(tmp_path):
    """The one that there is."""
    (found,) = [
        row for file in (tmp_path / "run").rglob("episodes.jsonl") for row in read_cell(file.parent).values()
    ]
    return found


@pytest.mark.slow
def test_a_whole_episode_with_the_twins_physics(tmp_path, command):
    unattended = ("env.oracle=simulated", "env.confirm=nothing", f"env.pace={PACE}")
    done = subprocess.run(
        command("hime", "widowx_dry_run", *unattended), cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = row(tmp_path)
    (trial,) = found["trials"]
    assert (found["status"], trial["subtasks_done"], trial["subtasks"]) == ("success", 6, 6)
    assert found["versions"]["robot"] == "twin"
    assert trial["steps"] > 200


@pytest.mark.slow
def test_a_run_from_a_terminal_that_is_stopped_is_an_error_and_is_played_again(tmp_path, command):
    line = command("human", "widowx_dry_run", f"env.pace={PACE}")
    # The arm goes home, the scene is laid out, the arm moves. While it does, the operator stops it, and leaves it so.
    begun, doing = (b"\n\n\n", ""), (b"done\nstop\n", "> 1. inspect left box")
    code, shown = on_a_terminal(line, begun, doing, (b"n\n" * 5, "The robot is stopped"))
    found = row(tmp_path)
    assert (found["status"], found["error"]) == ("error", "simulator"), shown
    assert "stopped from another terminal" in found["reason"]
    assert "Lay out object_search, scene 0" in shown and "done at step" in shown

    def clear():
        stop.clear(tmp_path / "stop")
        return b"\n\n\n\n"

    # The same command again: it waits until the stop is cleared, and then all is done.
    cleared = (clear, "The robot is stopped")
    done = (b"done\ndone\ndone\ndone\ndone\n", "> 1. inspect left box")
    last = (b"\n", "Then the user says"), (b"done\n", "> 1. pick up")
    code, shown = on_a_terminal(line, cleared, done, *last)
    assert code == 0, shown
    found = row(tmp_path)
    assert (found["status"], found["trials"][0]["subtasks_done"]) == ("success", 6), shown
    assert found["versions"]["oracle"] == "operator"


@pytest.mark.slow
def test_a_model_that_cannot_look_declines_pictures_without_names(tmp_path, command):
    """With real cameras; the arm's server is a stub's."""
    serving = subprocess.Popen(
        (sys.executable, "-m", "envs.widowx.serve", "--port", "0", "--arm", "tests.envs.widowx.stub.Arm"),
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        port = serving.stderr.readline().split("127.0.0.1:")[1].split(",")[0]
        cameras = [f"env.{name}=tests.envs.widowx.stub.Camera" for name in ("third_person", "wrist")]
        line = command("hime", "widowx", f"env.address=127.0.0.1:{port}", *cameras)
        _, shown = on_a_terminal(line, (b"\n\n\n", ""))
    finally:
        serving.terminate()
        serving.wait()
        serving.stderr.close()
    found = row(tmp_path)
    assert (found["status"], found["error"]) == ("error", "provider"), shown
    assert "does not look at pixels" in found["reason"]


def on_a_terminal(command, *typed):
    """Run a command as from a terminal; its exit status and what it showed. `typed` are what is typed, or what gives it, each
    with a prompt: it waits until that has been shown after the one before."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(PROJECT)
        os.execve(command[0], command, {**os.environ, "PYTHONPATH": str(PROJECT)})
    without_echo(screen)
    shown, seen, left = "", 0, list(typed)
    with suppress(OSError):  # the terminal closes with the command
        while True:
            while left and (place := shown.find(left[0][1], seen)) >= 0:
                keys, prompt = left.pop(0)
                seen = place + len(prompt)
                os.write(screen, keys if isinstance(keys, bytes) else keys())
            if not select.select([screen], [], [], PATIENCE)[0]:
                os.kill(child, signal.SIGKILL)
            piece = os.read(screen, 10000)
            if not piece:
                break
            shown += piece.decode(errors="replace")
    _, status = os.waitpid(child, 0)
    os.close(screen)
    return os.waitstatus_to_exitcode(status), shown
