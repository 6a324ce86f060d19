"""The chat messages that ask for a language model program: few-shot files, context lines and query lines.
It sends nothing; the format is the one in `docs/contracts.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.failures import UsageError
from harness.protocols import Message

QUERY_MARKER = "# Query:"
CONTEXT_MARKER = "objects ="

MAP_PROGRAMS: tuple[str, ...] = (
    "get_affordance_map",
    "get_avoidance_map",
    "get_velocity_map",
    "get_rotation_map",
    "get_gripper_map",
)
PROGRAMS: tuple[str, ...] = ("planner", "composer", "parse_query_obj", *MAP_PROGRAMS)
CONTEXT_PROGRAMS = frozenset({"planner", "parse_query_obj"})
"""Programs that are told which objects the scene has."""
LAZY_PROGRAMS = frozenset({"parse_query_obj", *MAP_PROGRAMS})
"""Programs that answer with `ret_val`; the others act by calling."""

ACKNOWLEDGEMENT = "Understood. I will answer each query with the code that follows it, and nothing else."

_MAP = (
    "Maps are indexed [x, y, z] in voxels; cm2index(cm, axis) and index2cm(index, axis) convert. "
    "Positions of detected objects are voxel indices. Set `ret_val` to the finished map."
)
_DUTIES = {
    "planner": (
        "It breaks an instruction down into steps. Each step is one call of composer with a short sentence. "
        "Use the names in `objects`. End with the comment `# done`."
    ),
    "composer": (
        "It carries out one step: it finds what has to move with parse_query_obj, describes what it needs to "
        "the map programs in words, and calls execute or reset_to_default_pose."
    ),
    "parse_query_obj": (
        "It finds what a phrase refers to. Set `ret_val` to detect(name), to a list of such results, or to "
        "None. Use the names in `objects`, or the names of the end effector and the table."
    ),
    "get_affordance_map": f"It makes the map of where the moving object should go: 1 at targets, 0 elsewhere. {_MAP}",
    "get_avoidance_map": f"It makes the map of what to keep away from: 1 to avoid, 0 elsewhere. {_MAP}",
    "get_velocity_map": f"It makes the map of speeds, as factors on the usual speed 1. {_MAP}",
    "get_rotation_map": (
        f"It makes the map of end-effector orientations, as quaternions in the order w, x, y, z. {_MAP}"
    ),
    "get_gripper_map": f"It makes the map of gripper openings: 1 is open, 0 is closed. {_MAP}",
}


@dataclass(frozen=True)
class Example:
    """One few-shot example. `context` is the whole context line or empty; `query` is the text behind the
    query marker; `code` has one or more lines."""

    context: str
    query: str
    code: str


@dataclass(frozen=True)
class Section:
    """Text, and images as PNG files, that a strategy adds before the query, for example a failed plan."""

    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Request:
    """What one generated program is asked for. Equal requests of a trial are answered once."""

    program: str
    query: str
    context: str = ""


def request(program: str, query: str, objects: Sequence[str]) -> Request:
    """The request for `query`; only the programs of `CONTEXT_PROGRAMS` see the names in `objects`."""
    context = f"{CONTEXT_MARKER} {list(objects)!r}" if program in CONTEXT_PROGRAMS else ""
    return Request(program, normalise_query(query), context)


def normalise_query(query: str) -> str:
    """One line that ends in one full stop: a line break would end the comment that holds the query."""
    return " ".join(query.split()).rstrip(". ") + "."


def parse_examples(text: str, where: str) -> tuple[Example, ...]:
    """Split a few-shot file at its blank lines. Raises `UsageError` with `where` and the line number for
    an example without a query line or without code."""
    examples = []
    for number, block in _blocks(text):
        context = block.pop(0) if block[0].startswith(CONTEXT_MARKER) else ""
        if not block or not block[0].startswith(QUERY_MARKER):
            raise UsageError(
                f"{where}, line {number}: an example starts with an optional line `{CONTEXT_MARKER} [...]` and a "
                f"line `{QUERY_MARKER} ...`, and has no blank line inside."
            )
        query, code = block[0].removeprefix(QUERY_MARKER).strip(), "\n".join(block[1:])
        if not code:
            raise UsageError(f"{where}, line {number}: the example `{query}` has no code.")
        examples.append(Example(context, query, code))
    if not examples:
        raise UsageError(f"{where} has no example.")
    return tuple(examples)


def load_frame(folder: Path) -> str:
    """What `frame.txt` in an environment's prompts folder says about its axes."""
    return _read(folder / "frame.txt", "description of the axes")


def load_examples(folder: Path, program: str) -> tuple[Example, ...]:
    """The examples in the program's file in an environment's prompts folder."""
    path = folder / f"{program}.txt"
    return parse_examples(_read(path, f"examples for {program}"), str(path))


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise UsageError(f"No {what}: {path} does not exist.") from None


def render_example(example: Example) -> str:
    """The example as it stands in a few-shot file."""
    context = f"{example.context}\n" if example.context else ""
    return f"{context}{QUERY_MARKER} {example.query}\n{example.code}"


def messages(
    asked: Request, examples: Sequence[Example], frame: str, sections: Sequence[Section] = ()
) -> list[Message]:
    """The four messages that ask for a program. `frame` says which way the axes point; `sections` come before
    the query in the last message."""
    system = (
        f"You complete the program `{asked.program}` for a robot arm.\n"
        f"{_DUTIES[asked.program]}\n"
        f"{frame}\n\n"
        "Rules:\n"
        "- Answer with Python code only, in the style of the examples.\n"
        "- Do not import anything: `np` and the functions that the examples use are there.\n"
        "- Do not repeat the examples or the query.\n"
        "- Read every line of the query, also numbers, units and directions."
    )
    shown = "\n\n".join(render_example(example) for example in examples)
    query = f"{QUERY_MARKER} {asked.query}"
    block = fenced(f"{asked.context}\n{query}" if asked.context else query)
    return [
        Message("system", system),
        Message("user", f"Examples:\n{fenced(shown)}"),
        Message("assistant", ACKNOWLEDGEMENT),
        Message(
            "user",
            "\n\n".join([*(section.text for section in sections), block]),
            images=tuple(image for section in sections for image in section.images),
        ),
    ]


def fenced(code: str) -> str:
    """A python block, with a fence that is longer than any in the code."""
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{ticks}python\n{code}\n{ticks}"


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """Runs of lines without a blank one, each with the number of its first line."""
    blocks: list[tuple[int, list[str]]] = []
    previous_blank = True
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            previous_blank = True
            continue
        if previous_blank:
            blocks.append((number, []))
        blocks[-1][1].append(line.rstrip())
        previous_blank = False
    return blocks
