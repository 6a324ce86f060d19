"""What is compared with what, on which pairs, in which order, and what is refused before anything is played."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cells import Cell
from harness.failures import UsageError
from harness.stopping.plan import Comparison, comparisons, refuse
from tests.harness.stopping.coins import cell, coins

THREE = {"a": 0.5, "b": 0.5, "c": 0.5}


def names(found: list[Comparison]) -> list[tuple[str, str]]:
    return [(one.first, one.second) for one in found]


def test_each_method_is_compared_with_the_first_at_its_part_of_alpha() -> None:
    found = comparisons(coins(THREE, alpha=0.06))
    assert names(found) == [("b", "a"), ("c", "a")]
    assert [one.level for one in found] == [0.03, 0.03]
    assert found[0].where == "env=noop llm=rules"


def test_pairs_that_are_named_are_compared_and_no_others() -> None:
    found = comparisons(coins(THREE, compare=[["a", "c"], ["c", "b"]]))
    assert names(found) == [("a", "c"), ("c", "b")]
    assert [one.level for one in found] == [0.025, 0.025]


def test_a_sweep_that_plays_all_compares_nothing() -> None:
    assert comparisons(coins(THREE, stop="all")) == []


def test_pairs_go_round_by_round_through_all_tasks_and_seeds() -> None:
    (found,) = comparisons(coins({"a": 0.5, "b": 0.5}, seeds=(1, 0), scenes=2))
    folders = {identity: folder.split("-")[2] for identity, folder in found.folders.items()}
    assert [(pair.episode, folders[pair.first], folders[pair.second]) for pair in found.pairs] == [
        (f"task{task}-s{scene}-i0", seed, seed)
        for scene in (0, 1)
        for seed in ("s0", "s1")
        for task in (0, 1, 2)
    ]


def test_a_task_has_its_share_in_each_round() -> None:
    env = {"_target_": "tests.harness.stopping.coins.UnequalShares", "scenes": 2}
    (found,) = comparisons([cell("a", env=env), cell("b", env=env)])
    rounds = [["task0-s0", "task1-s0", "task1-s1", "task1-s2", "task2-s0"]]
    rounds += [["task0-s1", "task1-s3", "task1-s4", "task1-s5", "task2-s1"]]
    assert [pair.episode.removesuffix("-i0") for pair in found.pairs] == [*rounds[0], *rounds[1]]


def test_more_scenes_come_after_those_that_there_were() -> None:
    (short,), (long,) = (comparisons(coins({"a": 0.5, "b": 0.5}, (0, 1), scenes=n)) for n in (3, 5))
    assert long.pairs[: len(short.pairs)] == short.pairs
    assert long.mark(len(short.pairs)) == short.mark(len(short.pairs))
    (other,) = comparisons(coins({"a": 0.5, "b": 0.5}, (0, 1), scenes=3, alpha=0.01))
    assert other.mark(3) != short.mark(3)


def test_the_order_does_not_hang_on_how_the_command_names_tasks_and_seeds() -> None:
    there = [cell(name, seed, env={"tasks": ["task0", "task2"]}) for name in "ab" for seed in (0, 1)]
    back = [cell(name, seed, env={"tasks": ["task2", "task0"]}) for name in "ab" for seed in (1, 0)]
    assert comparisons(there)[0].pairs == comparisons(back)[0].pairs


def test_only_what_differs_in_the_method_alone_is_compared() -> None:
    noisy = [cell(name, env={"rate": 0.9}, typed=["env.rate=0.9"]) for name in ("a", "b")]
    plain = [cell(name, env={"rate": 0.1}, typed=["env.rate=0.1"]) for name in ("a", "b")]
    found = comparisons([*plain, *noisy])
    assert [one.name for one in found] == [
        "b against a (env=noop llm=rules env.rate=0.1)",
        "b against a (env=noop llm=rules env.rate=0.9)",
    ]
    first, second = (
        {identity for pair in one.pairs for identity in (pair.first, pair.second)} for one in found
    )
    assert not first & second
    with pytest.raises(UsageError, match="nothing to compare"):
        comparisons([plain[0], noisy[1]])


def test_variants_of_a_method_are_named_by_what_was_typed() -> None:
    cells = [
        cell("a", method={"trials": n}, typed=[f"method.trials={n}", "sandbox.seconds=5"]) for n in (1, 2, 3)
    ]
    found = comparisons(cells)
    assert names(found) == [
        ("a method.trials=2", "a method.trials=1"),
        ("a method.trials=3", "a method.trials=1"),
    ]
    assert found[0].where == "env=noop llm=rules sandbox.seconds=5"
    untold = comparisons([cell("a", method={"trials": n}) for n in (1, 2)])
    (first, second) = names(untold)[0]
    assert first != second
    assert first.startswith("a ")


def test_a_seed_that_only_one_of_them_has_is_in_no_pair() -> None:
    (found,) = comparisons([cell("a", 0), cell("a", 1), cell("b", 1), cell("b", 2)])
    assert len(found.pairs) == 15
    assert set(found.folders.values()) == {
        c.folder_name for c in (cell("a", 0), cell("a", 1), cell("b", 1), cell("b", 2))
    }
    with pytest.raises(UsageError, match="no episode of the same task"):
        comparisons([cell("a", 0), cell("b", 1)])


def test_the_same_cell_with_two_choices_of_episodes_is_one_comparison() -> None:
    cells = [
        cell(name, env={"instructions": which, "scenes": 1})
        for name in "ab"
        for which in ("single", "paraphrased")
    ]
    (found,) = comparisons(cells)
    assert [pair.episode for pair in found.pairs] == [
        f"task{task}-s0-i{i}" for task in range(3) for i in (0, 1)
    ]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"stop": "early"}, "run.stop is `early`; it can be all or sequential"),
        ({"alpha": 0.0}, "run.alpha is 0"),
        ({"alpha": 1.5}, "run.alpha is 1.5"),
        ({"margin": -0.1}, "run.margin is -0.1"),
        ({"margin": 10}, "run.margin is 10"),
        ({"compare": [["a"]]}, "pairs of methods"),
        ({"compare": [["a", "a"]]}, "pairs of methods"),
        ({"compare": [["a", "b", "c"]]}, "pairs of methods"),
        ({"compare": [["a", "bb"]]}, r"does not play\. Did you mean b\?"),
        ({"compare": [["a", "b"], ["b", "a"]]}, "names b and a twice"),
        ({"compare": []}, "nothing to compare"),
    ],
)
def test_what_cannot_be_is_refused(run: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        comparisons(coins(THREE, **run))


def test_one_method_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        comparisons(coins({"a": 0.5}, seeds=(0, 1)))


def test_a_method_that_learns_from_episode_to_episode_is_not_compared_but_may_be_there() -> None:
    cells = [cell("a"), cell("b", method={"trials": 2}), cell("learner", method={"one_by_one": True})]
    with pytest.raises(UsageError, match="method=learner plays its episodes in an order of its own"):
        comparisons(cells)
    named = [
        Cell({**c.config, "run": {**c.config["run"], "compare": [["b", "a"]]}}, c.choices) for c in cells
    ]
    assert names(comparisons(named)) == [("b", "a")]


def test_a_cluster_is_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match=r"run\.stop=sequential does not go with hydra/launcher=slurm"):
        refuse(coins(THREE), "slurm")
    refuse(coins(THREE, stop="all"), "slurm")
