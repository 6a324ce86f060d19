"""How fast a million rows become tables: from the compact copy and from JSON lines, in CPU seconds beyond imports.

python benchmarks/tables.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METHODS = ("voxposer", "retry", "self_reflection", "mtp")
SEEDS = range(5)


def write(root: Path, rows: int) -> None:
    """A made-up experiment of the size asked for, as a sweep writes it."""
    from harness.store import CELL, FORMAT, ROWS

    cells = [(method, seed) for method in METHODS for seed in SEEDS]
    tasks = [f"task{i}" for i in range(8)] + ["push_button"]
    for method, seed in cells:
        name = f"{method}-{seed}"
        folder = root / name
        folder.mkdir(parents=True)
        node = {"sources": ["playtable"]}
        config = {
            "method": {"memory": node} if method == "mtp" else {},
            "env": {"scenes": rows},
            "llm": {},
            "sampling": {},
            "sandbox": {},
            "seed": seed,
            "memory": node,
        }
        choices = {"method": method, "env": "tabletop", "llm": "rules", "memory": "playtable"}
        described = {"format": FORMAT, "cell": name, "method": method, "env": "tabletop", "seed": seed}
        (folder / CELL).write_text(json.dumps({**described, "choices": choices, "config": config}))
        with (folder / ROWS).open("w") as file:
            for i in range(rows // len(cells)):
                task, scene = tasks[i % len(tasks)], i // len(tasks)
                success = (i * 2654435761 + METHODS.index(method) * 97) % 100 < 60
                row = {
                    "method": method,
                    "env": "tabletop",
                    "env_config": "e",
                    "task": task,
                    "scene": scene,
                    "seed": seed,
                    "status": "success" if success else "failure",
                    "failure": None if success else "goal",
                    "error": None,
                    "episode": f"{task}-s{scene}-i0",
                    "instruction_index": 0,
                    "cell": name,
                    "state_hash": f"{task}{scene}",
                    "models": ["made-up"],
                    "trials": [
                        {"success": success, "facts": {"planner_code": "composer('grasp the block')"}}
                    ],
                    "trial_count": 1,
                    "subtasks_done": int(success),
                    "subtasks": 1,
                    "steps": 100,
                    "usage": {"calls": 11, "prompt_tokens": 900, "completion_tokens": 90, "cost_usd": 0.01},
                    "timings": {"seconds": 1.0, "chat_seconds": 0.5},
                    "code": "abc",
                    "versions": {"engram": "0.1.0"},
                }
                file.write(json.dumps(row) + "\n")


def measure(root: Path) -> float:
    """CPU seconds from rows to all tables, imports not counted, in a process of its own."""
    script = (
        "import sys, time, duckdb, scipy.special, scipy.stats\n"
        "from pathlib import Path\n"
        "from analysis import commands, items, rows\n"
        "from analysis.tables import entries, latex, layout, markdown, page, spreadsheet\n"
        "from harness.commandline import main\n"
        "before = time.process_time()\n"
        "main(commands, '', ['tables', sys.argv[1], '--paper', 'mtp', '--format', 'markdown,csv,html'])\n"
        "print(time.process_time() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    sys.path.insert(0, str(Path(__file__).parent.parent))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "made_up"
        write(root, rows)
        size = sum(path.stat().st_size for path in root.glob("*/episodes.jsonl"))
        json_lines = sorted(measure(root) for _ in range(3))[1]
        from analysis.rows import compact

        before = time.process_time()
        smaller = size / compact(root).stat().st_size
        made = time.process_time() - before
        parquet = sorted(measure(root) for _ in range(3))[1]
    print(f"{rows} rows, {size / 1e6:.0f} MB of JSON lines; median of 3, CPU seconds:")
    print(f"  tables from JSON lines   {json_lines:6.2f}")
    print(f"  tables from parquet      {parquet:6.2f}   {json_lines / parquet:.1f} times as fast")
    print(f"  making the compact copy  {made:6.2f}   {smaller:.0f} times smaller")


if __name__ == "__main__":
    main()
