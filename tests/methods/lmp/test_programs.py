"""Programs that call each other: who may do what, and when lazy ones look."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.failures import ProviderError
from harness.protocols import Reply
from methods.lmp.interface import TaskInterface
from methods.lmp.programs import Programs
from methods.lmp.prompt import MAP_PROGRAMS, PROGRAMS, load_examples
from methods.lmp.writer import Writer
from methods.replan import Proposal
from methods.replanning import Replanning
from tests.methods.conftest import Stage

Build = Callable[..., Stage]
GRIPPER = {"gripper.": "ret_val = detect('gripper')"}
ENVIRONMENTS = Path(__file__).parents[3] / "envs"
GEOMETRY = {
    *("get_ee_pos", "detect", "cm2index", "index2cm", "set_voxel_by_radius"),
    *("pointat2quat", "euler2quat", "quat2euler", "qinverse", "qmult"),
    *(f"get_empty_{kind}_map" for kind in ("affordance", "avoidance", "velocity", "rotation", "gripper")),
}
ACTING = {"execute", "reset_to_default_pose"}
MAY_USE = {
    "planner": GEOMETRY | ACTING | {"composer", "objects"},
    "composer": GEOMETRY | ACTING | {"parse_query_obj", *MAP_PROGRAMS},
    "parse_query_obj": GEOMETRY | {"objects"},
    **{program: GEOMETRY | {"parse_query_obj"} for program in MAP_PROGRAMS},
}
"""By program: what looks and computes is for all, what moves the robot for the two that are not lazy."""


def play(one: Stage) -> str | None:
    Replanning().play(one.episode)
    return one.episode.trials[0].failure


def programs(one: Stage) -> Programs:
    with one.episode.trial() as trial:
        writer = Writer(one.episode, trial, one.world.prompts, Proposal())
        interface = TaskInterface(one.world, trial.count, one.episode.trace)
        return Programs(one.episode, trial, writer, interface)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_program_may_use(stage: Build, program: str) -> None:
    assert set(programs(stage({})).api(program)) == MAY_USE[program]


@pytest.mark.parametrize("environment", ["tabletop", "playtable"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_example_that_ships_compiles_with_what_its_program_may_use(
    stage: Build, environment: str, program: str
) -> None:
    """Fact page A6.2 and A6.3: public examples call what is not bound, lack ret_val or end in a stray letter. A
    name that is neither set nor bound is known when it runs, so that the names are looked at here."""
    one = stage({})
    api = programs(one).api(program)
    examples = load_examples(ENVIRONMENTS / environment / "prompts", program)
    for example in examples:
        compiled = one.episode.sandbox.compile(example.code, api)
        assert compiled.notes == ()
        names = {node.id for node in ast.walk(ast.parse(example.code)) if isinstance(node, ast.Name)}
        unbound = names - set(api) - {"np"} - set(dir(builtins)) - stored(example.code)
        assert not unbound, f"{environment}, {program}, {example.query}: {unbound}"
        assert ("ret_val" in stored(example.code)) == (program not in ("planner", "composer"))


def stored(code: str) -> set[str]:
    """Names that code gives a value, arguments of functions included."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in nodes if isinstance(node, ast.arg)}


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


@pytest.mark.parametrize("query", ["None", "3", "''", "' . '", "['grasp it']"])
@pytest.mark.parametrize("program", ["composer", "parse_query_obj", "get_gripper_map"])
def test_a_program_is_called_with_a_sentence(stage: Build, program: str, query: str) -> None:
    calls = {"lift the red block.": f"{program}({query})" if program == "composer" else "composer('go')"}
    one = stage({**calls, "go.": f"{program}({query})"})
    assert play(one) == "code"
    assert f"{program} has to be called with a sentence, not with " in one.episode.trials[0].reason
    assert len(one.chat.asked) == (1 if program == "composer" else 2)  # nothing is asked for it


def test_one_sentence_in_other_words_of_space_is_one_program(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": "for said in ['go  home', 'go home.', ' go\\nhome ']:\n    composer(said)",
            "go home.": "reset_to_default_pose()",
        }
    )
    assert play(one) == "goal"
    assert one.chat.queries() == ["lift the red block.", "go home."]
    assert len(one.world.moves) == 3


def test_a_program_is_checked_once_however_often_it_runs(
    stage: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was dropped from it is counted once."""
    one = stage(
        {
            "lift the red block.": "composer('go')\ncomposer('go')",
            "go.": "import numpy as np\nfor _ in range(3):\n    parse_query_obj('gripper').position",
            **GRIPPER,
        }
    )
    compiled: list[str] = []
    compile_ = one.episode.sandbox.compile
    monkeypatch.setattr(
        one.episode.sandbox, "compile", lambda code, api: compiled.append(code) or compile_(code, api)
    )
    assert play(one) == "goal"
    assert compiled == list(one.chat.replies.values())
    assert one.episode.trials[0].events == {"code: import numpy": 1}


def test_a_step_limit_in_a_step_ends_the_plan(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": "while True:\n    composer('go')",
            "go.": "reset_to_default_pose()",
        }
    )
    one.world.limit = 3
    assert play(one) == "steps"
    assert len(one.world.moves) == 3
    assert one.episode.trials[0].steps == 4


@pytest.mark.parametrize("inner", ["parse_query_obj('ghost')", "execute(3)", "1 / 0", "composer('x')", "]"])
def test_no_plan_can_go_on_after_a_step_that_failed(stage: Build, inner: str) -> None:
    one = stage(
        {
            "lift the red block.": "try:\n    composer('go')\nexcept Exception:\n    pass\ncomposer('on')",
            "go.": Reply(inner),
            "on.": "reset_to_default_pose()",
            "ghost.": "ret_val = []",
        }
    )
    expected = {"parse_query_obj('ghost')": "perception", "]": "generation"}.get(inner, "code")
    assert play(one) == expected
    assert one.world.moves == []
    assert "on." not in one.chat.queries()


def test_a_provider_that_fails_in_the_middle_of_a_plan_is_no_failure_of_it(stage: Build) -> None:
    """Not even a plan that handles all exceptions turns it into one."""
    one = stage({"lift the red block.": "try:\n    composer('go')\nexcept Exception:\n    pass"})
    planner = one.chat

    def models(role: str) -> object:
        if role != "planner":
            raise ProviderError("no answer")
        return planner

    one.episode.models = models  # type: ignore[assignment]
    with pytest.raises(ProviderError, match="no answer"):
        Replanning().play(one.episode)
    assert one.episode.trials[0].failure is None


def test_what_a_program_does_to_its_list_of_objects_stays_with_it(stage: Build) -> None:
    one = stage(
        {
            "lift the red block.": "objects.clear()\ncomposer('go')",
            "go.": "parse_query_obj('gripper').position",
            "gripper.": "assert objects == ['red block', 'blue block']\nret_val = detect('gripper')",
        }
    )
    assert play(one) == "goal"
    assert "objects = ['red block', 'blue block']" in one.chat.asked[-1][-1].text


def test_maps_find_things_too(stage: Build) -> None:
    """A map program asks parse_query_obj, and both are written once for two evaluations."""
    one = stage(
        {
            "lift the red block.": "composer('go')",
            "go.": (
                "a = get_affordance_map('at the block')\n"
                "first = np.argwhere(a() > 0)\n"
                "second = np.argwhere(a() > 0)\n"
                "assert (first == second).all() and first.tolist() == [[59, 59, 2]]"
            ),
            "at the block.": (
                "x, y, z = parse_query_obj('the block').position\n"
                "affordance_map = get_empty_affordance_map()\naffordance_map[x, y, z] = 1\n"
                "ret_val = affordance_map"
            ),
            "the block.": "ret_val = detect('red block')",
        }
    )
    assert play(one) == "goal"
    assert one.chat.queries() == ["lift the red block.", "go.", "at the block.", "the block."]
    calls = [(entry["by"], entry["name"]) for entry in one.traced("call")]
    assert calls.count(("get_affordance_map", "parse_query_obj")) == 2
    assert (
        calls.count(("parse_query_obj", "detect")) == 4
    )  # to see that it is one thing, and for its position
    np.testing.assert_array_equal(one.world.tool.position, [0.0, 0.0, 0.4])
