"""How far a chain has come, whoever judges its tasks."""

from __future__ import annotations

import pytest

from envs.chain import INSTRUCTION, Progress, words


def test_tasks_are_asked_for_one_after_the_other_and_asking_again_gives_the_same():
    progress = Progress(("open", "light"))
    assert progress.waiting
    assert progress.next_task() == ("open", True)
    assert progress.next_task() == ("open", False)
    progress.notice(True)
    assert (progress.done, progress.waiting, progress.complete) == (1, True, False)
    assert progress.next_task() == ("light", True)
    progress.notice(False)
    progress.notice(True)
    assert progress.next_task() == (None, False)
    assert progress.complete
    assert progress.waiting


def test_what_is_so_already_is_not_done_until_it_was_otherwise():
    progress = Progress(("open",), asked=0, fresh=False)
    progress.notice(True)
    assert progress.done == 0
    progress.notice(False)
    progress.notice(True)
    assert progress.done == 1


def test_the_instruction_tells_the_sentences_in_their_order():
    said = INSTRUCTION.format(**words(["a", "b", "c", "d", "e"]))
    assert said == "a, then b, then c, then d, then e"
    with pytest.raises(ValueError, match="shorter"):
        words(["a"])
