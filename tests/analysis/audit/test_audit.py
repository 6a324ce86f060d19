"""Each kind of inconsistency by a small example, and the numbers of the two papers."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from statistics import stdev

import pytest

from analysis.audit import audit, countable
from analysis.audit.findings import Finding
from analysis.audit.numbers import read
from analysis.published import PUBLISHED

ORIGINAL = ["paper", "item", "method", "benchmark", "task", "metric", "value", "spread", "unit", "episodes"]


def _found(findings: list[Finding]) -> list[tuple[str, list[str]]]:
    """Kind, and the numbers that it is about as `item method task`, in order."""
    return [(f.kind, sorted({f"{n.item} {n.method} {n.task}" for n in f.numbers})) for f in findings]


def test_the_papers_inconsistencies_are_found_and_nothing_else() -> None:
    findings = audit(read(PUBLISHED).numbers)
    expected = [
        # MTP: the spread of Retry in table VI is another one
        ("repeat", ["table1 retry all", "table5 retry all", "table6 retry all"]),
        # MTP: five paraphrases of 50 tasks, three times, would be 750 episodes
        (
            "grid",
            [f"table2 {m} paraphrased_instructions" for m in ("mtp", "retry", "self_reflection", "voxposer")],
        ),
        # MTP: Retry on CALVIN in table VI is VoxPoser's value
        ("label", [f"{item} retry single_instruction" for item in ("table2", "table5", "table6")]),
        # MTP: 30 % and 75 % on the UR5
        (
            "average",
            [
                f"table4 voxposer {t}"
                for t in ("all", "move_object", "push_button", "remove_lid", "rotate_box")
            ],
        ),
        (
            "average",
            [f"table4 mtp {t}" for t in ("all", "move_object", "push_button", "remove_lid", "rotate_box")],
        ),
        # MTP: 49.3 on RLBench
        ("mean", ["table5 mtp_no_adaptation all"]),
        # HiMe: figure 4's legend against the text and table 2
        ("label", ["figure4 flat all", "text hime_no_sentry all"]),
        (
            "label",
            [f"figure4 hime_no_sentry {t}" for t in ("counting", "object_search", "rearrangement")]
            + [f"table2 flat {t}" for t in ("counting", "object_search", "rearrangement")],
        ),
        ("label", ["figure4 hime_no_sentry all", "text flat all"]),
        # HiMe: integers printed with a decimal in table 9
        ("mean", ["table9 hime rearrangement"]),
        ("mean", ["table9 hime_fifo rearrangement"]),
    ]
    assert _found(findings) == expected


@pytest.mark.parametrize(
    ("kind", "about", "said"),
    [
        ("average", "table4 voxposer all", "0 + 1 + 3 + 0 = 4 of 20 would be 20.0 %."),
        ("average", "table4 mtp all", "5 + 3 + 4 + 2 = 14 of 20 would be 70.0 %."),
        ("label", "table6 retry single_instruction", "52.0 ± 2.0 of table6 stands in table2 under voxposer."),
        ("repeat", "table6 retry all", "55.6 ± 6.7 in table1, table5; 55.6 ± 6 in table6"),
        ("mean", "table5 mtp_no_adaptation all", "66 give 48.89 % and 67 give 49.63 %"),
        ("mean", "table5 mtp_no_adaptation all", "would fit: 74 of 150, in runs of 50 with 23, 25, 26"),
        (
            "grid",
            "table2 mtp paraphrased_instructions",
            "47.3 ± 2.3: 71 of 150, in runs of 50 with 23, 23, 25",
        ),
        ("grid", "table2 mtp paraphrased_instructions", "in runs of 50 with 25, 29, 30 or 26, 27, 31"),
        ("label", "table2 flat counting", "64, 58, 73 of table2 stand in figure4 under hime_no_sentry"),
        ("mean", "table9 hime rearrangement", "104 give 86.67 % and 105 give 87.50 %"),
        ("mean", "table9 hime_fifo rearrangement", "Printed as 64, without"),
        ("mean", "table9 hime_fifo rearrangement", "it would fit: 77 of 120."),
    ],
)
def test_a_finding_gives_the_counts_that_would_fit(kind: str, about: str, said: str) -> None:
    findings = audit(read(PUBLISHED).numbers)
    texts = [
        str(f)
        for f in findings
        for n in f.numbers
        if f"{n.item} {n.method} {n.task}" == about and f.kind == kind
    ]
    assert texts and said in texts[0]


def _copy(target: Path, columns: list[str], **changed: str) -> Path:
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        lines = [{**line, **changed} for line in csv.DictReader(file)]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
    return target


def test_the_notes_change_nothing(tmp_path: Path) -> None:
    columns = [*ORIGINAL, "runs", "label", "setting", "note"]
    copy = _copy(tmp_path / "copy.csv", columns, note="not attainable from 135 episodes")
    assert list(map(str, audit(read(copy).numbers))) == list(map(str, audit(read(PUBLISHED).numbers)))


def test_without_runs_labels_and_settings_the_rest_is_found(tmp_path: Path) -> None:
    findings = _found(audit(read(_copy(tmp_path / "copy.csv", ORIGINAL)).numbers))
    kinds = [kind for kind, _ in findings]
    assert kinds.count("average") == 2 and kinds.count("mean") == 3 and kinds.count("repeat") == 1
    assert kinds.count("grid") == 1
    assert [about for kind, about in findings if kind == "label"] == [
        [f"{item} retry single_instruction" for item in ("table2", "table5", "table6")]
    ]
    settings = [about for kind, about in findings if kind == "setting"]  # figure 9 has another planner
    assert len(settings) == 1 and "figure9a flat rearrangement" in settings[0]
    assert len(findings) == 9


def _paper(random: Random) -> list[dict[str, object]]:
    """A table of three methods on four tasks over three runs, its averages, and a second one that repeats them."""
    lines: list[dict[str, object]] = []
    size = random.choice([1, 5, 10, 25])
    for method in ("a", "b", "c"):
        rate = random.random()
        counts = [[sum(random.random() < rate for _ in range(size)) for _ in range(3)] for _ in range(4)]
        for task, per_run in enumerate(counts):
            line = {"method": method, "task": f"t{task}", "episodes": 3 * size, "runs": 3}
            shares = [100 * count / size for count in per_run]
            lines.append(line | {"value": f"{sum(shares) / 3:.1f}", "spread": f"{stdev(shares):.1f}"})
        totals = [100 * sum(task[run] for task in counts) / (4 * size) for run in range(3)]
        for item in ("table1", "table2"):
            value, spread = f"{sum(totals) / 3:.1f}", f"{stdev(totals):.1f}"
            line = {"item": item, "method": method, "task": "all", "episodes": 12 * size, "runs": 3}
            lines.append(line | {"value": value, "spread": spread})
    return lines


def test_consistent_papers_give_no_finding(numbers_of) -> None:
    random = Random(7)
    for _ in range(60):
        numbers = numbers_of(*_paper(random))
        assert list(map(str, audit(numbers))) == []
        assert countable(numbers) == len(numbers)


def test_slips_in_a_mean_are_found_wherever_the_episodes_can_show_them(numbers_of) -> None:
    random = Random(8)
    for _ in range(40):
        lines = _paper(random)
        line = random.choice([line for line in lines if line["task"] != "all"])
        episodes = int(str(line["episodes"]))
        slip = round(float(str(line["value"])) + random.choice([-2, 2]) * 0.1, 1)
        line["value"] = f"{slip:.1f}"
        shows = all(abs(slip - 100 * count / episodes) > 0.0501 for count in range(episodes + 1))
        found = audit(numbers_of(*lines))
        assert shows == any(f.kind in ("mean", "range") for f in found)


def test_a_mean_that_was_cut_off(audit_of) -> None:
    (finding,) = audit_of({"value": "66.6", "episodes": 15})
    assert finding.kind == "mean"
    assert finding.fits == "Cut off instead of rounded it would fit: 10 of 15."


def test_a_spread_with_n_in_its_denominator(audit_of) -> None:
    line = {"value": "39.3", "episodes": 135, "runs": 3}
    assert audit_of(line | {"spread": "3.4"}) == []
    (finding,) = audit_of(line | {"spread": "2.8"})
    assert finding.kind == "spread"
    assert "No counts of 3 runs of 45 episodes give 39.3 ± 2.8." in finding.problem
    assert "The nearest spreads are 2.6 (17, 17, 19) and 3.4 (16, 18, 19)." in finding.problem
    assert finding.fits == "With n instead of n - 1 in its denominator: 16, 18, 19."


def test_a_spread_of_one_run(audit_of) -> None:
    (finding,) = audit_of({"value": "32.0", "spread": "0.0", "episodes": 50, "runs": 1})
    assert finding.kind == "spread" and "one run, which has no spread" in finding.problem


def test_a_spread_whose_runs_are_not_known_is_tried_with_all(audit_of) -> None:
    assert audit_of({"value": "39.3", "spread": "3.4", "episodes": 135}) == []
    (finding,) = audit_of({"value": "39.3", "spread": "3.3", "episodes": 9 * 15, "runs": 3})
    assert finding.kind == "spread"
    (finding,) = audit_of({"value": "50.0", "spread": "60.0", "episodes": 50})
    assert "No counts of 50 episodes in 2 to 10 equal runs give 50.0 ± 60.0." in finding.problem
    assert finding.problem.endswith("59.4 (2, 23) and 65.1 (1, 24).")
    assert audit_of({"value": "53.8", "spread": "3.3", "episodes": 13}) == []


@pytest.mark.parametrize("value", ["100.1", "-0.1", "250.0"])
def test_a_rate_beyond_all_or_nothing(audit_of, value: str) -> None:
    (finding,) = audit_of({"value": value, "episodes": 15})
    assert finding.kind == "range"


def test_a_count_beyond_its_episodes(audit_of) -> None:
    line = {"metric": "successes", "unit": "count of 5", "episodes": 5}
    assert audit_of(line | {"value": 5}) == [] and audit_of(line | {"value": 0}) == []
    assert [f.kind for f in audit_of(line | {"value": 6})] == ["range"]
    assert [f.kind for f in audit_of(line | {"value": 2.5})] == ["mean"]
    assert [f.kind for f in audit_of(line | {"value": 3, "episodes": 6})] == ["episodes"]


@pytest.mark.parametrize(("value", "episodes"), [("0.0", 7), ("100.0", 7), ("0", 1), ("100", 1)])
def test_none_and_all_are_consistent(audit_of, value: str, episodes: int) -> None:
    assert audit_of({"value": value, "episodes": episodes}) == []
    if episodes == 1:
        return
    assert audit_of({"value": value, "spread": "0.0", "episodes": 3 * episodes, "runs": 3}) == []


def test_rates_that_a_program_computed_are_consistent(audit_of) -> None:
    for episodes in (3, 7, 135, 750):
        lines = [
            {"method": f"m{k}", "value": repr(k / episodes), "unit": "fraction", "episodes": episodes}
            for k in range(0, episodes + 1, max(1, episodes // 10))
        ]
        assert [f.kind for f in audit_of(*lines) if f.kind != "grid"] == []


def test_numbers_of_any_size_are_decided_quickly(audit_of) -> None:
    assert audit_of({"value": "49.3", "spread": "2.1", "episodes": 10**9, "runs": 500}) == []
    assert audit_of({"value": "50.0", "spread": "3.0", "episodes": 3 * 10**8, "runs": 3}) == []
    assert [f.kind for f in audit_of({"value": "50.0", "spread": "90.0", "episodes": 15000, "runs": 3})] == [
        "spread"
    ]
    big = {"value": "50.00000001", "spread": "3.141592653", "episodes": 3 * 10**5, "runs": 3}
    assert [f.kind for f in audit_of(big, big | {"method": "other"})] == ["mean", "mean"]


def test_fractions_are_checked_as_percent_are(audit_of) -> None:
    assert (
        audit_of({"value": "0.393", "spread": "0.034", "unit": "fraction", "episodes": 135, "runs": 3}) == []
    )
    (finding,) = audit_of({"value": "0.493", "unit": "fraction", "episodes": 135})
    assert finding.kind == "mean"


def test_task_progress_counts_subtasks_where_they_are_given(audit_of) -> None:
    progress = {"metric": "task_progress", "value": "87.0", "episodes": 20}
    subtasks = {"metric": "subtasks", "value": 6, "unit": "count", "method": "protocol", "item": "table4"}
    assert audit_of(progress) == []
    assert [f.kind for f in audit_of(progress, subtasks)] == ["mean"]
    own = subtasks | {"method": "ours", "item": "table1", "value": 5}
    assert audit_of(progress, subtasks, own) == []  # 87 of 100


def test_other_metrics_are_not_taken_for_successes(audit_of) -> None:
    assert audit_of({"metric": "path_efficiency", "value": "49.3", "episodes": 15}) == []


def test_an_average_may_give_each_task_or_each_episode_a_vote(audit_of) -> None:
    rows = [
        {"task": "a", "value": "100.0", "episodes": 10},
        {"task": "b", "value": "0.0", "episodes": 30},
    ]
    for value in ("50.0", "25.0"):
        assert audit_of(*rows, {"task": "all", "value": value, "episodes": 40}) == []
    (finding,) = audit_of(*rows, {"task": "all", "value": "37.5", "episodes": 40})
    assert finding.kind == "average" and "average 25.0 to 50.0 %" in finding.problem


def test_an_average_has_the_room_that_its_rows_rounding_leaves(audit_of) -> None:
    rows = [{"task": task, "metric": "progress", "value": 33} for task in "abc"]
    for value, kinds in (("33", []), ("33.4", []), ("33.6", ["average"])):
        findings = audit_of(*rows, {"task": "all", "metric": "progress", "value": value})
        assert [f.kind for f in findings] == kinds


def test_rows_that_do_not_make_up_the_averages_episodes(audit_of) -> None:
    rows = [{"task": task, "value": "40.0", "episodes": 15} for task in "abc"]
    (finding,) = audit_of(*rows, {"task": "all", "value": "40.0", "episodes": 50})
    assert finding.kind == "episodes"
    assert "15 + 15 + 15 = 45 episodes" in finding.problem and "stand on 50" in finding.problem


def test_one_quantity_with_two_values(audit_of) -> None:
    first = {"value": "60.0", "episodes": 20}
    (finding,) = audit_of(first, {"item": "table2", "value": "65.0", "episodes": 20})
    assert finding.kind == "repeat" and "60.0 in table1; 65.0 in table2" in finding.problem
    assert [f.kind for f in audit_of(first, {"value": "65.0", "episodes": 20})] == ["repeat"]
    assert (
        audit_of(
            first, {"item": "table2", "value": "60"}, {"item": "text", "value": "0.6", "unit": "fraction"}
        )
        == []
    )
    for other in ({"setting": "x"}, {"method": "x"}, {"benchmark": "x"}, {"task": "x"}, {"paper": "x"}):
        assert audit_of(first, {"item": "table2", "value": "65.0", "episodes": 20} | other) == []


def test_labels_that_are_exchanged(audit_of) -> None:
    values = {"ours": (60, 70), "theirs": (40, 50)}
    lines = [
        {"item": item, "method": method, "task": task, "value": value}
        for item in ("table1", "figure1")
        for method in values
        for task, value in zip(
            "ab",
            values[method if item == "table1" else "theirs" if method == "ours" else "ours"],
            strict=True,
        )
    ]
    lines += [{"item": item, "method": "third", "task": "a", "value": 10} for item in ("table1", "figure1")]
    findings = audit_of(*lines)
    assert [f.kind for f in findings] == ["label", "label"]
    assert "60, 70 of table1 stand in figure1 under theirs." in findings[0].fits


def test_items_that_agree_in_nothing_are_two_settings(audit_of) -> None:
    lines = [
        {"item": item, "method": method, "value": value + shift}
        for item, shift in (("table1", 0), ("table2", 7))
        for method, value in (("a", 10), ("b", 25), ("c", 60))
    ]
    assert [f.kind for f in audit_of(*lines)] == ["setting"]
    agreeing = [{"item": item, "method": "d", "value": 80} for item in ("table1", "table2")]
    assert [f.kind for f in audit_of(*lines, *agreeing)] == ["repeat"] * 3
    assert [f.kind for f in audit_of(*lines[:2], *lines[3:5])] == ["repeat"] * 2


def test_a_column_that_looks_like_fewer_episodes(audit_of) -> None:
    column = [
        {"method": f"m{i}", "value": f"{value}", "episodes": 500}
        for i, value in enumerate((12.0, 36.0, 50.0, 74.0))
    ]
    (finding,) = audit_of(*column)
    assert finding.kind == "grid" and finding.fits.startswith("50 episodes would fit. 12.0: 6 of 50;")
    assert audit_of(*column[:1]) == []
    assert audit_of(*column, {"method": "m4", "value": "33.4", "episodes": 500}) == []
