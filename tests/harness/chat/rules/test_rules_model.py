"""The chat model as such: replies, limits, and what it refuses."""

from __future__ import annotations

import random

import pytest

from harness.chat.rules import Rules
from harness.chat.rules.model import NAME, count_tokens
from harness.failures import ProviderError
from harness.protocols import Message, Sampling

TWO_WAYS = """objects = ['radio', 'key']
# Query: turn off the radio.
composer("push down the key")
# done

objects = ['drill', 'lever']
# Query: turn off the drill.
composer("grasp the lever")
composer("move up by 5cm")
# done"""


def test_the_config_opens_a_model_that_names_itself():
    config = Rules()
    assert config.problems() == []
    model = config.open()
    assert model.name == NAME
    model.close()


def test_reply_counts_words_numbers_and_marks(ask):
    reply = ask("composer", "back to default pose")
    assert reply.text == "reset_to_default_pose()"
    assert reply.model == NAME
    assert reply.finish_reason == "stop"
    assert reply.completion_tokens == 3
    assert reply.prompt_tokens > 500
    assert reply.cost_usd == 0.0
    assert count_tokens("x = 3.5  # nice") == 7


def test_the_reply_says_which_example_it_follows(ask):
    assert ask("planner", "press the bell", ["bell"]).details == {"analogy": "press the doorbell."}


def test_equal_requests_get_equal_replies(ask):
    first = ask("planner", "put the cup in the pot", ["cup", "pot"], sampling=Sampling(seed=1))
    assert first == ask("planner", "put the cup in the pot", ["cup", "pot"], sampling=Sampling(seed=2))


def test_with_a_temperature_the_seed_chooses_among_near_equals(ask):
    def text(seed: int, temperature: float) -> str:
        sampling = Sampling(temperature=temperature, seed=seed)
        return ask("planner", "turn off the mixer", ["mixer", "tab"], TWO_WAYS, sampling).text

    assert {text(seed, 0.0) for seed in range(10)} == {'composer("push down the tab")\n# done'}
    assert len({text(seed, 1.0) for seed in range(10)}) == 2
    assert text(3, 1.0) == text(3, 1.0)


def test_a_reply_is_cut_at_the_limit_and_at_stop_strings(ask):
    whole = ask("composer", "grasp the cup").text
    cut = ask("composer", "grasp the cup", sampling=Sampling(max_tokens=10))
    assert (cut.finish_reason, cut.completion_tokens) == ("length", 10)
    assert whole.startswith(cut.text)
    stopped = ask("planner", "press the bell", ["bell"], sampling=Sampling(stop=("# done",)))
    assert "# done" not in stopped.text
    assert stopped.finish_reason == "stop"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "system message names none"),
        ([Message("user", "Where is the cup?")], "system message names none"),
        ([Message("system", "You complete the program `planner` for a robot arm.")], "no fenced code"),
        (
            [
                Message("system", "You complete the program `planner` for a robot arm."),
                Message("user", "```python\nx = 1\n```"),
            ],
            "no fenced code",
        ),
        (
            [
                Message("system", "You complete the program `juggler` for a robot arm."),
                Message("user", "```python\n# Query: juggle.\n```"),
            ],
            "does not know the program `juggler`",
        ),
    ],
)
def test_a_conversation_that_asks_for_no_program_is_an_error_and_no_answer(messages, said):
    with pytest.raises(ProviderError, match=said):
        Rules().open().complete(messages, Sampling())


def test_odd_queries_never_raise(ask):
    chance = random.Random(5)
    words = [
        "put",
        "the",
        "cup",
        "in",
        "on",
        "off",
        "of",
        "and",
        "to",
        ",",
        "by",
        "10",
        "cm",
        "turn",
        "it",
        "don't",
        "\\",
        "(",
    ]
    for program in ("planner", "composer", "parse_query_obj", "get_affordance_map", "get_rotation_map"):
        for _ in range(150):
            query = " ".join(chance.choices(words, k=chance.randrange(0, 12)))
            reply = ask(program, query, ["cup", "pot"])
            compile(reply.text, program, "exec")
