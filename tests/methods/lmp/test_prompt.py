"""Few-shot files and the messages made of them."""

from pathlib import Path

import pytest

from harness.failures import UsageError
from methods.lmp.prompt import (
    CONTEXT_PROGRAMS,
    PROGRAMS,
    Example,
    Section,
    load_examples,
    messages,
    normalise_query,
    parse_examples,
    render_example,
    request,
)

FILE = """\
objects = ['blue block', 'mug']
# Query: lift the mug.
composer("grasp the mug")
# done


objects = ['lamp']
# Query: wait.
# done
"""
EXAMPLES = parse_examples(FILE, "planner.txt")


def test_examples_are_parsed_into_context_query_and_code() -> None:
    assert parse_examples(FILE, "planner.txt") == (
        Example("objects = ['blue block', 'mug']", "lift the mug.", 'composer("grasp the mug")\n# done'),
        Example("objects = ['lamp']", "wait.", "# done"),
    )


def test_rendering_gives_the_file_back() -> None:
    text = "\n\n".join(render_example(example) for example in EXAMPLES)
    assert parse_examples(text, "again") == EXAMPLES


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("\n\n", None),
        ("# Query: a.\n", 1),
        ("# Query: a.\nret_val = 1\n\nret_val = 2\n", 4),
        ("objects = ['a']\n\n# Query: a.\nret_val = 1\n", 1),
        ("import numpy\n# Query: a.\nret_val = 1\n", 1),
    ],
)
def test_malformed_files_are_refused_with_their_place(text: str, line: int | None) -> None:
    with pytest.raises(UsageError, match="broken.txt" + (f", line {line}:" if line else "")):
        parse_examples(text, "broken.txt")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"composer\.txt does not exist"):
        load_examples(tmp_path, "composer")


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("open the drawer", "open the drawer."),
        ("open the drawer. ", "open the drawer."),
        ("open\n  the drawer\nimport os", "open the drawer import os."),
        ("move 5.5cm up", "move 5.5cm up."),
        ("", "."),
    ],
)
def test_queries_become_one_line(query: str, line: str) -> None:
    assert normalise_query(query) == line


def test_request_is_four_messages() -> None:
    system, shown, answer, last = messages(
        request("planner", "push the lamp", ["lamp", "bob's cup"]), EXAMPLES, "Axes: x is up."
    )
    assert system.role == "system"
    assert system.text.startswith("You complete the program `planner` for a robot arm.\n")
    assert "\nAxes: x is up.\n" in system.text
    assert shown.role == "user"
    assert shown.text.startswith(
        "Examples:\n```python\nobjects = ['blue block', 'mug']\n# Query: lift the mug.\n"
    )
    assert answer.role == "assistant"
    assert last.role == "user"
    assert last.text == "```python\nobjects = ['lamp', \"bob's cup\"]\n# Query: push the lamp.\n```"


def test_every_example_keeps_its_query_marker() -> None:
    """Fact page A6.1: chat mode used to drop the marker from all examples."""
    for program in PROGRAMS:
        shown = messages(request(program, "x", []), EXAMPLES, "Axes.")[1].text
        assert shown.count("# Query:") == len(EXAMPLES)
        assert all(f"# Query: {example.query}\n{example.code}" in shown for example in EXAMPLES)


def test_only_two_programs_get_the_context_line() -> None:
    for program in PROGRAMS:
        last = messages(request(program, "x", ["cup"]), EXAMPLES, "Axes.")[-1].text
        assert ("objects = ['cup']" in last) == (program in CONTEXT_PROGRAMS)
    assert {"planner", "parse_query_obj"} == CONTEXT_PROGRAMS


def test_sections_come_before_the_query_and_bring_their_images() -> None:
    plain = messages(request("planner", "x", []), EXAMPLES, "Axes.")
    added = messages(
        request("planner", "x", []),
        EXAMPLES,
        "Axes.",
        [Section("A failed plan:"), Section("Seen:", (b"png",))],
    )
    assert added[:3] == plain[:3]
    assert added[3].text == "A failed plan:\n\nSeen:\n\n" + plain[3].text
    assert added[3].images == (b"png",)
