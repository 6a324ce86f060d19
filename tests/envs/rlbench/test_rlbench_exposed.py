"""Names that are found in a scene."""

from __future__ import annotations

from envs.rlbench import package
from envs.rlbench.exposed import EXPOSED, Part, Shape, discovered


def test_the_nine_tasks_have_names() -> None:
    assert tuple(EXPOSED) == package.NINE
    assert all(len(set(names)) == len(names) > 0 for names in EXPOSED.values())


def test_a_visual_child_belongs_to_the_shape_of_the_same_name() -> None:
    found = discovered(
        [
            Shape("boundary_root", (), False),
            Shape("cup", ("boundary_root",), False),
            Shape("cup_visual", ("cup", "boundary_root"), True),
            Shape("cup_visual_sub0", ("cup", "boundary_root"), True),
            Shape("label", ("cup", "boundary_root"), True),
            Shape("hoop_visual", ("hoop_respondable", "boundary_root"), True),
            Shape("ball_stop", ("boundary_root",), False),
        ]
    )
    assert found == {
        "cup": Part("cup"),
        "cup0": Part("cup_visual_sub0"),
        "label": Part("label"),
        "hoop": Part("hoop_respondable"),
    }


def test_boundaries_are_no_objects_and_equal_names_stay_apart() -> None:
    found = discovered(
        [Shape("spawn_boundary", (), True), Shape("big_box", (), True), Shape("big_box_visual", (), True)]
    )
    assert found == {"big_box": Part("big_box"), "big_box_visual": Part("big_box_visual")}


def test_nothing_seen_has_no_names() -> None:
    assert discovered([Shape("hidden", (), False)]) == {}
