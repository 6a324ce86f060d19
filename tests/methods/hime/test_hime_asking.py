"""A reply that cannot be used is asked for once more, and no oftener."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.failures import GenerationFailure, ProviderError
from harness.protocols import Message, Reply
from methods.hime.asking import Answer, answer
from methods.hime.wire import PlannerReply, read_second

GOOD = "<summary>s</summary><plan_list>[current] go</plan_list>"
MESSAGES = [Message("system", "rules"), Message("user", "question")]


class Chat:
    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    def __call__(self, messages: Sequence[Message]) -> Reply:
        self.asked.append(list(messages))
        return self.replies.pop(0)


def ask(chat: Chat, counted: list[str]) -> Answer[PlannerReply]:
    return answer(chat, MESSAGES, read_second, "the planner's plan", counted.append)


def test_a_good_reply_is_taken_at_once() -> None:
    chat, counted = Chat(Reply(GOOD)), list[str]()
    found = ask(chat, counted)
    assert (found.found.lines[0].text, found.text, found.requests, counted) == ("go", GOOD, 1, [])


@pytest.mark.parametrize(
    ("bad", "turns", "why"),
    [
        (Reply("Sorry."), 4, "none of the elements"),
        (Reply(""), 3, "the reply is empty"),
        (Reply(GOOD, finish_reason="length"), 4, "cut off"),
        (Reply("<plan_list></plan_list>"), 4, "no plan list"),
    ],
)
def test_a_bad_reply_is_asked_for_again_with_the_reason(bad: Reply, turns: int, why: str) -> None:
    chat, counted = Chat(bad, Reply(GOOD)), list[str]()
    found = ask(chat, counted)
    assert (found.text, found.requests) == (GOOD, 2)
    assert counted == ["the planner's plan: asked again"]
    again = chat.asked[1]
    assert again[:2] == MESSAGES and len(again) == turns
    assert again[-1].role == "user" and why in again[-1].text


def test_a_second_bad_reply_is_a_generation_failure() -> None:
    chat, counted = Chat(Reply("Sorry."), Reply("")), list[str]()
    with pytest.raises(GenerationFailure, match=r"plan: the reply is empty .*after it was asked again"):
        ask(chat, counted)
    assert len(chat.asked) == 2 and counted == ["the planner's plan: asked again"]


def test_an_outage_is_not_asked_again() -> None:
    def broken(messages: Sequence[Message]) -> Reply:
        raise ProviderError("down")

    with pytest.raises(ProviderError, match="down"):
        answer(broken, MESSAGES, read_second, "x", list[str]().append)
