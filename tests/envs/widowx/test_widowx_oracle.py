"""The operator's words: which subtasks are done, what the user says, when a part of the task is over."""

import pytest

from envs.household import Household
from envs.widowx.oracle import OperatorOracle
from envs.widowx.sheet import Sheets
from harness.failures import SimulatorError
from harness.protocols import Utterance
from tests.envs.widowx import stub
from tests.envs.widowx.conftest import seeds


@pytest.fixture
def operator():
    return stub.Operator()


@pytest.fixture
def halted():
    return []


@pytest.fixture
def oracle(operator, halted):
    """`oracle(TASK)` begins scene 0."""

    def begin(task, **keys):
        oracle = OperatorOracle(operator, Sheets(Household(**keys)), lambda: halted.append(1))
        oracle.begin(task, 0, seeds(task))
        return oracle

    return begin


def play(oracle, operator, *lines, start=1):
    """A control step for each line."""
    for step, line in enumerate(lines, start):
        operator.lines = [[line]]
        oracle.update(step)


# The sheet


def test_a_sheet_says_what_lies_where_as_its_twin_has_it():
    sheets, twin = Sheets(Household()), Household(noise=0, renderer="rays").open()
    for task in ("object_search", "counting", "rearrangement"):
        sheet = sheets.sheet(task, seeds(task, 3))
        reset = twin.reset(task, 3, seeds(task, 3))
        assert sheet.variation == reset.variation
        subtasks = twin.subtasks()
        assert [part.text for stage in sheet.stages for part in stage.parts] == [
            task.text for task in subtasks
        ]
        facts = [
            [(fact.subject, fact.value) for fact in part.facts]
            for stage in sheet.stages
            for part in stage.parts
        ]
        assert facts == [[(fact.subject, fact.value) for fact in task.facts] for task in subtasks]
    twin.close()


def test_a_sheet_of_object_search():
    sheet = Sheets(Household()).sheet("object_search", seeds("object_search"))
    boxes = {line.split(" at ")[0]: line for line in sheet.layout if " at x" in line and "table" not in line}
    assert list(boxes) == ["left box", "middle box", "right box", "tray"]
    assert boxes["middle box"].startswith("middle box at x 1") or boxes["middle box"].startswith(
        "middle box at x 2"
    )
    inside = [line for line in sheet.layout if " in or on the " in line]
    assert sorted(line.split(" in or on the ")[1] for line in inside) == [
        "left box",
        "middle box",
        "right box",
    ]
    on_table = [line.split(" on the table")[0] for line in sheet.layout if " on the table at x 3" in line]
    assert set(on_table) == {sheet.variation["first"], sheet.variation["second"]}
    first, second = sheet.stages
    assert (first.words, first.changes, first.steps) == ("", (), 1209)
    assert sheet.variation["person"] in second.words
    assert len(second.changes) == 2
    assert all(" in or on the " in line for line in second.changes)


def test_the_card_and_what_is_drawn_on_it_are_on_the_sheet_of_counting():
    sheet = Sheets(Household()).sheet("counting", seeds("counting"))
    drawn = [line for line in sheet.layout if line.endswith(" on the recipe card")]
    assert 2 <= len(drawn) <= 3
    assert all(line.startswith("picture of ") for line in drawn)
    assert sheet.stages[1].changes == ()
    assert len(sheet.layout) == 6 + len(drawn) + 12


def test_what_the_user_takes_off_the_table_is_on_the_sheet_of_rounds():
    sheets = Sheets(Household(rounds=2))
    for scene in range(5):
        sheet = sheets.sheet("object_search", seeds("object_search", scene))
        (changes,) = (stage.changes for stage in sheet.stages if stage.words)
        before = {
            line.split(" in or on ")[0].split(" on the table")[0].split(" at x")[0] for line in sheet.layout
        }
        gone = {line.removesuffix(" off the table") for line in changes if line.endswith(" off the table")}
        laid = {line.split(" in or on ")[0].split(" on the table")[0] for line in changes[len(gone) :]}
        assert gone <= before
        things = [name for name in (before - gone) | laid if name.split()[0] in ("plush", "snack", "wooden")]
        assert len(things) == 4


def test_a_sheet_speaks_of_what_lies_on_your_table():
    names = {"left box": "blue crate", "toy boat": "ship"}
    sheet = Sheets(Household(rename=names)).sheet("object_search", seeds("object_search"))
    assert sheet.layout[0].startswith("blue crate at x")
    assert sheet.stages[0].parts[0].text == "inspect blue crate"
    assert not any(
        "left box" in line for line in (*sheet.layout, *sheet.stages[1].changes, sheet.stages[1].words)
    )


# The operator


def test_the_operator_is_shown_the_sheet_and_may_refuse(operator, oracle):
    search = oracle("object_search")
    assert "Lay out object_search, scene 0" in operator.asked[0] and "tray at x" in operator.asked[0]
    assert "> 1. inspect left box" in operator.told[-1]
    assert search.verdict().subtasks_done == 0
    operator.answers = [False]
    with pytest.raises(SimulatorError, match="did not lay out the scene"):
        oracle("counting")


def test_done_is_the_next_subtask_or_the_one_that_is_named(operator, oracle):
    search = oracle("object_search")
    assert search.current() == 0
    play(search, operator, "", "done", "DONE 4", "done 4", "done 17", "done x")
    done = [subtask.done_at for subtask in search.subtasks()]
    assert done == [2, None, None, 3, None, None]
    assert search.current() == 1
    assert search.verdict().subtasks_done == 2
    assert "> 2. inspect middle box" in operator.told[-1] and "done at step 3" in operator.told[-1]
    play(search, operator, "undo", start=10)
    assert [subtask.done_at for subtask in search.subtasks()][:4] == [2, None, None, None]


def test_when_a_part_is_done_the_table_is_changed_and_the_user_speaks(operator, oracle):
    search = oracle("object_search")
    first = search.subtasks()[5]
    told = {fact.relation: fact.since for fact in first.facts}
    assert told["likes"] == 0
    play(search, operator, "done", "done", "done", "done", "done")
    question = operator.asked[-1]
    (said,) = search.utterances()
    assert said.step == 5
    assert question.startswith(f"Then the user says: {said.text}")
    assert any("Change on the table:\n  " in text and "in or on the" in text for text in operator.told)
    assert search.current() == 5
    assert not search.verdict().success
    play(search, operator, "done", start=6)
    verdict = search.verdict()
    assert (verdict.success, verdict.holds, verdict.failed) == (True, True, False)
    assert (verdict.subtasks_done, verdict.subtasks) == (6, 6)
    assert search.current() is None


def test_the_operator_speaks_in_words_of_his_own(operator, oracle):
    search = oracle("object_search")
    operator.words = ["Please bring me the bear."]
    play(search, operator, "say faster, please", "done", "done", "done", "done", "done", "Say  now stop it ")
    assert search.utterances() == [
        Utterance(1, "faster, please"),
        Utterance(6, "Please bring me the bear."),
        Utterance(7, "now stop it"),
    ]


def test_a_part_ends_at_the_operators_word_or_when_its_steps_are_spent(operator, oracle):
    search = oracle("object_search")
    play(search, operator, "done", "next")
    assert search.current() == 5
    play(search, operator, "done", start=3)
    verdict = search.verdict()
    assert (verdict.success, verdict.failed, verdict.subtasks_done) == (False, False, 2)
    other = oracle("object_search")
    other.update(1208)
    assert other.current() == 0
    other.update(1209)
    assert other.current() == 5
    assert other.utterances()[0].step == 1209
    other.update(5000)
    assert len(other.utterances()) == 1
    play(other, operator, "next", start=5001)
    assert other.current() == 5


def test_a_trial_is_over_when_the_operator_says_so(operator, oracle):
    search = oracle("object_search")
    play(search, operator, "done", "fail")
    verdict = search.verdict()
    assert (verdict.success, verdict.failed, verdict.subtasks_done) == (False, True, 1)


def test_stop_and_what_is_not_understood(operator, oracle, halted):
    search = oracle("object_search")
    play(search, operator, "stop")
    assert halted == [1]
    for line in ("?", "what", "say", "done 0", "done ²", "undo"):
        play(search, operator, line)
        assert "type at any time" in operator.told[-1]
    told = len(operator.told)
    play(search, operator, "", "   ")
    assert len(operator.told) == told


def test_facts_are_known_when_they_are_told_or_looked_up(operator, oracle):
    search = oracle("object_search")
    box = search.subtasks()[3].facts[0].subject
    number = ["left box", "middle box", "right box"].index(box) + 1
    assert search.subtasks()[3].facts[0].since is None
    operator.lines = [[f"done {number}"]]
    search.update(40)
    assert search.subtasks()[3].facts[0].since == 40
    assert search.subtasks()[5].outdated == ()
    play(search, operator, "next", start=41)
    likes, holds = search.subtasks()[5].facts
    assert (likes.since, holds.relation) == (0, "holds")
    assert all(fact.since in (None, 40) for fact in search.subtasks()[5].outdated)


def test_a_new_scene_begins_anew(operator, oracle):
    search = oracle("object_search")
    play(search, operator, "done", "next", "fail")
    search.begin("rearrangement", 1, seeds("rearrangement", 1))
    assert search.current() == 0
    assert search.utterances() == []
    assert (search.verdict().failed, search.verdict().subtasks_done, search.verdict().subtasks) == (
        False,
        0,
        6,
    )
