"""NumPy imports parts of itself at first use, through the builtins of the frame that runs."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import numpy as np
from harness.sandbox import Sandbox
program = "ret_val = f'{p} {p!r} {np.clip(p, 0, 2).mean():.2f} {p.std() > 0} {np.linalg.norm(p):.3f}'"
print(Sandbox().compile(program, {"p": np.array([1, 2, 3])}).run()["ret_val"])
"""


def test_the_first_use_of_a_part_of_numpy_may_be_a_programs() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout == "[1 2 3] array([1, 2, 3]) 1.67 True 3.742\n", done.stderr
