"""The composer and map programs, by what their code does in the toy world."""

from __future__ import annotations

import numpy as np
import pytest

from harness.chat.rules.frame import DEFAULT, read_frame
from harness.chat.rules.request import Example


def test_pick_and_place_from_the_instruction_to_the_motions(world):
    toy = world("zorb", "plim")
    motions = toy.play("put the zorb in the plim")
    assert [motion.target for motion in motions] == [(50, 20, 17), (50, 20, 5), (50, 35, 17), None]
    assert [motion.opening for motion in motions] == [None, 0.0, None, 1.0]
    assert toy.homes == 1


def test_press_comes_from_above_with_closed_fingers(world):
    motions = world("flumer").play("press the flumer")
    assert [motion.opening for motion in motions] == [0.0, None, 0.0]
    assert [motion.target for motion in motions] == [None, (50, 20, 15), (50, 20, 4)]


def test_front_handle_is_faced_then_pulled_along_its_normal(world, toy_box):
    grip = toy_box(60, 40, 30, normal=(-0.8, 0.0, 0.6))
    motions = world(**{"left crate grip": toy_box(60, 20, 30), "right crate grip": grip}).play(
        "open the right crate"
    )
    faced = next(motion for motion in motions if motion.rotation is not None)
    assert faced.rotation == pytest.approx([0, 1, 0, 0])  # the toy's pointat2quat gives the direction back
    targets = [motion.target for motion in motions if motion.target]
    assert targets == [(48, 40, 30), (60, 40, 30), (35, 40, 30)]


@pytest.mark.parametrize(
    ("sentence", "offset"),
    [
        ("move up by 15cm", (0, 0, 15)),
        ("move down by 8cm", (0, 0, -8)),
        ("move to the left by 20cm", (0, -20, 0)),
        ("move to the right by 12cm", (0, 12, 0)),
        ("move forward by 10cm", (10, 0, 0)),
        ("move backward by 10cm", (-10, 0, 0)),
        ("move up", (0, 0, 10)),
    ],
)
def test_shifts_follow_the_frame_of_the_examples(world, sentence, offset):
    toy = world("cup")
    toy.run("composer", sentence)
    assert toy.motions[0].target == tuple(np.array([40, 50, 80]) + offset)


@pytest.mark.parametrize(
    ("phrase", "target"),
    [
        ("a point at the center of the cup", (50, 20, 5)),
        ("a point at the top of the cup", (50, 20, 7)),
        ("a point 10cm above the cup", (50, 20, 17)),
        ("a point 1cm below the cup", (50, 20, 2)),
        ("a point 4cm in front of the cup", (56, 20, 5)),
        ("a point 4cm behind the cup", (44, 20, 5)),
        ("a point 4cm to the left of the cup", (50, 14, 5)),
        ("a point 4cm to the right of the cup", (50, 26, 5)),
        ("a point 3cm below the top of the cup", (50, 20, 4)),
        ("a point between the cup and the pot", (50, 27, 5)),
        ("a point 10cm above [41 50 33]", (41, 50, 43)),
        ("a point 10cm below [41, 50, 33]", (41, 50, 23)),
        ("[41 50 33]", (41, 50, 33)),
    ],
)
def test_affordance_points(world, phrase, target):
    grid = world("cup", "pot").run("get_affordance_map", phrase)
    assert [tuple(cell) for cell in np.argwhere(grid > 0)] == [target]


def test_affordance_regions(world):
    near = world("cup").run("get_affordance_map", "anywhere within 2cm of the cup")
    assert near.sum() == 5**3
    above = world("cup").run("get_affordance_map", "anywhere above the cup")
    assert above[50, 20, 50] == 1
    assert above[50, 20, 4] == 0
    assert above[60, 20, 50] == 0


def test_along_the_way_a_thing_faces(world, toy_box):
    toy = world(grip=toy_box(60, 40, 30, normal=(0.0, -0.6, 0.8)))
    away = toy.run("get_affordance_map", "a point 25cm from [60 44 25] away from the grip")
    assert np.argwhere(away > 0).tolist() == [[60, 19, 25]]
    towards = toy.run("get_affordance_map", "a point 30cm from [60 44 25] towards the grip")
    assert np.argwhere(towards > 0).tolist() == [[60, 74, 25]]


def test_avoidance_velocity_and_gripper_maps(world):
    toy = world("vase", "jug")
    assert toy.run("get_avoidance_map", "3cm from the vase and the jug").sum() == 2 * 7**3
    both = toy.run("get_avoidance_map", "2cm from the vase, 3cm from the jug")
    assert both.sum() == 5**3 + 7**3
    low = toy.run("get_avoidance_map", "everything lower than 5cm above the table")
    assert low[:, :, :5].all()
    assert not low[:, :, 5:].any()
    assert (toy.run("get_velocity_map", "0.5x speed") == 0.5).all()
    assert (toy.run("get_velocity_map", "slowly") == 0.5).all()
    local = toy.run("get_velocity_map", "0.25x speed within 3cm of the vase")
    assert (local[50, 20, 5], local[0, 0, 0]) == (0.25, 1.0)
    assert (toy.run("get_gripper_map", "closed everywhere") == 0).all()
    held = toy.run("get_gripper_map", "open everywhere except 1cm around the vase")
    assert (held[50, 20, 5], held[50, 20, 8]) == (0, 1)


def test_turns_are_about_the_way_the_gripper_points(world):
    toy = world("cup")
    half = np.sqrt(0.5)
    # from pointing down (0, 1, 0, 0), a quarter turn about the gripper's own z axis
    assert toy.run("get_rotation_map", "turn clockwise by 90 degrees").value == pytest.approx(
        [0, half, -half, 0]
    )
    assert toy.run("get_rotation_map", "turn counterclockwise by 90 degrees").value == pytest.approx(
        [0, half, half, 0]
    )
    assert toy.run("get_rotation_map", "face down").value == pytest.approx([0, 0, 0, -1])
    assert toy.run("get_rotation_map", "face left").value == pytest.approx([0, 0, -1, 0])


def test_avoidance_and_speed_reach_the_motion(world):
    toy = world("cup", "vase")
    toy.run(
        "composer", "move to 5cm above the cup while keeping at least 3cm away from the vase at 0.5x speed"
    )
    assert toy.motions[0].avoided == 7**3
    assert toy.motions[0].speed == 0.5


def test_pushing_moves_the_thing_and_not_the_gripper(world):
    toy = world("boat", "pot")
    toy.run("composer", "push the boat to the right by 10cm")
    toy.run("composer", "push the boat towards the pot")
    assert [(motion.movable, motion.target) for motion in toy.motions] == [
        ("boat", (50, 30, 5)),
        ("boat", (50, 35, 5)),
    ]


@pytest.mark.parametrize("name", ["7 up can", "class", "x", "np", "it's", "Red_Cup", "größe", "detect"])
def test_awkward_names_make_valid_code(world, toy_box, name):
    toy = world(**{name: toy_box(30, 30, 10)})
    assert toy.run("composer", f"grasp the {name}") is None
    assert toy.motions[0].target == (30, 30, 10)


def test_the_frame_is_read_off_the_examples():
    turned = (
        Example("a point 5cm to the left of [1 2 3]", "x = 1 + cm2index(5, 'x')\ny = 2\nz = 3"),
        Example(
            "a point 5cm in front of the cup", "x = center_x\ny = max_y + cm2index(5, 'y')\nz = center_z"
        ),
    )
    frame = read_frame(turned)
    assert frame.axes == DEFAULT | {
        "left": ("x", 1),
        "right": ("x", -1),
        "front": ("y", 1),
        "behind": ("y", -1),
    }


def test_stated_axes_count_where_no_example_shows_them():
    stated = "Axes: x points from left to right, y from its front to its back, z from bottom to up."
    frame = read_frame((), stated)
    assert frame.axes == {
        "left": ("x", -1),
        "right": ("x", 1),
        "front": ("y", -1),
        "behind": ("y", 1),
        "above": ("z", 1),
        "below": ("z", -1),
    }
    shown = (Example("a point 5cm to the left of [1 2 3]", "x = 1\ny = 2 + cm2index(5, 'y')\nz = 3"),)
    assert read_frame(shown, stated).axes["left"] == ("y", 1)
    assert read_frame((), "Move it from left to right.").axes == DEFAULT


def test_turned_examples_turn_the_maps(ask):
    examples = (
        "# Query: a point 5cm to the left of [1 2 3].\nx = 1 + cm2index(5, 'x')\ny = 2\nz = 3\nret_val = m"
    )
    code = ask("get_affordance_map", "a point 4cm to the right of [9 9 9]", examples=examples).text
    assert "x = 9 - cm2index(4, 'x')" in code


def test_the_effector_is_called_as_in_the_examples(ask):
    examples = "# Query: open hand.\nmovable = parse_query_obj('hand')\nexecute(movable)"
    assert "parse_query_obj('hand')" in ask("composer", "move up by 5cm", examples=examples).text


@pytest.mark.parametrize(
    ("program", "query"),
    [
        ("composer", "sing a song"),
        ("get_affordance_map", ""),
        ("get_velocity_map", "like the wind"),
        ("get_rotation_map", "sideways"),
        ("get_gripper_map", "ajar"),
    ],
)
def test_what_the_grammar_lacks_is_refused_in_a_comment(ask, program, query):
    text = ask(program, query).text
    assert text.startswith("# I do not understand: ")
    assert "\n" not in text


OBJECTS = [
    "red cup",
    "blue cup",
    "left crate grip",
    "right crate grip",
    "marble1",
    "marble2",
    "bottle",
    "bottle cap",
]


@pytest.mark.parametrize(
    ("phrase", "code"),
    [
        ("the red cup", "thing = detect('red cup')\nret_val = thing"),
        ("cup that is red", "thing = detect('red cup')\nret_val = thing"),
        ("right grip", "thing = detect('right crate grip')\nret_val = thing"),
        ("the bottle", "thing = detect('bottle')\nret_val = thing"),
        ("the cap", "thing = detect('bottle cap')\nret_val = thing"),
        ("marbles", "things = [detect('marble1'), detect('marble2')]\nret_val = things"),
        ("end effector", "thing = detect('gripper')\nret_val = thing"),
        ("the table", "thing = detect('table')\nret_val = thing"),
        ("the surface", "thing = detect('table')\nret_val = thing"),
        ("the spaceship", "ret_val = None"),
        ("", "ret_val = None"),
    ],
)
def test_lookup(ask, phrase, code):
    assert ask("parse_query_obj", phrase, OBJECTS).text == code


def test_lookup_by_place(world, toy_box):
    toy = world(
        **{"red cup": toy_box(50, 70, 5), "blue cup": toy_box(50, 30, 5), "saucer": toy_box(50, 60, 5)}
    )
    assert toy.run("parse_query_obj", "the leftmost cup").name == "blue cup"
    assert toy.run("parse_query_obj", "the rightmost cup").name == "red cup"
    assert toy.run("parse_query_obj", "the cup closest to the saucer").name == "red cup"
