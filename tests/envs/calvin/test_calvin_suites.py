"""The official chains from a checkout's own code, kept once drawn, and how they become tasks and scenes."""

import sys

import numpy as np
import pytest

from envs.calvin import suite
from envs.calvin.chains import COUNT, cache_file, official_chains
from envs.calvin.shims.hashing import fnv1_32
from envs.calvin.shims.sampling import SEQUENCES, state_of
from harness.failures import UsageError


def draws(checkout) -> int:
    return len((checkout.benchmark / SEQUENCES).with_name("calls").read_text())


def test_the_hash_multiplies_then_combines_the_bytes_of_utf_16():
    assert fnv1_32("") == 0
    assert fnv1_32("a") == 0x610098B3  # (0x61 * 0x01000193) ^ 0x00
    assert fnv1_32("ab") == ((0x610098B3 * 0x01000193 & 0xFFFFFFFF ^ 0x62) * 0x01000193) & 0xFFFFFFFF


def test_chains_are_drawn_once_and_kept(fake, capsys):
    chains = official_chains(fake)
    assert len(chains) == COUNT
    assert chains[1].tasks[0] == "turn_on_led" and len(chains[1].tasks) == 5
    assert str(cache_file(fake)) in capsys.readouterr().err
    official_chains.cache_clear()
    assert official_chains(fake) == chains
    assert capsys.readouterr().err == ""
    assert draws(fake) == 1


@pytest.mark.parametrize("damage", ["", "{", '{"format": 0, "chains": []}', '{"format": 1, "chains": []}'])
def test_a_damaged_file_is_made_anew(fake, damage, capsys):
    chains = official_chains(fake)
    cache_file(fake).write_text(damage)
    official_chains.cache_clear()
    assert official_chains(fake) == chains
    assert "damaged" in capsys.readouterr().err
    assert draws(fake) == 2


def test_other_sampling_code_has_another_file(fake):
    before = cache_file(fake)
    code = fake.benchmark / SEQUENCES
    code.write_text(code.read_text() + "\n# changed\n")
    assert cache_file(fake) != before


def test_a_cache_that_cannot_be_written_is_told(fake, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        official_chains(fake)


def test_what_stood_in_for_torch_is_gone_afterwards(fake):
    official_chains(fake)
    assert not [name for name in sys.modules if name.startswith(("calvin_agent", "engram_calvin"))]


def test_a_state_comes_from_the_checkouts_code_and_leaves_the_global_generator_alone(fake):
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    condition = {"drawer": "closed", "led": 1}
    robot, scene = state_of(fake.benchmark, condition)
    assert robot.shape == (15,) and robot[0] == np.pi
    np.testing.assert_array_equal(scene, state_of(fake.benchmark, condition)[1])
    assert (scene != state_of(fake.benchmark, {**condition, "led": 0})[1]).all()
    assert np.random.random() == expected


def test_code_without_the_function_is_told(fake):
    (fake.benchmark / SEQUENCES).with_name("utils.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="get_env_state_for_initial_condition"):
        official_chains(fake)


def test_paper50_is_what_the_first_fifty_chains_begin_with(fake):
    tasks = {task.name: task for task in suite.as_tasks(fake, "paper50")}
    shares = {name: task.share for name, task in tasks.items()}
    assert shares == {"open_drawer": 25, "turn_on_led": 13, "lift_red_block_table": 12}
    first = tasks["open_drawer"]
    assert first.instructions[0] == "please open_drawer"
    assert len(set(first.instructions)) == 1 + suite.PARAPHRASES
    assert set(first.instructions[1:]) < set(fake.training_sentences()["open_drawer"])
    assert first.step_limit == 360


def test_a_scene_is_the_nth_chain_that_begins_with_its_task(fake):
    chains = official_chains(fake)
    goal = suite.goal(fake, "turn_on_led", 2)
    assert goal.chain is chains[9]
    assert goal.subtasks == ("turn_on_led",) and goal.words == {}
    with pytest.raises(UsageError, match="250 scenes of turn_on_led"):
        suite.goal(fake, "turn_on_led", 250)


def test_a_chain_says_its_five_sentences_in_order(fake):
    (task,) = suite.as_tasks(fake, "chains")
    assert (task.step_limit, task.sentences) == (360, 5)
    goal = suite.goal(fake, task.name, 3)
    assert goal.subtasks == official_chains(fake)[3].tasks
    assert task.instructions[0].format_map(goal.words) == (
        "please lift_red_block_table, then please close_drawer, then please turn_on_led, "
        "then please turn_off_led, then please stack_block"
    )
    with pytest.raises(UsageError, match="1000 scenes of chain"):
        suite.goal(fake, task.name, 1000)
