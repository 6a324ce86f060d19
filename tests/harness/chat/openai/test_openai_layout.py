from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.chat.openai.layout import as_text
from harness.failures import ProviderError
from harness.protocols import Message, Reply, Sampling
from methods.lmp.prompt import Example, Section, messages, request
from tests.harness.chat.wire import WireServer, says

EXAMPLES = (
    Example("objects = ['mug']", "open gripper.", "composer('open gripper')\n# done"),
    Example("objects = ['lid']", "go home.", "composer('go home')\n# done"),
)


def asked(*sections: Section) -> list[Message]:
    return messages(request("planner", "lift the mug", ["mug"]), EXAMPLES, "x points ahead.", sections)


def test_a_program_is_a_file_of_code_that_ends_in_its_query() -> None:
    text, stops = as_text(asked())
    comments, _, code = text.partition("# Examples:\n")
    assert comments.startswith("# You complete the program `planner` for a robot arm.\n# It breaks ")
    assert "\n# x points ahead.\n#\n# Rules:\n" in comments
    assert code == (
        "\nobjects = ['mug']\n# Query: open gripper.\ncomposer('open gripper')\n# done\n"
        "\nobjects = ['lid']\n# Query: go home.\ncomposer('go home')\n# done\n"
        "\nobjects = ['mug']\n# Query: lift the mug.\n"
    )
    assert all(not line or line[0] == "#" for line in comments.splitlines())
    assert stops == ("\n# Query:", "\nobjects =")


def test_what_a_method_adds_stands_before_the_query() -> None:
    text, _ = as_text(
        asked(Section("It failed:\n\n```python\ncomposer('x')\n```"), Section("Critique: too\nhigh."))
    )
    assert text.endswith(
        "# done\n\n# It failed:\n\ncomposer('x')\n\n# Critique: too\n# high.\n\n"
        "objects = ['mug']\n# Query: lift the mug.\n"
    )


def test_code_stands_byte_for_byte() -> None:
    code = "def f():\n    return '```'  # not a fence\n\n\n\tx = `1`"
    text, _ = as_text(
        [Message("system", "You complete the program `planner`."), Message("user", f"```python\n{code}\n```")]
    )
    assert text == f"# You complete the program `planner`.\n\n{code}\n"


def test_other_conversations_are_transcripts() -> None:
    text, stops = as_text(
        [Message("system", "Judge."), Message("user", "It fell.\n"), Message("assistant", "Why?")]
    )
    assert text == "### system\nJudge.\n\n### user\nIt fell.\n\n### assistant\nWhy?\n\n### assistant\n"
    assert stops == ("\n### ",)


def test_a_text_holds_no_pictures() -> None:
    with pytest.raises(ProviderError, match=r"2 pictures; use llm\.layout=chat"):
        as_text([Message("user", "look", images=(b"1", b"2"))])


def test_what_is_sent_and_read(server: WireServer, ask: Callable[..., Reply]) -> None:
    server.script.append(says("composer('lift')\n# done"))
    reply = ask(asked(), Sampling(stop=("END",), max_tokens=9), layout="completion")
    (body,) = server.bodies
    assert server.paths == ["/v1/completions"]
    assert body["prompt"] == as_text(asked())[0]
    assert body["stop"] == ["END", "\n# Query:", "\nobjects ="]
    assert (body["max_tokens"], "messages" in body) == (9, False)
    assert (reply.text, reply.finish_reason) == ("composer('lift')\n# done", "stop")
    assert reply.prompt_tokens > 0
