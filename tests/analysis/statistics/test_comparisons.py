from __future__ import annotations

from itertools import combinations

import pytest

from analysis.statistics import power
from analysis.statistics.comparisons import compare, family, of_pairs, of_rates
from analysis.statistics.paired import Pairs, mcnemar
from analysis.statistics.rates import Rate


def _rows(make_row, method: str, solved: str, **changes):
    """One row a scene, "1" for a success."""
    return [make_row(mark == "1", method=method, scene=i, **changes) for i, mark in enumerate(solved)]


def test_the_same_scenes_are_compared_paired(make_row) -> None:
    found = compare(
        _rows(make_row, "mtp", "1" * 12 + "0000"), _rows(make_row, "voxposer", "1" * 4 + "0" * 12)
    )
    assert found.test == "exact McNemar"
    assert found.pairs == Pairs(4, 8, 0, 4)
    assert found.p_value == pytest.approx(2 / 2**8)
    assert found.difference == pytest.approx(0.5)
    words = found.words("mtp", "voxposer")
    assert words.startswith("mtp solves more than voxposer (+50.0 points, 95 % interval +13.1 to +72.0")
    assert "exact McNemar p = 0.0078 on 16 scenes" in words
    turned = compare(_rows(make_row, "v", "0000"), _rows(make_row, "m", "1111")).words("v", "m", alpha=0.2)
    assert turned.startswith("v solves less than m (-100.0 points")


def test_what_the_data_cannot_decide_is_said_with_the_scenes_that_would(make_row) -> None:
    found = compare(_rows(make_row, "a", "1110100"), _rows(make_row, "b", "1010110"))
    assert found.pairs == Pairs(3, 1, 1, 2) and found.p_value == 1
    assert found.needed is None
    assert "cannot be told apart" in found.words("a", "b")
    assert found.words("a", "b").endswith("No difference was seen, so no number of scenes can be given.")
    found = of_pairs({"push_button": Pairs(20, 8, 4, 13)})
    assert found.needed == power.scenes_paired(4 / 45, 12 / 45).scenes
    assert found.words("a", "b").endswith(
        f"To decide a difference of this size takes about {found.needed} scenes."
    )
    assert power.paired_power(found.needed, 4 / 45, 12 / 45) >= 0.8


def test_other_initial_states_make_it_unpaired_and_say_so(make_row) -> None:
    first = _rows(make_row, "a", "1111110000")
    second = _rows(make_row, "b", "0000000000", state_hash="another")
    found = compare(first, second)
    assert found.test == "Boschloo" and found.pairs is None
    assert found.note.startswith("not paired: the initial states differ in tabletop push_button scene 0")
    assert found.p_value is not None and found.p_value < 0.05
    assert "on 10 and 10 scenes" in found.words("a", "b")
    assert ". Not paired: the initial states" in found.words("a", "b")


def test_other_tasks_are_not_comparable(make_row) -> None:
    found = compare(_rows(make_row, "a", "11"), _rows(make_row, "b", "00", task="open_drawer"))
    assert (
        found.test is None and found.p_value is None and found.interval is None and found.difference is None
    )
    assert found.needed is None
    assert found.words("a", "b") == (
        "a and b are not comparable: they were not played on the same tasks of the same environment."
    )


def test_a_method_with_two_verdicts_on_a_scene_is_not_comparable(make_row) -> None:
    found = compare(_rows(make_row, "a", "11") * 2, _rows(make_row, "b", "00"))
    assert found.test is None and "two verdicts" in found.note


def test_a_method_without_verdicts_is_not_comparable(make_row) -> None:
    errors = _rows(make_row, "b", "00", status="error", error="crash")
    assert "no episode with a verdict" in compare(_rows(make_row, "a", "11"), errors).words("a", "b")
    assert of_pairs({}).note == "there are no pairs"


def test_verdicts_without_a_partner_are_counted(make_row) -> None:
    found = compare(_rows(make_row, "a", "11111"), _rows(make_row, "b", "000"))
    assert found.first == Rate(3, 3)
    assert found.note == "2 verdicts on scenes that the other lacks are left out"


def test_several_tasks_are_a_sample_of_tasks_beside(make_row) -> None:
    marks = {"push_button": ("1110", "0000"), "lamp_off": ("1100", "0100"), "open_drawer": ("1000", "1010")}
    sides = [
        [row for task, both in marks.items() for row in _rows(make_row, name, both[side], task=task)]
        for side, name in enumerate("ab")
    ]
    found = compare(*sides)
    assert found.tasks == {
        "push_button": Pairs(0, 3, 0, 1),
        "lamp_off": Pairs(1, 1, 0, 2),
        "open_drawer": Pairs(1, 0, 1, 2),
    }
    assert found.pairs == Pairs(2, 4, 1, 5)
    # Means of 0.75, 0.25 and -0.25, so 0.25 ± 4.303 * 0.5 / sqrt(3), which ends at 1. Surpluses of 3, 1 and -1: six of the
    # eight ways to turn them add up to 3 or more, or to -3 or less.
    assert found.words("a", "b").endswith(
        "With its 3 tasks as a sample of tasks: +25.0 points, -99.2 to +100.0, sign-flip p = 0.75."
    )


def test_unpaired_scenes_that_would_decide() -> None:
    found = of_rates(Rate(27, 45), Rate(33, 45))
    assert found.needed == power.scenes_unpaired(27 / 45, 33 / 45).scenes


@pytest.mark.parametrize("n", [10, 15])
def test_an_interval_leaves_out_zero_exactly_where_the_unpaired_test_rejects(n: int) -> None:
    for a in range(n + 1):
        for b in range(0, n + 1, 2):
            found = of_rates(Rate(a, n), Rate(b, n))
            assert found.p_value is not None and found.interval is not None
            low, high = found.interval
            assert (found.p_value <= 0.05) == (not low <= 0 <= high), (a, b)


def test_a_family_is_corrected(make_row) -> None:
    groups = {
        "voxposer": _rows(make_row, "voxposer", "1" * 10 + "0" * 20),
        "mtp": _rows(make_row, "mtp", "1" * 18 + "0" * 12),
        "retry": _rows(make_row, "retry", "1" * 15 + "0" * 15),
    }
    found = family({(a, b): compare(groups[a], groups[b]) for a, b in combinations(groups, 2)})
    p = {pair: comparison.p_value for pair, comparison in found.comparisons.items()}
    assert p[("voxposer", "mtp")] == pytest.approx(mcnemar(Pairs(0, 0, 8, 0)))
    assert p[("voxposer", "retry")] == pytest.approx(2 / 2**5)
    assert found.adjusted == pytest.approx(
        {("voxposer", "mtp"): 6 / 2**8, ("voxposer", "retry"): 0.125, ("mtp", "retry"): 0.25}
    )
    words = found.words()[1]
    assert words.startswith("voxposer and retry cannot be told apart") and "0.12 after Holm's" in words
    assert found.letters() == {"mtp": "a", "retry": "ab", "voxposer": "b"}
    assert found.letters(alpha=0.2) == {"mtp": "a", "retry": "a", "voxposer": "b"}


def test_what_cannot_be_compared_is_no_part_of_a_family() -> None:
    found = family(
        {
            ("a", "b"): of_rates(Rate(0, 0), Rate(30, 30)),
            ("b", "c"): of_rates(Rate(6, 6), Rate(0, 6)),
        }
    )
    assert found.adjusted[("a", "b")] is None
    assert found.adjusted[("b", "c")] == found.comparisons[("b", "c")].p_value
