"""Programs that call each other: who may do what, and when lazy ones look."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from methods.replanning import Replanning
from tests.methods.conftest import Stage

Build = Callable[..., Stage]
GRIPPER = {"gripper.": "ret_val = detect('gripper')"}


def play(one: Stage) -> str | None:
    Replanning().play(one.episode)
    return one.episode.trials[0].failure


def test_a_whole_hierarchy_lifts_the_block(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": 'composer("grasp the red block")\ncomposer("move up by 20cm")',
            "grasp the red block.": (
                "movable = parse_query_obj('gripper')\n"
                "affordance_map = get_affordance_map('the red block')\n"
                "gripper_map = get_gripper_map('closed at the red block')\n"
                "execute(movable, affordance_map=affordance_map, gripper_map=gripper_map)"
            ),
            "move up by 20cm.": (
                "movable = parse_query_obj('gripper')\n"
                "affordance_map = get_affordance_map(f'20cm above {movable.position}')\n"
                "execute(movable, affordance_map=affordance_map)"
            ),
            "the red block.": (
                "affordance_map = get_empty_affordance_map()\n"
                "x, y, z = parse_query_obj('red block').position\n"
                "affordance_map[x, y, z] = 1\nret_val = affordance_map"
            ),
            "closed at the red block.": (
                "gripper_map = get_empty_gripper_map()\ngripper_map[:, :, :] = 1\n"
                "set_voxel_by_radius(gripper_map, parse_query_obj('red block').position, radius_cm=1, value=0)\n"
                "ret_val = gripper_map"
            ),
            "20cm above [59 59 2].": (
                "affordance_map = get_empty_affordance_map()\n"
                "affordance_map[59, 59, 2 + cm2index(20, 'z')] = 1\nret_val = affordance_map"
            ),
            "red block.": "ret_val = detect('red block')",
            **GRIPPER,
        }
    )
    one.world.goal = lambda world: world.held == "red block" and world.blocks["red block"][2] > 0.15
    assert play(one) is None
    assert one.episode.trials[0].success


def test_maps_and_observations_are_of_the_newest_scene(stage: Build) -> None:
    """The same phrase is asked once and evaluated each time: after a move the gripper is elsewhere."""
    one = stage(
        {
            "lift the red block.": 'composer("go")',
            "go.": (
                "movable = parse_query_obj('gripper')\n"
                "before = movable.position[2]\n"
                "reset_to_default_pose()\n"
                "snapshot = movable()\n"
                "execute(movable, affordance_map=get_affordance_map('10cm up'))\n"
                "execute(movable, affordance_map=get_affordance_map('10cm up'))\n"
                "assert snapshot.position[2] == before\n"
                "assert movable.position[2] > before + 15"
            ),
            "10cm up.": (
                "affordance_map = get_empty_affordance_map()\nx, y, z = get_ee_pos()\n"
                "affordance_map[x, y, z + 10] = 1\nret_val = affordance_map"
            ),
            **GRIPPER,
        }
    )
    assert play(one) == "goal"
    assert one.chat.queries().count("10cm up.") == 1
    assert one.world.tool.position[2] == pytest.approx(0.6, abs=0.011)


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("execute(1)", "parse_query_obj"),
        ("ret_val = execute(detect('gripper'))", "execute"),
        ("composer('x')", "composer"),
        ("reset_to_default_pose()", "reset_to_default_pose"),
    ],
)
def test_a_program_that_looks_cannot_act(stage: Build, code: str, missing: str) -> None:
    one = stage(
        {
            "lift the red block.": 'composer("go")',
            "go.": "movable = parse_query_obj('gripper')\nmovable.position",
            "gripper.": code,
        }
    )
    assert play(one) == "code"
    assert one.world.moves == []


def test_a_planner_moves_the_robot_through_the_composer_or_the_task_api_only(stage: Build) -> None:
    one = stage({"lift the red block.": "get_affordance_map('x')"})
    assert play(one) == "code"
    assert "get_affordance_map" in str(one.episode.trials[0].reason)


def test_a_step_that_fails_ends_the_plan(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": 'composer("one")\ncomposer("two")',
            "one.": "parse_query_obj('ghost')",
            "ghost.": "ret_val = None",
        }
    )
    assert play(one) == "perception"
    assert "'red block', 'blue block'" in str(one.episode.trials[0].reason)
    assert "two." not in one.chat.queries()


@pytest.mark.parametrize(
    ("program", "call"),
    [
        ("planner", "composer()"),
        ("planner", "composer('lift it', 'slowly')"),
        ("planner", "composer(sentence='lift it')"),
        ("planner", "reset_to_default_pose(1)"),
        ("planner", "execute()"),
        ("planner", "execute(detect('gripper'), speed=2)"),
        ("composer", "parse_query_obj()"),
        ("composer", "parse_query_obj('gripper', 'hand')"),
        ("composer", "get_affordance_map()"),
        ("composer", "get_rotation_map('down', 'x')"),
    ],
)
def test_a_call_with_arguments_that_do_not_fit_is_the_programs_mistake(
    stage: Build, program: str, call: str
) -> None:
    """And no fault of the harness, which would make the episode an error that runs again for ever."""
    replies = {"planner": {"lift the red block.": call}, "composer": {"go.": call, **GRIPPER}}[program]
    one = stage({"lift the red block.": "composer('go')", **replies})
    assert play(one) == "code"
    reason = str(one.episode.trials[0].reason)
    assert reason.startswith("line 1: TypeError: ")
    assert f"`{call}`" in reason
    assert one.world.moves == []


def test_a_lazy_program_without_ret_val_says_so(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": 'composer("go")',
            "go.": "parse_query_obj('gripper')",
            "gripper.": "x = detect('gripper')",
        }
    )
    assert play(one) == "code"
    assert "ret_val" in str(one.episode.trials[0].reason)


def test_several_objects_by_one_phrase(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": 'composer("go")',
            "go.": (
                "blocks = parse_query_obj('the blocks')\n"
                "assert len(blocks) == 2\n"
                "names = [block.name for block in blocks]\n"
                "assert names == ['red block', 'blue block']\n"
                "assert blocks[1].position[1] < blocks[0].position[1]"
            ),
            "the blocks.": "ret_val = [detect('red block'), detect('blue block')]",
        }
    )
    assert play(one) == "goal"


def test_objects_are_a_name_where_the_prompt_shows_them(stage: Build) -> None:
    one = stage({"lift the red block.": "assert objects == ['red block', 'blue block']"})
    assert play(one) == "goal"
    other = stage({"lift the red block.": 'composer("go")', "go.": "objects"})
    assert play(other) == "code"


def test_calls_are_traced_with_their_arguments(stage: Build) -> None:
    one = stage({"lift the red block.": 'composer("home")', "home.": "reset_to_default_pose()"})
    play(one)
    calls = [(entry["by"], entry["name"], entry["arguments"]) for entry in one.traced("call")]
    assert calls == [("planner", "composer", ["'home'"]), ("composer", "reset_to_default_pose", [])]
