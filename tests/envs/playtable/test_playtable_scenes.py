"""The suite, its wordings, and how scenes begin: what a task needs is there, nothing is done yet, and a scene is the
same wherever and whenever it is laid out."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from envs.playtable import INSTANCES, Playtable, desk
from envs.playtable.setting import DESK_TOP
from envs.playtable.task import neighbours, rests_on, touched
from envs.playtable.tasks.stack_block import stacked
from harness.cells import Cell
from harness.failures import PerceptionFailure
from harness.seeding import Seeds
from harness.testing.conformance import check_environment

ALL = sorted(Playtable().definitions())
COLOURS = list(desk.BLOCKS)
HELD = ("stack_block", "place_in_slider", "place_in_drawer")
CONFIG = Path(__file__).parents[3] / "conf" / "env" / "playtable.yaml"
CALVIN = {
    *(
        f"{verb}_{colour}_block_{side}"
        for verb in ("rotate", "push")
        for colour in COLOURS
        for side in ("right", "left")
    ),
    *(f"lift_{colour}_block_{place}" for colour in COLOURS for place in ("table", "slider", "drawer")),
    *("move_slider_left", "move_slider_right", "open_drawer", "close_drawer"),
    *("place_in_slider", "place_in_drawer", "push_into_drawer", "stack_block", "unstack_block"),
    *("turn_on_lightbulb", "turn_off_lightbulb", "turn_on_led", "turn_off_led"),
}
"""The names of CALVIN's 34 tasks."""


def seeds(task, index=0, cell=0, trial=0):
    return Seeds("playtable", task, index, cell, trial)


def episodes(**changes):
    """The episodes of a run of `env=playtable` as configured, with some fields changed."""
    node = {**OmegaConf.to_container(OmegaConf.load(CONFIG)), **changes}
    return Cell({"env": node, "seed": 0}, {"env": "playtable", "method": "any"}).episodes()


# The suite


def test_the_tasks_are_calvins():
    assert len(ALL) == 34
    assert set(ALL) == CALVIN


def test_the_standard_suite_is_fifty_scenes_of_all_tasks():
    keys = episodes()
    assert len(keys) == INSTANCES == 50
    assert len(set(keys)) == 50
    times = Counter(key.task for key in keys)
    assert set(times) == CALVIN
    assert Counter(times.values()) == {1: 18, 2: 16}
    assert {key.scene for key in keys} == {0, 1}
    assert {key.instruction for key in keys} == {0}


def test_more_scenes_and_one_task_alone_are_multiples_of_the_suite():
    assert len(episodes(scenes=3)) == 150
    assert len(episodes(suite_of_50=False)) == 34
    assert len(episodes(suite_of_50=False, scenes=2, tasks=["open_drawer"])) == 2
    assert len(episodes(instructions="all")) == sum(
        len(task.instructions) * task.share for task in Playtable().suite()
    )


def test_importing_the_description_is_light():
    code = (
        "import sys, envs.playtable as p\n"
        "assert len(p.Playtable().suite()) == 34\n"
        "print(sorted({'mujoco', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ALL)
def test_a_task_has_a_single_instruction_and_five_paraphrases(name):
    instructions = Playtable().definitions()[name].instructions
    assert len(instructions) >= 6
    assert len({text.lower() for text in instructions}) == len(instructions)
    for text in instructions:
        assert text == text.strip().lower()
        assert "{" not in text


def test_no_wording_is_that_of_two_tasks():
    said = Counter(text for task in Playtable().definitions().values() for text in task.instructions)
    assert [text for text, times in said.items() if times > 1] == []


@pytest.mark.parametrize("name", ALL)
def test_an_instruction_says_which_block_and_which_way(name):
    """No paraphrase may leave out what tells the task from its siblings."""
    words = name.split("_")
    ways = {
        "right": ("right", "clockwise"),
        "left": ("left", "counterclockwise"),
        "on": ("on",),
        "off": ("off",),
    }
    for text in Playtable().definitions()[name].instructions:
        spoken = text.replace(",", " ").split()
        for colour in COLOURS:
            assert (colour in spoken) == (colour in words), text
        for way in ways.keys() & set(words):
            assert set(ways[way]) & set(spoken), text
            opposite = {"right": "left", "left": "right", "on": "off", "off": "on"}[way]
            if name.startswith(("rotate", "push", "move")):
                assert not set(ways[opposite]) & set(spoken), text
        if name.startswith("lift"):
            place = {"table": "desk", "slider": "shelf", "drawer": "drawer"}[words[-1]]
            assert place in spoken, text


# Starts


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_done_at_the_start_nor_by_an_idle_arm(scene, name):
    for index in range(4):
        env = scene(name, index)
        verdict = env.verdict()
        assert (verdict.success, verdict.failed, verdict.holds) == (False, False, False)
        assert env.steps() == 0
        for _ in range(125):
            env.world.step()
        verdict = env.verdict()
        assert (verdict.success, verdict.failed, verdict.holds) == (False, False, False)


@pytest.mark.parametrize("name", ALL)
def test_blocks_are_within_reach_apart_and_at_rest(scene, name):
    for index in range(4):
        world = scene(name, index).world
        low, high = world.setting.workspace
        for colour in COLOURS:
            here = world.position(f"{colour}_block")
            assert (here > low).all()
            assert (here < high).all()
            if name in HELD and world.memo["held"] == colour:
                continue
            if name != "unstack_block":
                assert rests_on(world, colour)
                assert not neighbours(world, colour)
            assert world.rotation(f"{colour}_block")[2, 2] > 0.999
            assert np.linalg.norm((here - [*desk.BUTTON, here[2]])[:2]) > 0.05


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("place", "surface"), [("table", "desk"), ("slider", "shelf"), ("drawer", "drawer")])
def test_the_block_to_lift_lies_where_the_instruction_says(scene, colour, place, surface):
    halves = set()
    for index in range(6):
        world = scene(f"lift_{colour}_block_{place}", index).world
        assert rests_on(world, colour) == surface
        here = world.position(f"{colour}_block")
        if surface == "shelf":
            # The door's panel is 14 cm wide.
            door = world.position("door")[0] + 0.02
            assert abs(here[0] - door) > 0.07 + 0.02
            halves.add(desk.open_half(world))
        if surface == "drawer":
            assert world.joint("drawer") == pytest.approx(desk.DRAWER_TRAVEL, abs=0.002)
            assert here[1] < -0.20, "it lies in front of the desk, not below it"
        else:
            assert world.joint("drawer") == pytest.approx(0.0, abs=0.002)
    assert surface != "shelf" or halves == {"left", "right"}


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("side", "sign"), [("right", 1), ("left", -1)])
def test_the_block_to_push_has_room(scene, colour, side, sign):
    for index in range(6):
        world = scene(f"push_{colour}_block_{side}", index).world
        assert rests_on(world, colour) == "desk"
        here = world.position(f"{colour}_block")
        there = here[0] + sign * 0.13
        assert -0.35 < there < 0.37
        lane = sorted((here[0], there))
        others = [world.position(f"{other}_block") for other in COLOURS if other != colour]
        for x, y in [other[:2] for other in others] + [desk.BUTTON]:
            assert not (lane[0] - 0.06 < x < lane[1] + 0.06 and abs(y - here[1]) < 0.06)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_block_to_rotate_lies_on_the_desk(scene, colour, side):
    for index in range(4):
        assert rests_on(scene(f"rotate_{colour}_block_{side}", index).world, colour) == "desk"


@pytest.mark.parametrize("name", HELD)
def test_the_held_block_is_held_by_contact_alone(scene, name):
    colours = set()
    for index in range(8):
        env = scene(name, index)
        world = env.world
        held = world.memo["held"]
        colours.add(held)
        assert world.model.neq <= 1, "no weld, only what couples the fingers"
        assert world.grasped(f"{held}_block")
        assert touched(world, held) <= world.robot_geoms
        assert world.position(f"{held}_block")[2] > DESK_TOP + 0.1
        assert np.linalg.norm(world.position(f"{held}_block") - env.pose().position) < 0.02
        assert env.steps() == 0
        # It goes where the hand goes, and falls when it is let go.
        env.home()
        assert world.grasped(f"{held}_block")
        assert np.linalg.norm(world.position(f"{held}_block") - env.pose().position) < 0.02
        env.set_gripper(1.0)
        env.set_gripper(1.0)
        assert not world.grasped(f"{held}_block")
        assert world.position(f"{held}_block")[2] < env.pose().position[2] - 0.02
    assert colours == set(COLOURS)


def test_drawer_door_lever_and_lights_begin_where_the_task_can_be_done(scene):
    for index in range(4):
        for name in ("close_drawer", "place_in_drawer", "push_into_drawer"):
            assert scene(name, index).world.joint("drawer") == pytest.approx(desk.DRAWER_TRAVEL, abs=0.002)
        assert scene("open_drawer", index).world.joint("drawer") == pytest.approx(0, abs=0.002)
        assert scene("move_slider_left", index).world.joint("door") == pytest.approx(0, abs=0.002)
        assert scene("move_slider_right", index).world.joint("door") == pytest.approx(
            desk.DOOR_TRAVEL, abs=0.002
        )
        assert not desk.bulb(scene("turn_on_lightbulb", index).world)
        assert desk.bulb(scene("turn_off_lightbulb", index).world)
        assert scene("turn_on_led", index).world.memo["led"] is False
        assert scene("turn_off_led", index).world.memo["led"] is True


def test_the_block_to_push_into_the_drawer_lies_at_its_edge(scene):
    names = set()
    for index in range(10):
        world = scene("push_into_drawer", index).world
        names.add(block := world.memo["block"])
        here = world.position(f"{block}_block")
        assert rests_on(world, block) == "desk"
        assert here[1] == pytest.approx(-0.16, abs=0.005)
        assert 0.10 < here[0] < 0.26
        for other in COLOURS:
            assert other == block or here[1] + 0.05 < world.position(f"{other}_block")[1]
    assert names == set(COLOURS)


def test_there_is_a_tower_to_take_apart(scene):
    pairs = set()
    for index in range(12):
        world = scene("unstack_block", index).world
        assert world.memo["start"] == stacked(world)
        ((upper, lower),) = stacked(world)
        pairs.add((upper, lower))
        assert rests_on(world, lower) == "desk"
        (third,) = set(COLOURS) - {upper, lower}
        assert not neighbours(world, third)
    assert len(pairs) >= 4


# Repeatable, and different


@pytest.mark.parametrize("name", ALL)
def test_scenes_vary_with_their_index(playtable, name):
    hashes, places = set(), set()
    for index in range(8):
        hashes.add(playtable.reset(name, index, seeds(name, index)).state_hash)
        places.add(tuple(playtable.world.data.qpos.round(3)))
    assert len(hashes) == len(places) == 8


@pytest.mark.parametrize("name", ALL)
def test_a_scene_repeats_after_another_task_and_under_another_seed(playtable, name):
    first = playtable.reset(name, 3, seeds(name, 3))
    playtable.set_gripper(0.0)
    playtable.home()
    other = "stack_block" if name != "stack_block" else "unstack_block"
    playtable.reset(other, 1, seeds(other, 1))
    playtable.reset(name, 4, seeds(name, 4))
    again = playtable.reset(name, 3, seeds(name, 3, cell=5, trial=2))
    assert (again.state_hash, again.attempts) == (first.state_hash, first.attempts)


def test_a_fresh_process_lays_out_the_same_scenes(playtable):
    names = [*HELD, "unstack_block", "open_drawer", "lift_pink_block_slider"]
    code = (
        "from envs.playtable import Playtable\n"
        "from harness.seeding import Seeds\n"
        "env = Playtable().open()\n"
        f"for name in {names!r}:\n"
        "    print(env.reset(name, 2, Seeds('playtable', name, 2, 0)).state_hash)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [playtable.reset(name, 2, seeds(name, 2)).state_hash for name in names]


# What is seen


@pytest.mark.slow
def test_every_object_is_seen_where_it_is_in_most_scenes():
    env = Playtable().open()
    hidden = Counter()
    for name in ALL:
        env.reset(name, 0, seeds(name))
        world = env.world
        assert env.objects() == list(desk.OBJECTS)
        for shown in env.objects():
            try:
                cloud = env.cloud(shown)
            except PerceptionFailure:
                hidden[shown] += 1
                continue
            low, high = cloud.points.min(axis=0), cloud.points.max(axis=0)
            centres = world.data.geom_xpos[list(world.parts[shown])]
            middle = (centres.min(axis=0) + centres.max(axis=0)) / 2
            # Of some things only a side is seen; the rest is sensors' noise.
            assert (low - 0.08 < middle).all(), (name, shown)
            assert (middle < high + 0.08).all(), (name, shown)
    env.close()
    assert max(hidden.values(), default=0) <= 3, hidden


def test_arm_and_desk_are_known_by_their_usual_names(scene):
    env = scene("open_drawer", 0)
    for name in env.effector_names:
        assert np.linalg.norm(env.cloud(name).points.mean(axis=0) - env.pose().position) < 0.15
    for name in env.surface_names:
        assert env.cloud(name).points[:, 2].max() == pytest.approx(DESK_TOP, abs=1e-3)


@pytest.mark.slow
def test_the_playtable_conforms():
    check_environment(Playtable(renderer="rays"), "playtable", scenes=(0,))
