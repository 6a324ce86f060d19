from __future__ import annotations

from itertools import combinations

import pytest

from analysis.statistics.passes import attempts_by_scene, mean_pass_at_k, pass_at_k, solved_within
from analysis.statistics.rates import Rate


@pytest.mark.parametrize(("attempts", "successes"), [(5, 2), (5, 0), (5, 5), (3, 1), (6, 4)])
def test_pass_at_k_is_the_share_of_choices_with_a_success(attempts: int, successes: int) -> None:
    outcomes = [True] * successes + [False] * (attempts - successes)
    for k in range(1, attempts + 1):
        choices = [any(choice) for choice in combinations(outcomes, k)]
        assert pass_at_k(attempts, successes, k) == pytest.approx(sum(choices) / len(choices))


def test_with_too_few_attempts_it_is_not_known() -> None:
    assert pass_at_k(2, 1, 3) is None
    assert pass_at_k(0, 0, 1) is None
    assert mean_pass_at_k([(3, 1), (2, 2)], 3) is None
    assert mean_pass_at_k([], 1) is None


def test_scenes_have_one_vote_each() -> None:
    assert mean_pass_at_k([(3, 1), (3, 0)], 2) == pytest.approx((2 / 3 + 0) / 2)


@pytest.mark.parametrize(("attempts", "successes", "k"), [(3, 4, 1), (3, 1, 0), (3, -1, 1)])
def test_counts_that_cannot_be_are_refused(attempts: int, successes: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        pass_at_k(attempts, successes, k)


def test_independent_attempts_are_first_trials_of_seeds_on_a_scene(make_row) -> None:
    rows = [make_row(True, seed=seed, trial_count=trials) for seed, trials in ((0, 1), (1, 2), (2, 1))]
    rows += [make_row(False, seed=3), make_row(seed=4, status="error", error="crash")]
    rows += [make_row(True, scene=1)]
    assert attempts_by_scene(rows) == [(4, 2), (1, 1)]


def test_dependent_trials_are_counted_as_they_came(make_row) -> None:
    rows = [make_row(True, trial_count=trials) for trials in (1, 1, 2, 3)]
    rows += [make_row(False, trial_count=3), make_row(status="error", error="crash", trial_count=1)]
    assert [solved_within(rows, k) for k in (1, 2, 3, 4)] == [Rate(2, 5), Rate(3, 5), Rate(4, 5), Rate(4, 5)]
    assert solved_within([], 1) == Rate(0, 0)
    with pytest.raises(ValueError, match="within 0 trials"):
        solved_within(rows, 0)
