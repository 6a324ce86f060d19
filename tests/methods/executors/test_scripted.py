"""What the scripted executor answers at one moment, on a table without physics."""

import numpy as np
import pytest

from methods.executors import Refusal
from methods.executors.scripted import CARRY, LOOK, Scripted
from methods.executors.senses import Senses

BOX = (0.06, 0.06, 0.045)
THING = (0.014, 0.014, 0.014)
FLAT = (0.05, 0.05, 0.002)


@pytest.fixture
def act(table):
    """`act(text, world)` gives the first answer to a subtask."""

    def answer(text, world):
        executor = Scripted().open()
        executor.reset(text)
        return executor.act(Senses(world))

    return answer


@pytest.fixture
def play(table):
    """`play(text, world, chunks)` asks and moves as the loop does; returns the last answer."""

    def run(text, world, chunks=12, executor=None):
        executor = executor or Scripted().open()
        executor.reset(text)
        for _ in range(chunks):
            answer = executor.act(Senses(world))
            if isinstance(answer, Refusal):
                return answer
            for action in answer[:5]:
                world.act(action)
        return answer

    return run


@pytest.fixture
def world(table):
    return table(
        left_box=((0.2, -0.17, 0.045), BOX),
        tray=((0.35, 0.0, 0.002), FLAT),
        mat=((0.35, 0.2, 0.002), FLAT),
        plush_bear=((0.35, -0.15, 0.014), THING),
        plush_frog=((0.35, 0.15, 0.014), THING),
    )


def test_a_chunk_has_ten_actions_within_the_limits(act, world):
    actions = act("pick up plush bear from table and place it to left box", world)
    assert actions.shape == (10, 7)
    assert (np.linalg.norm(actions[:, :3], axis=1) <= 0.02 + 1e-9).all()
    assert (np.linalg.norm(actions[:, 3:6], axis=1) <= 0.12 + 1e-9).all()
    assert (actions[:, 6] == 1).all()
    assert Scripted(horizon=7, executed=7).open().name == "scripted"


@pytest.mark.parametrize("values", [{"executed": 0}, {"horizon": 4}, {"horizon": 8, "executed": 9}])
def test_a_chunk_is_as_long_as_what_is_taken_of_it(values):
    with pytest.raises(ValueError, match=r"executed is 0|horizon is"):
        Scripted(**values)


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("wait for the user", "words", "not understood"),
        ("", "words", "not understood"),
        ("put plush bear on the table", "words", "where on the table is not clear"),
        ("inspect right box", "unseen", "no camera sees 'right box'; they see 'left box', 'tray'"),
        ("pick up teapot and place it to tray", "unseen", "no camera sees 'teapot'"),
        ("pick up plush bear and place it to shelf", "unseen", "no camera sees 'shelf'"),
        ("pick up plush bear from shelf and place it to tray", "unseen", "no camera sees 'shelf'"),
        ("pick up plush bear from tray and place it to left box", "elsewhere", "not at 'tray'"),
        ("pick up plush and place it to tray", "ambiguous", "'plush bear' or 'plush frog'"),
        ("inspect plush", "ambiguous", "'plush bear' or 'plush frog'"),
    ],
)
def test_what_it_cannot_do_it_refuses_with_a_reason(act, world, text, reason, said):
    answer = act(text, world)
    assert isinstance(answer, Refusal)
    assert answer.reason == reason
    assert said in answer.message


def test_a_hand_that_holds_something_else_is_refused(act, world):
    world.opening = 0.6
    world.tool = np.array([0.35, 0.15, CARRY])
    world.solids["plush frog"] = (tuple(world.tool), THING)
    answer = act("pick up plush bear from table and place it to tray", world)
    assert answer.reason == "hand"
    assert "holds 'plush frog'" in answer.message
    assert not isinstance(act("place plush frog to tray", world), Refusal)


def test_it_looks_from_above_the_middle_and_stays(play, world):
    last = play("inspect left box", world)
    assert world.tool == pytest.approx([0.2, -0.17, LOOK], abs=0.004)
    assert np.abs(last[:, :3]).max() < 0.003


def test_inspecting_keeps_the_fingers_as_they_are(act, world):
    world.opening = 0.6
    assert (act("inspect left box", world)[:, 6] == -1).all()


def test_rest_is_where_the_environment_says(play, world):
    world.tool = np.array([0.3, 0.1, 0.05])
    play("go to rest", world, 12)
    assert world.tool == pytest.approx([0.1, 0.0, 0.2], abs=0.004)


def test_a_low_hand_goes_up_before_it_travels(act, world):
    world.tool = np.array([0.2, -0.17, 0.05])
    for text in ("inspect tray", "go to rest", "pick up plush frog from table and place it to tray"):
        actions = act(text, world)
        assert np.abs(actions[:5, :2]).max() < 1e-9
        assert actions[0, 2] == pytest.approx(0.02)


def test_what_is_in_no_box_is_refused_only_after_a_look_into_it(play, world):
    executor = Scripted().open()
    answer = play("pick up snack bar from left box and place it to tray", world, 20, executor)
    assert (answer.reason, "in 'left box'" in answer.message) == ("unseen", True)
    assert world.tool == pytest.approx([0.2, -0.17, LOOK], abs=0.02)


def test_a_portion_is_put_once(table, play):
    """The bit that it keeps: after letting go it does not begin again, though there is more of it."""
    world = table(
        pot=((0.2, 0.1, 0.0425), BOX),
        plate=((0.35, 0.1, 0.002), FLAT),
        red_beans_1=((0.2, 0.1, CARRY), THING),
        red_beans_2=((0.35, 0.1, 0.014), THING),
    )
    world.tool, world.opening = np.array([0.2, 0.1, 0.065]), 0.6
    world.solids["red beans 1"] = ((0.2, 0.1, 0.065), THING)
    executor = Scripted().open()
    text = "pick up red beans from plate and place it to pot"
    executor.reset(text)
    release = executor.act(Senses(world))
    assert (release[:, 6] == 1).all()
    world.opening, world.solids["red beans 1"] = 1.0, ((0.2, 0.1, 0.014), THING)
    for _ in range(6):
        for action in executor.act(Senses(world))[:5]:
            world.act(action)
    assert world.tool == pytest.approx([0.2, 0.1, LOOK], abs=0.004)
    play(text, world, 2, executor)
    assert world.tool[0] > 0.25  # after a reset: the next portion


def test_the_rest_is_told_by_the_moment_alone(world):
    """Two executors, one of which has seen everything before: the same answer."""
    text = "pick up plush bear from table and place it to tray"
    old = Scripted().open()
    old.reset(text)
    for _ in range(8):
        answer = old.act(Senses(world))
        new = Scripted().open()
        new.reset(text)
        assert np.array_equal(answer, new.act(Senses(world)))
        for action in answer[:5]:
            world.act(action)


def test_a_seen_thing_on_its_target_is_left_there(play, world):
    world.solids["plush bear"] = ((0.35, 0.0, 0.014), THING)
    last = play("place plush bear to tray", world)
    assert world.tool == pytest.approx([0.35, 0.0, LOOK], abs=0.004)
    assert (last[:, 6] == 1).all()


def test_without_a_target_the_thing_is_kept_in_the_hand(act, world):
    world.opening, world.tool = 0.6, np.array([0.35, -0.15, 0.05])
    world.solids["plush bear"] = (tuple(world.tool), THING)
    actions = act("pick up plush bear", world)
    assert (actions[:, 6] == -1).all()
    assert 0.05 + actions[:, 2].sum() == pytest.approx(CARRY, abs=0.01)


def test_fingers_that_closed_on_nothing_go_up_and_open(act, world):
    world.opening, world.tool = 0.0, np.array([0.35, -0.15, 0.02])
    text = "pick up plush bear from table and place it to tray"
    up = act(text, world)
    assert (up[:, 6] == -1).all()
    assert up[0, 2] == pytest.approx(0.02)
    world.tool = np.array([0.35, -0.15, CARRY])
    assert act(text, world).tolist() == [[0, 0, 0, 0, 0, 0, 1]] * 10
