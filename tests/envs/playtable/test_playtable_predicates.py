"""What counts as done, family by family, and what nearly does. Facts are those of CALVIN's oracle, which compares
the state with the one at the beginning; `holds` is the verdict on the state now, `success` stays."""

import mujoco
import numpy as np
import pytest

from envs.playtable import desk
from envs.playtable.setting import DESK_TOP
from envs.playtable.task import neighbours, rests_on
from envs.playtable.tasks.stack_block import stacked

COLOURS = list(desk.BLOCKS)


def up(height):
    return np.array([0.0, 0.0, height])


def at(x, y, z):
    return np.array([x, y, z], float)


def run(world, seconds=0.3):
    for _ in range(round(seconds / 0.004)):
        world.step()


def lay(world, colour, position, yaw=0.0):
    """Put a block somewhere, its centre given, and look at it without letting time pass."""
    world.put(f"{colour}_block", *position, yaw)
    mujoco.mj_forward(world.model, world.data)


def tip(world, colour, position, quaternion):
    """Put a block in any attitude."""
    lay(world, colour, position)
    address = world.model.joint(world.model.body(f"{colour}_block").jntadr[0]).qposadr[0]
    world.data.qpos[address + 3 : address + 7] = quaternion
    mujoco.mj_forward(world.model, world.data)


def yaw_of(world, colour):
    rotation = world.rotation(f"{colour}_block")
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def clear(world, but):
    """Bring the other blocks to where they are in nobody's way."""
    places = iter(((-0.30, -0.145), (-0.30, -0.045)))
    for colour in COLOURS:
        if colour != but:
            desk.put_block(world, colour, *next(places), DESK_TOP, 0.0)
    run(world, 0.2)


def slide(world, joint, position):
    """Move a slide there in one step."""
    world.data.joint(joint).qpos[0] = position
    world.data.joint(joint).qvel[0] = 0.0
    world.step()


# Rotate


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("side", "sign"), [("left", 1), ("right", -1)])
@pytest.mark.parametrize(
    ("degrees", "counts"),
    [(50, False), (58, False), (62, True), (90, True), (175, True), (185, False), (-90, False)],
)
def test_a_block_has_to_turn_by_sixty_degrees_in_its_direction(scene, colour, side, sign, degrees, counts):
    env = scene(f"rotate_{colour}_block_{side}", 0)
    world = env.world
    clear(world, colour)
    lay(
        world,
        colour,
        world.position(f"{colour}_block"),
        yaw_of(world, colour) + sign * np.radians(degrees),
    )
    assert env.verdict().holds is counts


@pytest.mark.parametrize(("away", "counts"), [(0.09, True), (0.11, False)])
def test_a_block_may_not_wander_while_it_turns(scene, away, counts):
    env = scene("rotate_red_block_left", 1)
    world = env.world
    clear(world, "red")
    here = world.position("red_block")
    way = away if here[0] < 0 else -away
    lay(world, "red", here + at(way, 0, 0), yaw_of(world, "red") + np.pi / 2)
    assert env.verdict().holds is counts


def test_a_block_that_tipped_over_has_not_turned(scene):
    env = scene("rotate_blue_block_left", 0)
    world = env.world
    clear(world, "blue")
    half = yaw_of(world, "blue") / 2 + np.pi / 4
    turned, over, both = np.array([np.cos(half), 0, 0, np.sin(half)]), np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(over, np.array([1.0, 0, 0]), np.pi / 2)
    here = world.position("blue_block")
    tip(world, "blue", here, turned)
    assert env.verdict().holds
    mujoco.mju_mulQuat(both, turned, over)
    tip(world, "blue", here, both)
    assert not env.verdict().holds


def test_a_block_turned_in_the_air_counts_when_it_is_set_down(scene, expert):
    env = scene("rotate_red_block_left", 1003)
    hand = expert.Expert(env)
    here, yaw = hand.take("red"), hand.yaw("red")
    hand.go(here + up(0.03), yaw)
    for part in (0.5, 1.0):
        hand.go(here + up(0.03), yaw + np.radians(80) * part)
    assert np.degrees(yaw_of(env.world, "red")) - np.degrees(yaw) > 60
    assert not env.verdict().holds
    hand.go(here - up(0.003), speed=0.5)
    assert env.world.touching("link0", "red_block")
    assert env.verdict().success


# Push


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("side", "sign"), [("right", 1), ("left", -1)])
@pytest.mark.parametrize(
    ("metres", "counts"), [(0.08, False), (0.095, False), (0.105, True), (-0.105, False)]
)
def test_a_block_has_to_be_pushed_by_ten_centimetres_to_its_side(scene, colour, side, sign, metres, counts):
    env = scene(f"push_{colour}_block_{side}", 0)
    here = env.world.position(f"{colour}_block")
    lay(env.world, colour, here + at(sign * metres, 0, 0))
    assert env.verdict().holds is counts


def test_a_block_pushed_away_from_or_towards_the_front_has_gone_to_no_side(scene):
    for side in ("left", "right"):
        env = scene(f"push_red_block_{side}", 0)
        here = env.world.position("red_block")
        lay(env.world, "red", [here[0], -0.03, here[2]])
        assert rests_on(env.world, "red") == "desk"
        assert not env.verdict().holds


def test_a_block_above_the_desk_or_on_the_shelf_was_not_pushed_there(scene):
    env = scene("push_red_block_left", 0)
    here = env.world.position("red_block")
    lay(env.world, "red", here + at(-0.14, 0, 0.03))
    assert not env.verdict().holds
    lay(env.world, "red", [-0.05, 0.11, desk.SHELF_TOP + desk.HALF - 0.0005])
    assert rests_on(env.world, "red") == "shelf"
    lay(env.world, "red", [here[0] - 0.14, 0.11, desk.SHELF_TOP + desk.HALF - 0.0005])
    assert not env.verdict().holds


def test_a_block_carried_over_the_desk_counts_once_it_is_down(scene, expert):
    env = scene("push_blue_block_right", 1000)
    hand = expert.Expert(env)
    here = hand.take("blue")
    hand.go(here + up(0.04))
    hand.go(here + at(0.12, 0, 0.04))
    assert env.world.position("blue_block")[0] - here[0] > 0.11
    assert not env.verdict().success
    hand.go(here + at(0.12, 0, -0.002), speed=0.5)
    assert env.verdict().success


def test_a_block_pushed_into_another_one_does_not_count_while_they_touch(scene):
    env = scene("push_red_block_right", 0)
    world = env.world
    there = world.position("red_block") + at(0.12, 0, 0)
    lay(world, "blue", [there[0], there[1] + 0.0399, there[2]])
    lay(world, "red", there)
    assert neighbours(world, "red") == {"blue"}
    assert not env.verdict().holds
    lay(world, "blue", [there[0], there[1] + 0.045, there[2]])
    assert env.verdict().holds


# Door and drawer


@pytest.mark.parametrize(
    ("task", "joint", "sign", "enough"),
    [
        ("open_drawer", "drawer", 1, 0.12),
        ("close_drawer", "drawer", -1, 0.12),
        ("move_slider_left", "door", 1, 0.15),
        ("move_slider_right", "door", -1, 0.15),
    ],
)
def test_a_slide_has_to_go_far_enough_from_where_it_was(scene, task, joint, sign, enough):
    env = scene(task, 0)
    world = env.world
    start = world.joint(joint)
    for metres in (0.02, enough - 0.02, enough - 0.003):
        slide(world, joint, start + sign * metres)
        assert not env.verdict().holds
    assert not env.verdict().success
    slide(world, joint, start + sign * (enough + 0.003))
    assert env.verdict().success
    slide(world, joint, start)
    verdict = env.verdict()
    assert (verdict.success, verdict.holds) == (True, False)


@pytest.mark.parametrize(
    ("side", "x"), [("left", -0.24), ("right", 0.04)], ids=["joint at its end", "joint at zero"]
)
def test_left_and_right_are_those_of_who_sits_at_the_desk(scene, side, x):
    """The camera `left` stands at smaller x; so does the door after it went to the left."""
    env = scene(f"move_slider_{side}", 0)
    slide(env.world, "door", desk.DOOR_TRAVEL if side == "left" else 0.0)
    mujoco.mj_forward(env.world.model, env.world.data)
    grip = env.world.data.geom_xpos[list(env.world.parts["door grip"])].mean(axis=0)
    assert grip[0] == pytest.approx(x, abs=0.005)
    assert env.verdict().success


# Lift


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(
    ("place", "low", "high"), [("table", 0.035, 0.065), ("slider", 0.02, 0.045), ("drawer", 0.035, 0.065)]
)
def test_a_block_has_to_rise_with_the_gripper(scene, expert, colour, place, low, high):
    env = scene(f"lift_{colour}_block_{place}", 1002)
    hand = expert.Expert(env)
    here = hand.take(colour)
    assert env.world.grasped(f"{colour}_block")
    hand.go(here + up(low), speed=0.5)
    risen = env.world.position(f"{colour}_block")[2] - here[2]
    assert low - 0.012 < risen
    assert not env.verdict().success
    hand.go(here + up(high), speed=0.5)
    assert env.verdict().success


@pytest.mark.parametrize("place", ["table", "slider", "drawer"])
def test_a_block_in_the_air_that_no_gripper_holds_is_not_lifted(scene, place):
    env = scene(f"lift_red_block_{place}", 0)
    lay(env.world, "red", env.world.position("red_block") + up(0.15))
    assert not env.verdict().holds


def test_a_lifted_block_that_touches_anything_else_is_not_lifted(scene, expert):
    env = scene("lift_red_block_table", 1002)
    world = env.world
    hand = expert.Expert(env)
    here = hand.take("red")
    hand.go(here + up(0.10))
    assert env.verdict().holds
    lay(world, "blue", world.position("red_block") - up(0.0398))
    assert neighbours(world, "red") == {"blue"}
    assert not env.verdict().holds
    lay(world, "blue", [-0.3, -0.1, DESK_TOP + desk.HALF])
    assert env.verdict().holds
    # The grip of the door, brought to the block's side.
    desk.start(world, "door", 0.0)
    door = world.model.body("door").id
    world.model.body_pos[door] = world.position("red_block") - at(0.04, 0.012 + 0.035, 0.535)
    mujoco.mj_forward(world.model, world.data)
    assert world.touching("door_grip", "red_block")
    assert not env.verdict().holds


@pytest.mark.parametrize(("task", "start"), [("table", "drawer"), ("slider", "desk"), ("drawer", "desk")])
def test_a_block_lifted_from_elsewhere_does_not_count(scene, expert, task, start):
    env = scene(f"lift_blue_block_{task}", 1001)
    world = env.world
    clear(world, "blue")
    if start == "drawer":
        desk.start(world, "drawer", desk.DRAWER_TRAVEL)
        desk.put_block(world, "blue", 0.18, -0.33, desk.DRAWER_FLOOR, 0.0)
    else:
        desk.put_block(world, "blue", 0.05, -0.10, DESK_TOP, 0.0)
    run(world)
    assert rests_on(world, "blue") == start
    world.begin()
    hand = expert.Expert(env)
    here = hand.take("blue")
    hand.go(here + up(0.15))
    assert world.grasped("blue_block")
    assert world.position("blue_block")[2] - here[2] > 0.1
    assert not env.verdict().success


# Place


@pytest.mark.parametrize("target", ["slider", "drawer"])
def test_a_block_is_placed_when_it_is_let_go(scene, expert, target):
    env = scene(f"place_in_{target}", 1000)
    world = env.world
    held = world.memo["held"]
    hand = expert.Expert(env)
    if target == "slider":
        x = float(np.mean(desk.SHELF[desk.open_half(world)]))
        place = np.array([x, 0.105, desk.SHELF_TOP + desk.HALF])
    else:
        place = np.array([0.18, -0.33, desk.DRAWER_FLOOR + desk.HALF])
    hand.go(place + up(0.12), 0.0)
    assert not env.verdict().success
    for lower in (0.01, 0.0, -0.004):
        hand.go(place + up(lower), 0.0, speed=0.4)
    assert rests_on(world, held) == ("shelf" if target == "slider" else "drawer")
    assert world.touching("link0", f"{held}_block")
    assert not env.verdict().success
    env.set_gripper(1.0)
    hand.go(place + up(0.12), 0.0)
    assert env.verdict().success


@pytest.mark.parametrize("target", ["slider", "drawer"])
def test_a_block_let_go_over_the_desk_is_placed_nowhere(scene, expert, target):
    env = scene(f"place_in_{target}", 1001)
    held = env.world.memo["held"]
    env.set_gripper(1.0)
    env.home()
    assert rests_on(env.world, held) == "desk"
    verdict = env.verdict()
    assert (verdict.success, verdict.holds) == (False, False)


@pytest.mark.parametrize("target", ["slider", "drawer"])
def test_only_the_block_that_was_held_counts_and_only_where_it_was_wanted(scene, target):
    env = scene(f"place_in_{target}", 0)
    world = env.world
    held = world.memo["held"]
    other = next(colour for colour in COLOURS if colour != held)
    shelf = [-0.2 if desk.open_half(world) == "left" else -0.05, 0.11, desk.SHELF_TOP + desk.HALF - 0.0004]
    drawer = [0.18, -0.33, desk.DRAWER_FLOOR + desk.HALF - 0.0004]
    desk.start(world, "drawer", desk.DRAWER_TRAVEL)
    right, wrong = (shelf, drawer) if target == "slider" else (drawer, shelf)
    lay(world, other, right)
    assert rests_on(world, other)
    assert not env.verdict().holds
    lay(world, other, [-0.3, -0.14, DESK_TOP + desk.HALF])
    lay(world, held, wrong)
    assert rests_on(world, held)
    assert not env.verdict().holds
    lay(world, held, right)
    assert env.verdict().holds


def test_a_block_on_the_desk_that_leans_on_the_shelf_is_not_on_the_shelf(scene):
    env = scene("place_in_slider", 0)
    world = env.world
    held = world.memo["held"]
    half = desk.BLOCKS[held][0] / 2
    lay(world, held, [0.111 + half - 0.0004, 0.11, DESK_TOP + desk.HALF - 0.0004])
    assert world.touching("shelf", f"{held}_block")
    assert rests_on(world, held) == "desk"
    assert not env.verdict().holds


# Into the drawer


def test_a_block_that_fell_into_the_drawer_counts(scene):
    for index in range(3):
        env = scene("push_into_drawer", index)
        world = env.world
        block = world.memo["block"]
        x = float(world.position(f"{block}_block")[0])
        world.put(f"{block}_block", x, -0.24, DESK_TOP + 0.03)
        run(world, 0.5)
        assert rests_on(world, block) == "drawer"
        assert env.verdict().success


def test_a_block_at_the_edge_or_on_the_bar_is_not_in_the_drawer(scene):
    env = scene("push_into_drawer", 0)
    world = env.world
    block = world.memo["block"]
    lay(world, block, [0.18, -0.19, DESK_TOP + desk.HALF - 0.0004])
    assert rests_on(world, block) == "desk"
    assert not env.verdict().holds
    bar = world.position("drawer_bar")
    lay(world, block, bar + at(0.18, -0.295, 0.355 + 0.007 + desk.HALF - 0.0004))
    assert world.touching("drawer_bar", f"{block}_block")
    assert not env.verdict().holds


def test_a_block_in_the_drawer_from_the_beginning_was_not_pushed_there(scene):
    env = scene("push_into_drawer", 0)
    world = env.world
    block = world.memo["block"]
    desk.put_block(world, block, 0.18, -0.33, desk.DRAWER_FLOOR, 0.0)
    run(world)
    world.begin()
    world.succeeded = False
    run(world)
    assert rests_on(world, block) == "drawer"
    assert not env.verdict().success


def test_a_block_carried_into_the_drawer_counts_when_the_gripper_leaves_it(scene, expert):
    env = scene("push_into_drawer", 1000)
    world = env.world
    block = world.memo["block"]
    hand = expert.Expert(env)
    here = hand.take(block)
    hand.go(here + up(0.10))
    place = np.array([0.18, -0.33, desk.DRAWER_FLOOR + desk.HALF])
    hand.go(place + up(0.10), 0.0)
    for lower in (0.01, -0.004):
        hand.go(place + up(lower), 0.0, speed=0.4)
    assert rests_on(world, block) == "drawer"
    assert not env.verdict().success
    env.set_gripper(1.0)
    hand.go(place + up(0.12), 0.0)
    assert env.verdict().success


# Stack


def test_a_block_is_stacked_when_it_is_let_go(scene, expert):
    env = scene("stack_block", 1000)
    world = env.world
    held = world.memo["held"]
    base = max((colour for colour in COLOURS if colour != held), key=lambda colour: desk.BLOCKS[colour][0])
    hand = expert.Expert(env)
    top = hand.block(base) + up(2 * desk.HALF)
    hand.go(top + up(0.10), hand.yaw(base))
    for lower in (0.01, 0.0, -0.003):
        hand.go(top + up(lower), hand.yaw(base), speed=0.4)
    assert neighbours(world, held) == {base}
    assert not env.verdict().success
    env.set_gripper(1.0)
    hand.go(top + up(0.12), hand.yaw(base))
    assert stacked(world) == {(held, base)}
    assert env.verdict().success


def test_a_block_beside_or_above_another_is_not_stacked(scene):
    env = scene("stack_block", 0)
    world = env.world
    held = world.memo["held"]
    base = next(colour for colour in COLOURS if colour != held)
    clear(world, held)
    lay(world, base, [0.05, -0.09, DESK_TOP + desk.HALF - 0.0003])
    beside = [0.05, -0.09 - 0.0398, DESK_TOP + desk.HALF - 0.0003]
    lay(world, held, beside)
    assert neighbours(world, held) == {base}
    assert not env.verdict().holds
    lay(world, held, [0.05, -0.09, DESK_TOP + 3 * desk.HALF + 0.02])
    assert not env.verdict().holds
    lay(world, held, [0.05, -0.09, DESK_TOP + 3 * desk.HALF - 0.0006])
    assert env.verdict().holds


def test_a_block_that_leans_on_another_and_stands_on_the_desk_is_not_stacked(scene):
    env = scene("stack_block", 0)
    world = env.world
    world.memo["held"] = "pink"
    clear(world, "blue")
    lay(world, "blue", [0.05, -0.09, DESK_TOP + desk.HALF - 0.0003])
    # On a lower edge, 30 degrees from upright, and closer until it touches.
    lean = np.radians(60)
    height = DESK_TOP + 0.04 * np.sin(lean) + 0.02 * np.cos(lean) - 0.0003
    for x in np.arange(0.13, 0.06, -0.0002):
        tip(world, "pink", [x, -0.09, height], [np.cos(lean / 2), 0, np.sin(lean / 2), 0])
        if neighbours(world, "pink"):
            break
    assert neighbours(world, "pink") == {"blue"}
    assert world.touching("desk_body", "pink_block")
    assert world.position("pink_block")[2] - world.position("blue_block")[2] > desk.HALF
    assert not env.verdict().holds


# Unstack


def tower(env):
    (pair,) = env.world.memo["start"]
    (third,) = set(COLOURS) - set(pair)
    return (*pair, third)


def test_the_upper_block_has_to_come_off(scene, expert):
    env = scene("unstack_block", 1000)
    upper, lower, _ = tower(env)
    hand = expert.Expert(env)
    here = hand.take(upper)
    assert neighbours(env.world, upper) == {lower}
    assert not env.verdict().success
    hand.go(here + up(0.05), speed=0.5)
    assert env.verdict().success


def test_a_tower_that_is_shaken_still_stands(scene):
    """A block that hops loses contact, and is slow for a moment at the top."""
    env = scene("unstack_block", 0)
    world = env.world
    upper, lower, _ = tower(env)
    first = world.model.joint(world.model.body(f"{upper}_block").jntadr[0]).dofadr[0]
    in_the_air = 0
    for rise in (0.05, 0.1, 0.2, 0.3):
        world.data.qvel[first + 2] = rise
        for _ in range(60):
            world.step()
            in_the_air += not neighbours(world, upper)
    assert in_the_air > 5
    assert (upper, lower) in stacked(world)
    assert not env.verdict().success


def test_the_upper_block_on_the_third_one_is_still_stacked(scene):
    env = scene("unstack_block", 0)
    world = env.world
    upper, _, third = tower(env)
    lay(world, upper, world.position(f"{third}_block") + up(2 * desk.HALF - 0.0003))
    assert neighbours(world, upper) == {third}
    assert not env.verdict().holds
    lay(world, upper, [-0.3, -0.1, DESK_TOP + desk.HALF - 0.0004])
    assert env.verdict().holds


def test_a_falling_block_is_not_off_before_it_rests(scene):
    env = scene("unstack_block", 2)
    world = env.world
    upper, _, _ = tower(env)
    world.put(f"{upper}_block", -0.3, -0.145, DESK_TOP + 0.12)
    run(world, 0.1)
    assert not neighbours(world, upper)
    joint = world.model.joint(world.model.body(f"{upper}_block").jntadr[0])
    assert world.data.qvel[joint.dofadr[0] + 2] < -0.3
    assert not env.verdict().holds
    run(world, 1.0)
    assert env.verdict().holds


# Lights


@pytest.mark.parametrize(("state", "start", "sign"), [("on", 0.0, 1), ("off", desk.SWITCH_TRAVEL, -1)])
def test_the_bulb_changes_at_the_middle_of_the_lever(scene, state, start, sign):
    env = scene(f"turn_{state}_lightbulb", 0)
    world = env.world
    assert world.joint("lever") == pytest.approx(start, abs=1e-3)
    slide(world, "lever", desk.SWITCH_TRIPS - sign * 0.004)
    assert not env.verdict().success
    colour = world.model.geom("bulb").rgba.copy()
    slide(world, "lever", desk.SWITCH_TRIPS + sign * 0.004)
    assert env.verdict().success
    assert (world.model.geom("bulb").rgba[:3].sum() > colour[:3].sum()) == (state == "on")


@pytest.mark.parametrize("state", ["on", "off"])
def test_the_led_changes_at_each_press(scene, state):
    env = scene(f"turn_{state}_led", 0)
    world = env.world
    lit = state == "on"
    slide(world, "led_button", 0.008)
    assert world.memo["led"] is not lit
    assert not env.verdict().success
    slide(world, "led_button", 0.013)
    assert world.memo["led"] is lit
    assert (world.model.geom("led").rgba[:3].sum() > 1.2) == lit
    assert env.verdict().success
    for depth in (0.016, 0.014, 0.018):
        slide(world, "led_button", depth)
        assert world.memo["led"] is lit, "it is still the same press"
    slide(world, "led_button", 0.0)
    slide(world, "led_button", 0.015)
    verdict = env.verdict()
    assert (verdict.success, verdict.holds) == (True, False)


def test_a_finger_presses_the_button_once(scene, expert):
    env = scene("turn_on_led", 1000)
    assert env.world.memo["led"] is False
    expert.led(expert.Expert(env))
    assert env.world.memo["led"] is True
    assert env.world.joint("led_button") < 0.002
    assert env.verdict().success


@pytest.mark.parametrize("task", ["turn_on_led", "turn_off_led"])
def test_the_switch_has_nothing_to_do_with_the_led(scene, task):
    env = scene(task, 0)
    for position in (0.0, desk.SWITCH_TRAVEL, 0.0):
        slide(env.world, "lever", position)
    assert not env.verdict().success
