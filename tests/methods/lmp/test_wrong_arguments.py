"""Whatever a program does with what it is handed: a wrong argument is the program's failure, never an error of the
harness. Each call, attribute and item that a program can reach is tried with values of every wrong kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.failures import CodeFailure, MethodFailure
from harness.sandbox.attributes import belongs_to_api
from methods.lmp.interface import TaskInterface
from methods.lmp.programs import Programs
from methods.lmp.prompt import LAZY_PROGRAMS, PROGRAMS
from methods.lmp.writer import Writer
from methods.replan import Proposal
from tests.methods.conftest import Stage

NAN, INF = float("nan"), float("inf")
REPLIES = {
    "block.": "ret_val = detect('red block')",
    "blocks.": "ret_val = [detect('red block'), detect('blue block')]",
    "there.": "ret_val = get_empty_affordance_map()\nret_val[50, 50, 60] = 1",
}
VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "no text": "",
    "text": "red block",
    "number as text": "5",
    "long text": "block " * 5000,
    "half a surrogate": "\ud800",
    "null byte": "\x00",
    "bytes": b"x",
    "0": 0,
    "-1": -1,
    "fraction": 0.5,
    "nan": NAN,
    "infinity": INF,
    "large": 1e308,
    "huge": 10**400,
    "more digits than are written": 10**5000,
    "complex": 1j,
    "numpy's integer": np.uint64(2**63),
    "numpy's nan": np.float32("nan"),
    "no list": [],
    "list": [1, 2, 3],
    "huge list": [1, 10**400, 3],
    "ragged": [1, [2, 3], 4],
    "nans": [NAN, NAN, NAN, NAN],
    "texts": ["a", "b", "c"],
    "tuple": (1, 2),
    "dict": {"x": 1},
    "set": {1, 2},
    "range": range(3),
    "slice": slice(1, 2),
    "slice without step": slice(0, 10, 0),
    "slice of texts": slice("a", "b"),
    "slice to infinity": slice(None, INF),
    "ellipsis": ...,
    "no array": np.zeros(0),
    "array": np.arange(3),
    "array of zero dimensions": np.array(True),
    "array of two dimensions": np.ones((2, 3)),
    "array of texts": np.array(["a", "b"]),
    "array of objects": np.array([None, {}, 10**400], dtype=object),
    "array of complex": np.ones(4) * 1j,
    "mask of another size": np.ones((3, 3, 3), bool),
    "long array": np.zeros(100_000),
}
GOOD = {
    "cm2index": ["5", "'x'"],
    "index2cm": ["5", "'x'"],
    "pointat2quat": ["[0, 0, 1]"],
    "euler2quat": ["0", "0", "0"],
    "quat2euler": ["[1, 0, 0, 0]"],
    "qinverse": ["[1, 0, 0, 0]"],
    "qmult": ["[1, 0, 0, 0]", "[1, 0, 0, 0]"],
    "set_voxel_by_radius": ["get_empty_affordance_map()", "[1, 2, 3]", "5", "1"],
    "detect": ["'red block'"],
    "execute": ["detect('gripper')", "None", "None", "None", "None", "None"],
}
"""Arguments that fit, of which one at a time is replaced; functions that are not here take none."""
ITEMS = [
    "{0}[value]",
    "{0}[value, 0, 0]",
    "{0}[0, 0, value]",
    "{0}[value, value, value]",
    "{0}[0, 0, 0, value]",
    "{0}[value:]",
    "{0}[::value]",
    "{0}[value] = value",
    "{0}[value, 0, 0] = [1, 0, 0, 0]",
    "{0}[0, 0, 0, value] = [1, 0, 0, 0]",
    "{0}[value:, 0, ::value] = [1, 0, 0, 0]",
    "{0}[...] = value",
    "del {0}[value]",
]
USES = [
    "{0}()",
    "{0}(value)",
    "{0}(value, value)",
    "{0}(x=value)",
    "list({0})",
    "len({0})",
    "str({0})",
    "{0} + value",
    "{0} == value",
    "value in {0}",
    "np.asarray({0}) * value",
    "{{{0}: value}}",
]


ACCEPTED = pytest.mark.filterwarnings(
    "ignore:Casting complex values to real:numpy.exceptions.ComplexWarning",
    "ignore:overflow encountered in (cast|dot):RuntimeWarning",
)
"""What NumPy says of the values above. A program that hands them over goes on with what it got."""


class Replies(dict[str, str]):
    """A chat model that has a program for any sentence."""

    def __missing__(self, query: str) -> str:
        return "ret_val = None"


class Reached:
    """What programs are handed in one trial, by name, and how they are run with a value."""

    def __init__(self, one: Stage) -> None:
        self._stage = one
        with one.episode.trial() as trial:
            writer = Writer(one.episode, trial, one.world.prompts, Proposal())
            interface = TaskInterface(one.world, trial.count, one.episode.trace)
            programs = Programs(one.episode, trial, writer, interface)
            self.api = {name: call for program in PROGRAMS for name, call in programs.api(program).items()}
            api: Any = self.api
            self.objects = {
                "a_map": api["get_empty_affordance_map"](),
                "rotations": api["get_empty_rotation_map"](),
                "seen": api["detect"]("red block"),
                "tool": api["detect"]("gripper"),
                "lazy": api["parse_query_obj"]("block"),
                "several": api["parse_query_obj"]("blocks"),
                "lazy_map": api["get_affordance_map"]("there"),
            }

    def members(self) -> Iterator[str]:
        """Objects and methods of the task API, and the maps, as a program writes them; what else an attribute holds
        is plain data, which is the sandbox's to guard."""
        waiting = list(self.objects.items())
        while waiting:
            path, found = waiting.pop()
            if callable(found) or belongs_to_api(found) or found is self.objects["a_map"]:
                yield path
            if belongs_to_api(found):
                names = [name for name in dir(found) if not name.startswith("_")]
                waiting += [(f"{path}.{name}", getattr(found, name)) for name in names]

    def run(self, code: str) -> dict[str, Any]:
        return self._stage.episode.sandbox.compile(code, {**self.api, **self.objects}).run()

    def tried(self, code: str) -> list[str]:
        """What escaped from the code, run once with each value: all that is no failure of the program."""
        which = [""]
        values = {**VALUES, **self.objects}
        known = {**self.api, **self.objects, "values": values, "which": which}
        program = self._stage.episode.sandbox.compile(f"value = values[which[0]]\n{code}", known)
        escaped = []
        for name in values:
            which[0] = name
            try:
                program.run()
            except MethodFailure:
                continue
            except Exception as error:
                escaped.append(f"`{code}` with {name}: {type(error).__name__}: {error}"[:200])
        return escaped


@pytest.fixture
def reached(stage: Callable[..., Stage]) -> Reached:
    return Reached(stage(Replies(REPLIES)))


@ACCEPTED
def test_no_call_with_wrong_arguments_is_an_error_of_the_harness(reached: Reached) -> None:
    escaped = []
    for name, call in reached.api.items():
        good = GOOD.get(name, [])
        if name in ("composer", *LAZY_PROGRAMS):
            good = ["'there'"]
        if callable(call):
            for i in range(len(good)):
                arguments = ", ".join([*good[:i], "value", *good[i + 1 :]])
                escaped += reached.tried(f"{name}({arguments})")
            escaped += reached.tried(f"{name}(value, value, value, value, value)")
            escaped += reached.tried(f"{name}(value=value)")
    assert escaped == []


@pytest.mark.slow
@ACCEPTED
def test_no_use_of_an_object_that_is_handed_out_is_an_error_of_the_harness(reached: Reached) -> None:
    escaped = []
    for member in reached.members():
        for template in (*ITEMS, *USES):
            escaped += reached.tried(template.format(member))
    assert escaped == []


@pytest.mark.parametrize("code", ["ret_val = [p.sum() for p in a_map]", "ret_val = list(map(np.sum, a_map))"])
def test_going_through_a_map_ends(reached: Reached, code: str) -> None:
    """The index after the last one is the last one, so that going by indices would have no end."""
    reached.objects["a_map"][99, 0, 0] = 3
    results = reached.run(code)
    assert results["ret_val"] == [0.0] * 99 + [3.0]


@pytest.mark.parametrize(
    "code",
    [
        "for q in rotations: pass",
        "rotations.at([1, 2, 3])",
        "rotations[None, 0, 0]",
        "rotations[..., 0] = [1, 0, 0, 0]",
        "del rotations[1, 2, 3]",
        "seen.grid",
        "seen._grid",
        "several[::0]",
        "composer(10**5000)",
        "composer('\\ud83d')",
        "composer('\\n.')",
    ],
)
def test_what_makes_no_sense_is_said_to_be_the_programs_mistake(reached: Reached, code: str) -> None:
    with pytest.raises(CodeFailure):
        reached.run(code)


def test_what_a_program_writes_into_an_observation_is_not_written_into_the_world(reached: Reached) -> None:
    arrays = ("position", "aabb", "normal", "world_position", "points")
    before = {
        name: [np.array(getattr(reached.objects[name], a)) for a in arrays] for name in ("seen", "tool")
    }
    for name in before:
        reached.run("\n".join(f"{name}.{array}[...] = 0" for array in arrays))
    for name, asked in (("seen", "red block"), ("tool", "gripper")):
        now = reached.run(f"ret_val = detect({asked!r})")["ret_val"]
        for array, was in zip(arrays, before[name], strict=True):
            np.testing.assert_array_equal(getattr(now, array), was)
