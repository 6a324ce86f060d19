"""The scripted executor in the household's physics, with the sensors' noise. Tests give it the texts of subtasks, right
ones and wrong ones; whether they were done is asked of the oracle by the test, never by the executor."""

from collections import Counter

import pytest

from harness.failures import StepLimit
from harness.seeding import Seeds
from methods.executors import Refusal
from methods.executors.scripted import Scripted
from methods.executors.senses import Senses

MOST = 250
"""Control steps for a subtask, five or six times what one takes."""
SCENES = {
    "object_search": range(1000, 1004),
    "counting": range(1000, 1002),
    "rearrangement": range(1000, 1004),
}


class Unspoiled(Senses):
    """What an executor gets, with everything else of the environment out of its reach."""

    def __init__(self, env):
        super().__init__(_Sensing(env))


class _Sensing:
    ALLOWED = ("action_limits", "cameras", "cloud", "objects", "observation", "rest", "steps", "view")

    def __init__(self, env):
        self._real = env

    def __getattr__(self, name):
        if name not in self.ALLOWED:
            raise AssertionError(f"an executor asked for {name}")
        return getattr(self._real, name)


def reset(env, task, scene):
    env.reset(task, scene, Seeds("household", task, scene, 0))


def run(env, executor, text, until, most=MOST):
    """The loop of a subtask; a refusal ends it."""
    senses, first = Unspoiled(env), env.steps()
    executor.reset(text)
    while not until() and env.steps() < first + most:
        answer = executor.act(senses)
        if isinstance(answer, Refusal):
            return answer
        for action in answer[:5]:
            env.act(action)
    return None


def done(env):
    return [subtask.done_at is not None for subtask in env.subtasks()]


def follow(env, texts):
    """Do the subtasks that the test says, once each and in this order; the hand rests while the user speaks."""
    executor = Scripted().open()
    try:
        for index, text in enumerate(texts):
            if env.current_subtask() is None:
                run(env, executor, "go to rest", lambda: env.current_subtask() is not None, 60)
            run(env, executor, text, lambda at=index: done(env)[at])
    except StepLimit:
        pass
    return sum(done(env))


@pytest.mark.slow
@pytest.mark.parametrize("task", list(SCENES))
def test_right_words_get_nearly_all_subtasks_done(household, task):
    counts = Counter()
    for scene in SCENES[task]:
        reset(household, task, scene)
        texts = [subtask.text for subtask in household.subtasks()]
        counts["done"] += follow(household, texts)
        counts["all"] += len(texts)
        assert household.steps() <= household.world.task.step_limit
    assert counts["done"] >= 0.9 * counts["all"], counts


def test_a_toy_gets_from_its_mat_into_the_chest(household):
    reset(household, "rearrangement", 1000)
    texts = [subtask.text for subtask in household.subtasks()]
    executor = Scripted().open()
    assert run(household, executor, texts[0], lambda: done(household)[0]) is None
    assert done(household) == [True, False, False, False, False, False]
    assert household.steps() < 120


def test_a_box_is_inspected_from_above(household):
    reset(household, "object_search", 1000)
    executor = Scripted().open()
    assert run(household, executor, "look into the middle box", lambda: done(household)[1]) is None
    assert done(household) == [False, True, False, False, False, False]


def test_other_words_for_the_same_and_a_note(household):
    reset(household, "object_search", 1001)
    right = household.subtasks()[3].text
    thing, box = right.removeprefix("pick up ").split(" from table and place it to ")
    executor = Scripted().open()
    text = f"[current] 4. Put the {thing} into the {box} (it holds things of its sort)."
    run(household, executor, text, lambda: done(household)[3])
    assert done(household)[3]


def test_a_wrong_box_is_no_success(household):
    """It does what was said, and that is not what was to be done."""
    reset(household, "object_search", 1000)
    right = household.subtasks()[3].text
    thing, box = right.removeprefix("pick up ").split(" from table and place it to ")
    wrong = next(name for name in ("left box", "middle box", "right box") if name != box)
    executor = Scripted().open()
    assert run(household, executor, f"put {thing} into {wrong}", lambda: done(household)[3], 140) is None
    assert not any(done(household)[3:])
    inside = household.world.position(thing) - household.world.position(wrong)
    assert abs(inside[0]) < 0.06
    assert abs(inside[1]) < 0.06


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pick up {hidden} and place it to tray", "unseen"),
        ("pick up {hidden} from table and place it to tray", "unseen"),
        ("pick up golden crown from table and place it to tray", "unseen"),
        ("pick up {first} from left box and place it to tray", "elsewhere"),
        ("put something that {person} likes on the tray", "unseen"),
        ("find out what is where", "words"),
    ],
)
def test_a_wrong_text_is_refused_and_nothing_is_moved(household, text, reason):
    reset(household, "object_search", 1002)
    words = household.world.variation
    hidden = next(
        name
        for name in household.world.parts
        if name not in household.objects() and household.world.position(name)[2] > 0
    )
    executor = Scripted().open()
    said = text.format(hidden=hidden, first=words["first"], person=words["person"])
    answer = run(household, executor, said, lambda: False, 150)
    # Having looked into a box on the way counts as such; nothing else may.
    assert (answer.reason, any(done(household)[3:])) == (reason, False)


def test_a_thing_in_another_box_than_said_is_not_found(household):
    """The executor looks where it was told, and knows of no other place."""
    reset(household, "object_search", 1003)
    hidden = [
        (name, box)
        for name in household.world.parts
        for box in ("left box", "middle box", "right box")
        if name.split()[0] in ("plush", "snack", "wooden") and household.world.position(name)[2] > 0
        if abs(household.world.position(name) - household.world.position(box))[:2].max() < 0.06
    ]
    thing, box = hidden[0]
    wrong = next(other for _, other in hidden if other != box)
    text = f"pick up {thing} from {wrong} and place it to tray"
    answer = run(household, Scripted().open(), text, lambda: False, 150)
    assert (answer.reason, f"{thing!r} in {wrong!r}" in answer.message) == ("unseen", True)


def test_without_a_reset_a_second_portion_is_not_taken(household):
    reset(household, "counting", 1000)
    texts = [subtask.text for subtask in household.subtasks()]
    executor = Scripted().open()
    run(household, executor, texts[1], lambda: False, 200)
    assert done(household)[1]
    pot = household.world.position("pot")
    portions = [
        name for name in household.world.parts if name[-1].isdigit() and not name.startswith("picture")
    ]
    inside = [name for name in portions if abs(household.world.position(name) - pot)[:2].max() < 0.06]
    assert len(inside) == 1
