from __future__ import annotations

from dataclasses import replace

from harness.seeding import Seeds, derive

SEEDS = Seeds("tabletop", "push_button", 3, 0)


def draw(seeds: Seeds) -> tuple[float, float]:
    return seeds.scene().random(), seeds.noise().random()


def test_the_scene_depends_on_environment_task_and_index_alone() -> None:
    base = draw(SEEDS)[0]
    for change in ({"cell_seed": 1}, {"trial": 2}):
        assert draw(replace(SEEDS, **change))[0] == base
    for change in ({"env": "other"}, {"task": "lamp_off"}, {"scene_index": 4}):
        assert draw(replace(SEEDS, **change))[0] != base


def test_noise_differs_between_seeds_and_trials_and_repeats() -> None:
    noises = {
        draw(replace(SEEDS, **change))[1] for change in ({}, {"cell_seed": 1}, {"trial": 1}, {"trial": 2})
    }
    assert len(noises) == 4
    assert draw(SEEDS) == draw(SEEDS)


def test_the_tree_is_the_same_everywhere() -> None:
    assert derive("scene", "tabletop", "push_button", 3) == 8684404483380969668
    assert derive("a", 1) != derive("a", "1")
    assert derive("ab", "c") != derive("a", "bc")
    assert 0 <= derive("x") < 2**63
