"""Verdicts in the many ways in which they are written, and what they set off."""

from __future__ import annotations

from typing import Any

import pytest

from harness.components import build
from harness.failures import UsageError
from harness.protocols import Reply
from methods.hime import markup, sentry
from methods.hime.sentry import Judgement, verdict
from methods.hime.triggers import Periodic, Sentry, SentryWatch


@pytest.mark.parametrize(
    ("text", "judgement", "notes"),
    [
        ("<status>done</status>", "done", ()),
        ("<status> not_done\n</status>", "not_done", ()),
        ("<STATUS>DONE</STATUS>", "done", ()),
        ("<status>Done.</status>", "done", ()),
        ("<status>Not done</status>", "not_done", ()),
        ("<status>not-done</status>", "not_done", ()),
        ("done", "done", (sentry.BARE,)),
        ("**not_done**", "not_done", (sentry.BARE,)),
        ("<status>done", "done", (markup.UNCLOSED,)),
        ("<status><!-- done --></status>", "done", (sentry.COMMENT,)),
        ("<status><!-- EXACTLY one of: done not_done --></status>", "unparsed", ()),
        ("<status><!-- one of: done not_done -->not_done</status>", "not_done", ()),
        (
            "<think>if <status>done</status> ...</think><status>not_done</status>",
            "not_done",
            (markup.THINKING,),
        ),
        ("<status>not_done</status> no, <status>done</status>", "done", (sentry.SEVERAL,)),
        ("```xml\n<status>done</status>\n```", "done", (markup.FENCE,)),
        ("The arm is above the box. <status>done</status>", "done", ()),
        ("<status>almost done</status>", "unparsed", ()),
        ("<status>undone</status>", "unparsed", ()),
        ("<status></status>", "unparsed", ()),
        ("I think it is done", "unparsed", ()),
        ("<think>done", "unparsed", (markup.THINKING,)),
        ("", "failed", ()),
        (" \n", "failed", ()),
    ],
)
def test_only_a_clear_done_is_done(text: str, judgement: Judgement, notes: tuple[str, ...]) -> None:
    found = verdict(Reply(text))
    assert (found.judgement, found.notes) == (judgement, notes)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_half_an_answer_is_no_verdict(reason: str) -> None:
    assert verdict(Reply("<status>done</status>", finish_reason=reason)).judgement == "failed"


@pytest.mark.parametrize(
    ("text", "judgement"),
    [
        ("<status>done</status><confidence>0.9</confidence>", "done"),
        ("<status>done</status><confidence>90 %</confidence>", "done"),
        ("<status>done</status><confidence>.8</confidence>", "not_done"),
        ("<status>done</status><confidence>0.3</confidence>", "not_done"),
        ("<status>done</status>", "unparsed"),
        ("<status>done</status><confidence>high</confidence>", "unparsed"),
        ("<status>done</status><confidence>7</confidence>", "unparsed"),
        ("<status>not_done</status>", "not_done"),
        ("<status>not_done</status><confidence>1</confidence>", "not_done"),
    ],
)
def test_with_a_threshold_a_confidence_above_it_is_needed(text: str, judgement: Judgement) -> None:
    assert verdict(Reply(text), threshold=0.8).judgement == judgement


def test_the_sentry_is_asked_every_so_many_executions() -> None:
    watch, asked = Sentry(every=10, fallback=1000).watch(), []
    for execution in range(1, 35):
        watch = watch.executed()
        if watch.due == "sentry":
            asked.append(execution)
            watch, cause = watch.judged("not_done")
            assert cause == ""
    assert asked == [10, 20, 30]


def run(trigger: Sentry, judgements: list[Judgement]) -> list[str]:
    """Causes of the checks that these judgements answer; the planner is asked for each cause."""
    watch, causes = trigger.watch(), []
    for judgement in judgements:
        while not watch.due:
            watch = watch.executed()
        watch, cause = watch.judged(judgement)
        causes.append(str(cause))
        if cause:
            watch = watch.planned()
    return causes


@pytest.mark.parametrize(
    ("judgements", "causes"),
    [
        (["not_done", "done", "not_done"], ["", "done", ""]),
        (["not_done"] * 6, ["", "", "", "", "fallback", ""]),
        (["not_done"] * 4 + ["done"], ["", "", "", "", "done"]),
        (["unparsed"] * 4, ["", "", "unreadable", ""]),
        (["unparsed", "failed", "unparsed"], ["", "", "unreadable"]),
        (["unparsed", "unparsed", "not_done", "unparsed"], ["", "", "", ""]),
        (["not_done", "not_done", "done"] + ["not_done"] * 4, ["", "", "done", "", "", "", ""]),
    ],
)
def test_what_verdicts_set_off(judgements: list[Judgement], causes: list[str]) -> None:
    assert run(Sentry(), judgements) == causes


def test_asking_the_planner_begins_all_counts_anew() -> None:
    watch = SentryWatch(Sentry(), since_check=7, since_plan=47, without_verdict=2)
    assert watch.planned() == Sentry().watch()


def test_a_periodic_planner_is_asked_after_so_many_executions() -> None:
    watch, asked = Periodic(5).watch(), []
    for execution in range(1, 13):
        watch = watch.executed()
        if watch.due == "planner":
            asked.append(execution)
            watch = watch.planned()
    assert asked == [5, 10]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"window": 0}, "window is 0"),
        ({"every": 20, "fallback": 10}, "fallback is 10"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"unreadable": -1}, "unreadable is -1"),
    ],
)
def test_a_config_that_makes_no_sense_is_named(values: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        build({"_target_": "methods.hime.triggers.Sentry", **values}, "method.trigger")
