"""RLBench's own models, where a checkout is found: the poses that the tabletop's tasks were laid out by, and that every
model can be read."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from envs.rlbench.ttm import Model, read

ROOT = os.environ.get("RLBENCH_ROOT", "")
MODELS = Path(ROOT) / "rlbench" / "task_ttms"
pytestmark = [
    pytest.mark.rlbench,
    pytest.mark.skipif(
        not (ROOT and MODELS.is_dir()), reason="RLBENCH_ROOT names no checkout of github.com/stepjam/RLBench"
    ),
]

NAN = float("nan")
POSITIONS = [
    ("basketball_in_hoop", "ball", (0.10, 0.035, 0.782)),
    ("basketball_in_hoop", "success", (0.345, 0.024, 0.786)),
    ("beat_the_buzz", "wand", (0.211, 0.112, 0.950)),
    ("open_drawer", "waypoint_anchor_bottom", (NAN, NAN, 0.915)),
    ("open_drawer", "waypoint_anchor_middle", (NAN, NAN, 1.035)),
    ("open_drawer", "waypoint_anchor_top", (NAN, NAN, 1.155)),
    ("lamp_off", "push_button_target", (0.304, 0.156, 0.760)),
    ("open_wine_bottle", "cap", (0.182, 0.033, 1.054)),
    ("push_button", "push_button_target", (0.25, 0.0, 0.760)),
    ("put_rubbish_in_bin", "bin", (0.337, -0.280, 0.846)),
    ("put_rubbish_in_bin", "rubbish", (0.336, 0.103, 0.769)),
    ("take_lid_off_saucepan", "saucepan_lid_grasp_point", (0.224, 0.030, 0.853)),
    ("take_lid_off_saucepan", "success", (NAN, NAN, 0.968)),
    ("take_umbrella_out_of_umbrella_stand", "umbrella", (0.317, -0.107, 0.907)),
]
"""Metres, rounded to a millimetre."""
SIZES = [
    ("basketball_in_hoop", "ball", (0.06, 0.06, 0.06)),
    ("push_button", "push_button_target", (0.10, 0.10, NAN)),
    ("lamp_off", "push_button_target", (0.035, 0.035, NAN)),
]
"""Of the box around a shape, in its frame."""


@cache
def model(task: str) -> Model:
    return read(MODELS / f"{task}.ttm")


@pytest.mark.parametrize(("task", "name", "expected"), POSITIONS)
def test_an_object_is_where_rlbench_has_it_to_a_millimetre(task: str, name: str, expected: tuple) -> None:
    found = model(task).pose(model(task).find(name)).position
    known = ~np.isnan(expected)
    assert found[known] == pytest.approx(np.array(expected)[known], abs=0.001)


@pytest.mark.parametrize(("task", "name", "expected"), SIZES)
def test_a_shape_is_as_large_as_rlbench_has_it(task: str, name: str, expected: tuple) -> None:
    points = np.concatenate([mesh.vertices for mesh in model(task).find(name).meshes])
    known = ~np.isnan(expected)
    assert np.ptp(points, axis=0)[known] == pytest.approx(np.array(expected)[known], abs=0.001)


def test_the_drawers_slide_thirty_centimetres() -> None:
    for name in ("bottom", "middle", "top"):
        joint = model("open_drawer").find(f"drawer_joint_{name}").joint
        assert joint.kind == "prismatic" and joint.limits == pytest.approx((0, 0.3), abs=1e-6)


@pytest.mark.slow
def test_every_model_reads_and_its_shapes_lie_around_their_origins() -> None:
    """CoppeliaSim puts a shape's frame at the middle of its box: so vertices have found the right one."""
    paths = sorted(MODELS.glob("*.ttm"))
    assert len(paths) > 50
    for path in paths:
        for entry in read(path).objects:
            if entry.kind == "shape":
                points = np.concatenate([mesh.vertices for mesh in entry.meshes])
                middle = (points.min(axis=0) + points.max(axis=0)) / 2
                assert np.abs(middle).max() < 1e-3 * np.ptp(points, axis=0).max(), (
                    f"{path.stem}: {entry.name}"
                )
