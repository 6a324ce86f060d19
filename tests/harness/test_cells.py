from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.cells import Cell, check_name, unique
from harness.failures import UsageError

MakeCell = Callable[..., Cell]


def test_identity_is_what_can_change_a_result(make_cell: MakeCell) -> None:
    base = make_cell().identity
    same = [{"run": {"workers": 7}}, {"name": "other"}, {"record": {"video": "all"}}, {"env": {"scenes": 50}}]
    same += [{"env": {"tasks": ["task0"]}}, {"env": {"instructions": "all"}}]
    other = [
        {"seed": 1},
        {"env": {"rate": 0.4}},
        {"method": {"trials": 2}},
        {"sampling": {"temperature": 1.0}},
    ]
    assert {make_cell(**change).identity for change in same} == {base}
    assert len({base, *(make_cell(**change).identity for change in other)}) == 1 + len(other)


def test_another_choice_of_episodes_is_another_cell_only_where_they_hang_on_each_other(
    make_cell: MakeCell,
) -> None:
    def identities(**method: object) -> set[str]:
        return {make_cell(method=method, env={"scenes": scenes}).identity for scenes in (1, 2)}

    assert len(identities()) == 1
    assert len(identities(one_by_one=True)) == 2


def test_the_name_of_a_config_is_part_of_the_identity(make_cell: MakeCell) -> None:
    cell = make_cell()
    renamed = Cell(cell.config, {**cell.choices, "method": "other"})
    assert renamed.identity != cell.identity


def test_episodes_are_tasks_by_scenes_by_instructions(make_cell: MakeCell) -> None:
    episodes = make_cell(env={"size": 2, "scenes": 2, "instructions": "all"}).episodes()
    assert [str(key) for key in episodes][:4] == ["task0-s0-i0", "task0-s0-i1", "task0-s1-i0", "task0-s1-i1"]
    assert len(episodes) == 8
    assert {key.instruction for key in make_cell().episodes()} == {0}
    varied = make_cell(env={"instructions": "varied", "scenes": 20}).episodes()
    assert {key.instruction for key in varied} == {0, 1}
    assert varied == make_cell(seed=3, env={"instructions": "varied", "scenes": 20}).episodes()
    paraphrased = make_cell(env={"instructions": "paraphrased", "scenes": 20}).episodes()
    assert {key.instruction for key in paraphrased} == {1}


def test_tasks_narrow_and_keep_the_order_given(make_cell: MakeCell) -> None:
    episodes = make_cell(env={"tasks": ["task2", "task0", "task2"], "scenes": 1}).episodes()
    assert [key.task for key in episodes] == ["task2", "task0"]


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"tasks": ["taks1"]}, "Did you mean task1"),
        ({"tasks": []}, "env.tasks is empty"),
        ({"tasks": "task1"}, "env.tasks"),
        ({"scenes": 0}, "at least 1"),
        ({"scenes": -3}, "at least 1"),
        ({"instructions": "some"}, "single, varied, paraphrased, all"),
    ],
)
def test_bad_selections_are_refused(make_cell: MakeCell, env: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_cell(env=env).episodes()


def test_equal_cells_are_played_once(make_cell: MakeCell) -> None:
    assert len(unique([make_cell(), make_cell(run={"workers": 2}), make_cell(seed=1)])) == 2
    assert len(unique([make_cell(), make_cell(env={"scenes": 2})])) == 2


def test_folder_names_are_legal(make_cell: MakeCell) -> None:
    cell = make_cell()
    odd = Cell(cell.config, {**cell.choices, "method": "a/b c:ü" * 30})
    assert len(odd.folder_name) < 100
    assert not set(odd.folder_name) & set("/ :\\ü")
    for name in ("", "/etc", "../x"):
        with pytest.raises(UsageError, match="cannot name a folder"):
            check_name(name)
    check_name("mtp/table-1_b")
