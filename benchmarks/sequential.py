"""What `run.stop=sequential` promises and saves, by simulation through the engine: sweeps of methods that succeed by
chance alone, how often one decides that should not, and how many pairs it takes where there is a difference.
`python benchmarks/sequential.py [SWEEPS]`"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import RunMode

from analysis.statistics.power import independent_discordance, scenes_paired
from harness.compose import Composer
from harness.stopping.record import Standing
from harness.sweep import run_cells

TESTING = "hydra.searchpath=[pkg://harness.testing.conf]"
SCENES = 50
"""Of each of three tasks: 150 pairs."""


@dataclass(frozen=True)
class Setting:
    rates: Sequence[float]
    """The first is the baseline's."""
    alpha: float = 0.05
    margin: float = 0.0


SETTINGS = [
    Setting([0.5, 0.5]),
    Setting([0.1, 0.1]),
    Setting([0.5, 0.5], alpha=0.2),
    Setting([0.5, 0.5, 0.5, 0.5], alpha=0.2),
    Setting([0.5, 0.5], margin=0.2),
    Setting([0.5, 0.6]),
    Setting([0.5, 0.7]),
    Setting([0.4, 0.7]),
    Setting([0.3, 0.8]),
    Setting([0.2, 0.9]),
]


def play(composer: Composer, setting: Setting, salt: int) -> list[Standing]:
    """How the comparisons of one sweep stand at its end."""
    cells = [
        composer.cell(
            [
                "env=noop",
                f"env.scenes={SCENES}",
                "method=coin",
                f"method.rate={rate}",
                f"method.salt={100 * salt + number}",
                "record=none",
                "run.workers=0",
                "run.stop=sequential",
                f"run.alpha={setting.alpha}",
                f"run.margin={setting.margin}",
            ]
        )
        for number, rate in enumerate(setting.rates)
    ]
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        return run_cells(cells, Path(folder)).comparisons


def main() -> None:
    sweeps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    Plugins.instance()
    print(
        f"{sweeps} sweeps a line, at most {3 * SCENES} pairs; fixed: pairs of a test for one look, power 80 %\n"
    )
    print("rates                 alpha  margin  decided  wrong  alike  pairs: mean  median  fixed")
    with initialize_config_module("conf", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        composer = Composer(loader, loader.load_configuration("config", [TESTING], run_mode=RunMode.MULTIRUN))
        for setting in SETTINGS:
            show(setting, [play(composer, setting, salt) for salt in range(sweeps)])


def show(setting: Setting, found: Sequence[Sequence[Standing]]) -> None:
    base, *others = setting.rates
    effect = round(others[0] - base, 12)
    verdicts = [{one.decided for one in comparisons} - {None} for comparisons in found]
    right = {"first"} if effect > 0 else {"alike"}
    pairs = [one.pairs for comparisons in found for one in comparisons]
    fixed = scenes_paired(effect, independent_discordance(base, others[0])).scenes if effect else None
    shares = [
        sum(bool(verdict) for verdict in verdicts),
        sum(bool(verdict - right) for verdict in verdicts),
        sum("alike" in verdict for verdict in verdicts),
    ]
    told = "  ".join(f"{100 * share / len(found):5.1f}%" for share in shares)
    rates = " ".join(f"{rate:g}" for rate in setting.rates)
    print(
        f"{rates:20}  {setting.alpha:5g}  {setting.margin:6g}   {told}        {statistics.mean(pairs):5.1f}   "
        f"{statistics.median(pairs):5g}  {fixed or '-':>5}",
        flush=True,
    )


if __name__ == "__main__":
    main()
