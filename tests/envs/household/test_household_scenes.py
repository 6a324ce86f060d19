"""What holds for every task and scene: what is described, what is drawn, what each camera can and cannot see."""

import string
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from envs.household import Household
from envs.household.tasks.counting import INGREDIENTS, dots
from envs.household.tasks.object_search import BOXES, SORTS, THINGS
from envs.household.tasks.rearrangement import CHEST, TOYS
from envs.household.words import Wording
from harness.failures import PerceptionFailure, UsageError
from harness.protocols import Actuation, LongHorizon
from harness.seeding import Seeds
from harness.testing.conformance import check_environment

ALL = ("counting", "object_search", "rearrangement")
SUBTASKS = {"counting": 7, "object_search": 6, "rearrangement": 6}
STEPS = {"counting": 1200, "object_search": 1450, "rearrangement": 1035}


def reset(env, task, index=0, seed=0, trial=0):
    return env.reset(task, index, Seeds("household", task, index, seed, trial))


def marked(env, camera):
    return {mark.name for mark in env.view(camera).marks} - {"gripper"}


def above(env, kit, place):
    expert = kit.Expert(env)
    expert.inspect(place)


def test_it_conforms():
    check_environment(Household(renderer="rays"), "household", scenes=(0,))


def test_importing_the_description_is_light():
    code = (
        "import sys, envs.household as h\n"
        "assert [task.name for task in h.Household().suite()]\n"
        "print(sorted({'mujoco', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_suite_is_the_papers():
    config = Household()
    assert {task.name: task.step_limit for task in config.suite()} == STEPS
    assert config.interfaces() == (Actuation, LongHorizon)
    for task in config.suite():
        assert len(set(task.instructions)) == len(task.instructions) >= 3


@pytest.mark.parametrize("name", ALL)
def test_a_scene_has_the_papers_subtasks_and_words_for_them(scene, name):
    for index in range(5):
        env = scene(name, index)
        subtasks = env.subtasks()
        assert len(subtasks) == SUBTASKS[name]
        verdict = env.verdict()
        assert (verdict.subtasks_done, verdict.subtasks, verdict.success) == (0, SUBTASKS[name], False)
        assert [subtask.stage for subtask in subtasks] == sorted(subtask.stage for subtask in subtasks)
        assert {subtask.stage for subtask in subtasks} == {0, 1}
        assert all(subtask.done_at is None for subtask in subtasks)
        assert env.current_subtask() == 0
        assert env.utterances() == []
        for wording in env.world.task.instructions:
            fields = {field for _, field, _, _ in string.Formatter().parse(wording) if field}
            assert fields == set(env.world.variation)


@pytest.mark.parametrize("name", ALL)
def test_scenes_differ_and_repeat_to_the_bit(household, name):
    first = {index: reset(household, name, index) for index in range(10)}
    assert len({entry.state_hash for entry in first.values()}) == 10
    assert len({tuple(entry.variation.items()) for entry in first.values()}) > 4
    assert reset(household, name, 3, seed=1, trial=2) == first[3]
    fresh = Household(noise=0).open()
    assert reset(fresh, name, 3) == first[3]
    fresh.close()


@pytest.mark.parametrize("name", ALL)
def test_the_same_actions_give_the_same_run_with_the_user_in_it(household, kit, name):
    ends = []
    for _ in range(2):
        reset(household, name, 5)
        expert = kit.Expert(household)
        for subtask in household.subtasks()[2:4]:
            expert.do(subtask.text)
        household.world.memo["stages"][1].change(household.world)
        expert.wait(10)
        ends.append((household.world.data.qpos.copy(), household.subtasks(), household.utterances()))
    assert (ends[0][0] == ends[1][0]).all()
    assert ends[0][1:] == ends[1][1:]


@pytest.mark.parametrize("index", range(8))
def test_no_camera_sees_into_the_boxes_from_where_the_arm_rests(scene, index):
    env = scene("object_search", index)
    inside = {thing for box in BOXES for thing in box.contents(env.world, THINGS)}
    assert len(inside) == 3
    assert {thing.split()[0] for thing in inside} == set(SORTS)
    variation = env.world.variation
    visible = {box.name for box in BOXES} | {"tray", variation["first"], variation["second"]}
    assert marked(env, "third_person") == visible
    assert not marked(env, "wrist") & set(THINGS)
    assert set(env.objects()) == visible


def test_a_box_is_seen_into_from_above(scene, kit):
    env = scene("object_search", 1)
    (thing,) = BOXES[0].contents(env.world, THINGS)
    with pytest.raises(PerceptionFailure) as hidden:
        env.cloud(thing)
    assert thing not in str(hidden.value).split("they see")[1]
    assert "'tray'" in str(hidden.value)
    above(env, kit, BOXES[0].name)
    view = env.view("wrist")
    (mark,) = (mark for mark in view.marks if mark.name == thing)
    (box,) = (mark for mark in view.marks if mark.name == BOXES[0].name)
    assert box.box[0] < mark.box[0] < mark.box[2] < box.box[2]
    assert thing not in marked(env, "third_person")
    assert thing in env.objects()
    assert env.cloud(thing).points.mean(axis=0)[:2] == pytest.approx(env.world.position(thing)[:2], abs=0.01)


def test_what_does_not_exist_and_what_is_hidden_fail_alike(scene):
    env = scene("counting", 0)
    ask = ("no such thing", dots("red beans")[0])
    told = []
    for name in ask:
        with pytest.raises(PerceptionFailure) as failure:
            env.cloud(name)
        told.append(str(failure.value).replace(name, "X"))
    assert told[0] == told[1]
    assert "picture" not in told[0]
    assert len(env.cloud("Gripper.").points) > 10
    assert len(env.cloud("table").points) > 100


@pytest.mark.parametrize("index", range(6))
def test_the_card_is_read_by_the_wrist_camera_alone(scene, kit, index):
    env = scene("counting", index)
    pictures = {dot for name in INGREDIENTS for dot in dots(name)}
    assert "recipe card" in marked(env, "third_person")
    assert not pictures & (marked(env, "third_person") | marked(env, "wrist") | set(env.objects()))
    above(env, kit, "recipe card")
    asked = {
        fact.value for subtask in env.subtasks()[1:] for fact in subtask.facts if fact.relation == "asks for"
    }
    drawn = [name.removeprefix("picture of ").rsplit(" ", 1)[0] for name in marked(env, "wrist") & pictures]
    assert {f"{drawn.count(name)} {name}" for name in set(drawn)} == asked
    assert not pictures & marked(env, "third_person")


def test_a_dot_is_large_enough_to_be_told_from_the_card(scene, kit):
    env = scene("counting", 0)
    above(env, kit, "recipe card")
    image = env.render("wrist")
    for mark in env.view("wrist").marks:
        if not mark.name.startswith("picture of "):
            continue
        left, top, right, bottom = mark.box
        assert right - left >= 10 and bottom - top >= 8
        colour = image[(top + bottom) // 2, (left + right) // 2].astype(float)
        meant = np.array(INGREDIENTS[mark.name.removeprefix("picture of ").rsplit(" ", 1)[0]])
        # Of the same hue, whatever the light.
        assert colour / np.linalg.norm(colour) == pytest.approx(meant / np.linalg.norm(meant), abs=0.12)


def test_both_recipes_come_up_and_every_ingredient(scene):
    batches, kinds = set(), set()
    for index in range(12):
        env = scene("counting", index)
        batches.add(env.world.variation["batches"])
        kinds |= {
            fact.value for subtask in env.subtasks() for fact in subtask.facts if fact.relation == "asks for"
        }
    assert batches == {"one batch", "two batches"}
    assert {kind.split(" ", 1)[1] for kind in kinds} == set(INGREDIENTS)


@pytest.mark.parametrize("index", range(6))
def test_toys_stand_in_sight_on_mats_and_nothing_is_in_the_chest(scene, index):
    env = scene("rearrangement", index)
    seen = marked(env, "third_person")
    assert len(seen & set(TOYS)) == 3
    assert {"chest", "left mat", "middle mat", "right mat"} <= seen
    assert CHEST.contents(env.world, TOYS) == []
    assert not marked(env, "wrist") & set(TOYS)
    words = env.world.variation
    assert words["host"] != words["guest"] and {words["host"], words["guest"]} <= seen


def test_left_is_left_in_the_third_person_picture(scene):
    env = scene("object_search", 0)
    boxes = {mark.name: mark.box for mark in env.view("third_person").marks}
    assert boxes["left box"][2] < boxes["middle box"][0] + 10 < boxes["right box"][0]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rounds_have_four_subtasks_each(rounds):
    config = Household(tasks=["object_search"], rounds=rounds, noise=0)
    task = next(task for task in config.suite() if task.name == "object_search")
    assert task.step_limit == 970 * rounds
    env = config.open()
    reset(env, "object_search")
    subtasks = env.subtasks()
    assert [subtask.stage for subtask in subtasks] == [stage for stage in range(rounds) for _ in range(4)]
    assert [subtask.text.split()[0] for subtask in subtasks] == [
        "inspect",
        "inspect",
        "inspect",
        "pick",
    ] * rounds
    env.close()


@pytest.mark.parametrize("rounds", [0, 4, -1])
def test_another_number_of_rounds_is_refused(rounds):
    with pytest.raises(UsageError, match=f"rounds is {rounds}"):
        Household(rounds=rounds).suite()


def test_other_names_are_shown_and_said_everywhere():
    rename = {"left box": "crate", "plush bear": "cuddly bear", "red beans": "kidney beans", "pot": "kettle"}
    config = Household(noise=0, rename=rename)
    plain, renamed = Household(noise=0).open(), config.open()
    said = "\n".join(text for task in config.suite() for text in task.instructions)
    assert "into the kettle" in said and "pot" not in said.split()
    for task in ("object_search", "counting"):
        for index in range(6):
            before, after = reset(plain, task, index), reset(renamed, task, index)
            assert after.state_hash == before.state_hash
            assert [subtask.text for subtask in renamed.subtasks()] == [
                Wording(rename).put(subtask.text) for subtask in plain.subtasks()
            ]
            words = " ".join([*after.variation.values(), *(subtask.text for subtask in renamed.subtasks())])
            words += " ".join(
                f"{fact.subject} {fact.value}" for sub in renamed.subtasks() for fact in sub.facts
            )
            assert not [name for name in rename if f" {name} " in f" {words} "]
    assert {"kidney beans 1", "kidney beans 2", "kettle"} <= marked(renamed, "third_person")
    assert len(renamed.cloud("kidney beans 1").points) > 10
    plain.close()
    renamed.close()


def test_a_phrase_is_replaced_as_a_whole_and_the_longest_first():
    put = Wording({"box": "bin", "left box": "crate", "red": "blue"}).put
    assert (
        put("left box, box 2, boxes, red red beans, reddish")
        == "crate, bin 2, boxes, blue blue beans, reddish"
    )
    assert Wording({}).put("left box") == "left box"
    # Names may be exchanged.
    assert Wording({"a": "b", "b": "a"}).put("a b") == "b a"


def test_reworded_instructions_are_taken():
    config = Household(reword={"counting": ["cook for {person}"]})
    found = {task.name: task for task in config.suite()}
    assert found["counting"].instructions == ("cook for {person}",)
    assert found["rearrangement"] == replace(
        next(task for task in Household().suite() if task.name == "rearrangement")
    )
