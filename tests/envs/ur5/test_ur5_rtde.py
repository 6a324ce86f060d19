"""What the stub stands for, against the installed ur_rtde; and a whole run from a terminal against the stub."""

import os
import pty
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from envs.ur5.robot import Robot
from harness.failures import SimulatorError
from harness.store import read_cell
from tests.envs.ur5 import stub
from tests.terminal import without_echo

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("module", "name"), [("rtde_control", "RTDEControlInterface"), ("rtde_receive", "RTDEReceiveInterface")]
)
def test_the_package_has_what_the_stub_has(module, name):
    real = getattr(pytest.importorskip(module, reason="pip install ur_rtde"), name)
    ours = getattr(stub.modules(stub.Arm())[module], name)
    assert [method for method in vars(ours) if method[0] != "_" and not hasattr(real, method)] == []


def test_the_package_says_that_there_is_no_robot():
    pytest.importorskip("rtde_control", reason="pip install ur_rtde")
    with pytest.raises(SimulatorError, match="cannot be driven"):
        Robot("127.77.7.7", 29999, 0.0, [0.0] * 6)


@pytest.mark.slow
def test_a_run_from_a_terminal(tmp_path):
    """The command itself, with an operator who lays out the scene, sees no success twice, and then one."""
    (tmp_path / "stubs").mkdir()
    for name in ("rtde_control", "rtde_receive"):
        (tmp_path / "stubs" / f"{name}.py").write_text(
            textwrap.dedent("""
            import sys
            from tests.envs.ur5 import stub
            sys.modules[__name__] = stub.modules(stub.SHARED)[__name__]
            sys.modules[__name__].__spec__ = __spec__
            """)
        )
    with stub.Server(stub.Gripper().answer) as gripper:
        command = [
            *(
                sys.executable,
                str(PROJECT / "run.py"),
                "method=voxposer",
                "env=ur5",
                "env.tasks=[rotate_box]",
            ),
            *("env.scenes=1", "run.workers=0", "env.ip=127.0.0.1", f"env.gripper_port={gripper.port}"),
            *(
                f"env.camera_pose={[float(number) for number in stub.POSE]}",
                f"env.stop_folder={tmp_path / 'stop'}",
            ),
            *("env.camera=tests.envs.ur5.stub.Camera", "env.detector=tests.envs.ur5.stub.Detector"),
            *(f"hydra.run.dir={tmp_path / 'run'}", f"hydra.sweep.dir={tmp_path / 'run'}"),
        ]
        code, shown = on_a_terminal(command, {"PYTHONPATH": f"{tmp_path / 'stubs'}:{PROJECT}"}, b"\n\ny\n")
    assert code == 0, shown
    (row,) = [
        row
        for folder in (tmp_path / "run").rglob("episodes.jsonl")
        for row in read_cell(folder.parent).values()
    ]
    assert (row["status"], row["state_hash"], row["versions"]["oracle"]) == ("success", "", "operator")
    assert "Lay out scene 0 as each time: red box, green block." in shown
    assert "Is it done: rotate the red box 90 degrees to the left?" in shown


def on_a_terminal(command, environment, typed):
    """Run a command as from a terminal on which something is typed; its exit status and what it showed."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(PROJECT)
        os.execve(command[0], command, {**os.environ, **environment})
    without_echo(terminal)
    os.write(terminal, typed)
    shown = b""
    with suppress(OSError):  # the terminal closes with the command
        while piece := os.read(terminal, 10000):
            shown += piece
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")
