"""What holds for every task, and what each task's predicate is about."""

import string

import numpy as np
import pytest

from envs.tabletop import Tabletop
from envs.tabletop.setting import TABLE_TOP
from harness.protocols import Pose

ALL = sorted(Tabletop().definitions())
DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def up(height):
    return np.array([0.0, 0.0, height])


def go(env, position, quaternion=DOWN, speed=1.0):
    return env.move(Pose(np.asarray(position, float), np.asarray(quaternion, float)), speed)


@pytest.mark.parametrize("name", ALL)
def test_a_task_describes_itself(name):
    task = Tabletop().definitions()[name]
    assert len(task.instructions) >= 3
    assert len(set(task.instructions)) == len(task.instructions)
    assert 100 <= task.step_limit <= 10000
    assert all(exposed == exposed.lower().strip() for exposed in task.objects)


@pytest.mark.parametrize("name", ALL)
def test_scenes_differ_and_are_within_reach(scene, name):
    places, words = [], []
    for index in range(10):
        env = scene(name, index)
        world = env.world
        assert env.objects() == list(world.task.objects)
        assert all(world.parts.values()), "each object needs geoms that cameras can see"
        for wording in world.task.instructions:
            fields = {field for _, field, _, _ in string.Formatter().parse(wording) if field}
            assert fields <= set(world.variation)
            assert "{" not in wording.format_map(world.variation)
        first = next(iter(world.parts.values()))
        centre = world.data.geom_xpos[list(first)].mean(axis=0)
        assert (centre >= env.workspace[0]).all()
        assert (centre <= env.workspace[1]).all()
        places.append(tuple(centre.round(3)))
        words.append(tuple(world.variation.items()))
    assert len(set(places)) == 10
    if words[0]:
        assert len(set(words)) > 1


@pytest.mark.parametrize("name", ALL)
def test_idleness_is_no_success(scene, name):
    for index in range(3):
        env = scene(name, index)
        env.set_gripper(0.0)
        env.set_gripper(1.0)
        env.home()
        verdict = env.verdict()
        assert (verdict.success, verdict.failed, verdict.holds) == (False, False, False)


@pytest.mark.parametrize("name", ["push_button", "lamp_off"])
def test_a_button_counts_from_three_millimetres_and_stays_counted(scene, name):
    env = scene(name, 5)
    env.set_gripper(0.0)
    # The fingers reach one centimetre below the tool's point.
    top = env.world.geom_position("button") + up(0.006)
    finger = up(0.0095)
    go(env, top + up(0.1))
    go(env, top + finger + up(0.005), speed=0.3)
    assert not env.verdict().success
    go(env, top + finger - up(0.008), speed=0.3)
    assert env.world.joint("button") > 0.003
    assert env.verdict().holds
    go(env, top + up(0.1))
    assert env.world.joint("button") < 0.001
    verdict = env.verdict()
    assert (verdict.success, verdict.holds, verdict.subtasks_done) == (True, False, 1)


def test_the_button_has_the_colour_that_the_instruction_names(scene):
    from envs.mujoco.parts import COLOURS, VARIATIONS

    seen = set()
    for index in range(20):
        world = scene("push_button", index).world
        colour = world.variation["colour"]
        assert world.model.geom("button").rgba[:3] == pytest.approx(COLOURS[colour])
        seen.add(colour)
    assert len(VARIATIONS) == 18
    assert len(seen) >= 8


def test_the_bulb_goes_dark(scene):
    env = scene("lamp_off", 2)
    bright = env.world.model.geom("bulb").rgba.copy()
    env.set_gripper(0.0)
    top = env.world.geom_position("button")
    go(env, top + up(0.1))
    go(env, top)
    dark = env.world.model.geom("bulb").rgba
    assert dark[:3].max() < 0.5 < bright[:3].max()


def test_only_the_named_drawer_counts_and_only_from_fifteen_centimetres(scene):
    env = scene("open_drawer", 0)
    world = env.world
    named = world.variation["drawer"]
    others = [drawer for drawer in ("bottom", "middle", "top") if drawer != named]
    for drawer in others:
        world.data.joint(f"{drawer}_drawer").qpos[0] = 0.2
        world.step()
        assert not env.verdict().success
    world.data.joint(f"{named}_drawer").qpos[0] = 0.14
    world.step()
    assert not env.verdict().success
    world.data.joint(f"{named}_drawer").qpos[0] = 0.16
    world.step()
    assert env.verdict().success


def test_all_three_drawers_come_up_and_slide_thirty_centimetres(scene):
    named = {scene("open_drawer", index).world.variation["drawer"] for index in range(12)}
    assert named == {"bottom", "middle", "top"}
    world = scene("open_drawer", 0).world
    for drawer, z in (("bottom", 0.915), ("middle", 1.035), ("top", 1.155)):
        assert world.model.joint(f"{drawer}_drawer").range[1] == pytest.approx(0.30)
        assert world.position(f"{drawer}_handle")[2] == pytest.approx(z)


def wand_grip(env):
    world = env.world
    frame = world.rotation("buzz")
    yaw = (np.arctan2(frame[1, 0], frame[0, 0]) + np.pi / 2) % np.pi - np.pi / 2
    grip = np.array([0.0, np.cos(yaw / 2), np.sin(yaw / 2), 0.0])
    return frame, grip, world.position("wand") + frame @ [-0.125, 0, 0]


def test_touching_the_wire_fails_for_good(scene):
    env = scene("beat_the_buzz", 0)
    frame, grip, handle = wand_grip(env)
    go(env, handle + up(0.1), grip)
    go(env, handle, grip)
    env.set_gripper(0.0)
    go(env, handle + up(0.02), grip)
    middle = handle + frame @ [0, -0.11, 0]
    go(env, middle + up(0.02), grip)
    assert not env.verdict().failed
    go(env, middle + up(0.06), grip)
    assert env.verdict().failed
    go(env, middle + up(0.02), grip)
    go(env, middle + frame @ [0, -0.11, 0] + up(0.02), grip)
    env.set_gripper(1.0)
    verdict = env.verdict()
    assert (verdict.success, verdict.failed, verdict.holds) == (False, True, True)


def test_the_wand_has_to_be_let_go(scene):
    env = scene("beat_the_buzz", 1)
    frame, grip, handle = wand_grip(env)
    go(env, handle + up(0.1), grip)
    go(env, handle, grip)
    env.set_gripper(0.0)
    go(env, handle + up(0.018), grip)
    go(env, handle + frame @ [0, -0.22, 0] + up(0.018), grip)
    assert env.world.sees("right_sensor", "wand")
    assert env.world.grasped("wand")
    assert not env.verdict().success
    env.set_gripper(1.0)
    assert env.verdict().success


def test_the_wand_rests_at_the_height_of_the_original(scene):
    world = scene("beat_the_buzz", 0).world
    assert world.position("wand")[2] == pytest.approx(0.950, abs=0.003)
    assert world.position("wand")[2] - TABLE_TOP > 0.19
