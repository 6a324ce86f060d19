"""The timeline of a robot with a memory, in a real browser: what its lanes show, and what is said of a chosen moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.report import write
from harness.tracing import Trace
from tests.analysis.report.conftest import NASTY, Browser, record
from tests.analysis.tables.conftest import write_cell

pytestmark = pytest.mark.slow

ROWS = (
    "[...trace.querySelectorAll('.records tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))"
)


def remembered(
    id: int, text: str, step: int, kind: str = "text", tags: tuple[str, ...] = ("a",)
) -> dict[str, Any]:
    return {"id": id, "kind": kind, "tags": list(tags), "text": text, "step": step}


def planned(step: int, cause: str, **facts: Any) -> dict[str, Any]:
    fixed = {"requests": 2, "seconds": 3.0, "tokens": 40, "plan": "[current] look", "subtask": "look"}
    return {"step": step, "cause": cause, "instruction": "Tidy up.", **fixed, **facts}


def tell(write: Trace) -> None:
    """An episode of 400 steps: a memory of three records, one call that has not taken effect at its end."""
    write("trial", index=0, state_hash="abc")
    write("user", step=0, text="Tidy up.")
    created = [
        {"type": "create", "tags": ["a"], "text": "one", "id": 1},
        {"type": "create", "tags": ["A b"], "text": NASTY, "id": 2, "images": [1]},
        {"type": "delete", "id": 9, "refused": "there is no record 9"},
    ]
    one, two = remembered(1, "one", 0), remembered(2, NASTY, 0, "image", ("a_b",))
    write("planner", **planned(0, "instruction", queries=[], operations=created, memory=[one, two]))
    write("adopted", step=30)
    write("subtask", step=30, text="inspect left box")
    write("subtask_done", step=77, index=0, text="inspect left box")
    for step, judgement, true in ((50, "not_done", False), (100, "done", True)):
        write("sentry", step=step, subtask="inspect left box", judgement=judgement, confidence=None)
        write("oracle", step=step, subtask="inspect left box", done=true)
    found = [{"term": "a", "how": "tag", "ids": [1]}, {"term": "z", "how": "nothing", "ids": []}]
    changed = [
        {"type": "update", "id": 2, "text": "two anew"},
        {"type": "create", "tags": ["c"], "text": "three", "id": 3, "evicted": [1]},
        {"type": "create", "tags": ["d"], "text": "four", "id": 4},
        {"type": "delete", "id": 3},
    ]
    kept = [remembered(2, "two anew", 100, "image", ("a_b",)), remembered(4, "four", 100, tags=("d",))]
    asked = [{"type": "query", "terms": ["a", "z"], "found": found}]
    write("planner", **planned(100, "done", queries=asked, operations=changed, memory=kept))
    write("adopted", step=130)
    write("subtask", step=130, text="pick up pear from table and place it to left box")
    write("refusal", step=140, reason="words", message="'pick up' is not understood")
    write("sentry", step=180, subtask="pick up pear", judgement="done", confidence=0.9)
    write("oracle", step=180, subtask="pick up pear", done=False)
    write("sentry", step=230, subtask="pick up pear", judgement="unparsed", confidence=None)
    write("oracle", step=230, subtask="pick up pear", done=None)
    write("user", step=300, text="And now " + NASTY)
    write("planner", **planned(310, "instruction", queries=[], operations=[], memory=kept))
    write("trial_end", index=0, success=False, failure="steps", reason="all 400 steps are spent")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("outputs") / "remembering"
    folder = write_cell(
        root, "hime", "household", 0, dict.fromkeys([("chores", scene) for scene in range(4)], "failure")
    )

    def traced(scene: int) -> Trace:
        record(folder, f"chores-s{scene}-i0", trace=f"traces/chores-s{scene}-i0.jsonl", steps=400)
        return Trace(folder / "traces" / f"chores-s{scene}-i0.jsonl")

    full = traced(0)
    tell(full)
    full.close()
    before = traced(1)  # as traces were before they had the user's words and the oracle's
    before("planner", **planned(0, "instruction", queries=[], operations=[], memory=[]))
    before("subtask", step=0, text="inspect left box")
    before("sentry", step=50, subtask="inspect left box", judgement="done", confidence=None)
    before.close()
    human = traced(2)
    human("user", step=0, text="Tidy up.")
    human("subtask", step=0, text="inspect left box")
    human("subtask_done", step=12, index=0, text="inspect left box")
    human.close()
    other = traced(3)
    other("policy", step=0, actions=[[0.0]], done=False)
    other.close()
    return write(root)


def opened(browser: Browser, page: Path, scene: int) -> None:
    cell = next(page.parent.glob("hime-*")).name
    browser.show(page, f"open={cell}/chores-s{scene}-i0")
    browser.wait("trace.querySelectorAll('.event').length > 0")
    browser.wait("trace.querySelectorAll('.story').length === trace.querySelectorAll('svg.timeline').length")


def at(browser: Browser, step: int) -> None:
    browser.run(
        "(slider => { slider.value = " + str(step) + "; slider.dispatchEvent(new Event('input')); })"
        "(trace.querySelector('.story input'))"
    )
    assert browser.text(".story output").startswith(f"Control step {step} of 400")


def marks(browser: Browser, look: str) -> Any:
    """Of a look: steps and words."""
    return browser.run(
        f"[...trace.querySelectorAll({json.dumps(look)})].map(each => [+each.dataset.step, each.dataset.words])"
    )


def facts(browser: Browser) -> Any:
    return browser.run(
        "Object.fromEntries([...trace.querySelectorAll('.panel dt')].map(e => [e.innerText, e.nextSibling.innerText]))"
    )


def test_each_lane_shows_what_happened_and_when(browser: Browser, page: Path) -> None:
    opened(browser, page, 0)
    assert marks(browser, ".mark.said") == [[0, "the user: Tidy up."], [300, f"the user: And now {NASTY}"]]
    assert marks(browser, ".mark.create") == [
        [0, f"create\n1: one [a]\n2: {NASTY} [A b], with a picture"],
        [100, "create\n3: three [c]\n4: four [d]"],
    ]
    assert marks(browser, ".mark.update") == [
        [100, f"update\n2: two anew [a_b], with a picture\nbefore: {NASTY} [a_b], with a picture"]
    ]
    assert marks(browser, ".mark.evicted") == [[100, "evicted\n1: one [a]"]]
    assert marks(browser, ".mark.delete") == [[100, "delete\n3: three [c]"]]
    assert marks(browser, ".mark.query") == [[100, "query\n“a”: 1 (by tag)\n“z”: nothing"]]
    assert marks(browser, ".mark.refused") == [[0, "refused\ndelete 9: there is no record 9"]]
    assert browser.run("[...trace.querySelectorAll('.mark.create text')].map(e => e.textContent)") == [
        "2",
        "2",
    ]
    # The Sentry: right twice (hollow is not done), wrong once, once without the oracle's word.
    assert [step for step, _ in marks(browser, ".mark.success.hollow")] == [50]
    assert marks(browser, ".mark.failure")[0] == [140, "the executor refuses: 'pick up' is not understood"]
    assert marks(browser, ".mark.failure")[1] == [
        180,
        "done (confidence 0.9), the oracle: not done; pick up pear",
    ]
    assert marks(browser, ".mark.odd")[0] == [230, "unparsed, the oracle does not say; pick up pear"]
    calls = marks(browser, ".bar.planner")
    assert calls[0] == [
        0,
        "asked because of: instruction; 3 s, requests: 2, tokens written: 40, in effect at step 30\nlook",
    ]
    assert [step for step, _ in marks(browser, ".bar.planner.pending")] == [310]
    widths = browser.run("[...trace.querySelectorAll('.bar.planner rect')].map(e => e.width.baseVal.value)")
    assert widths[0] == pytest.approx(widths[1]) and widths[2] == pytest.approx(3 * widths[0])
    assert browser.run("window.hacked") is None and browser.run("trace.querySelectorAll('b').length") == 0


def test_a_moment_has_the_memory_as_it_was(browser: Browser, page: Path) -> None:
    opened(browser, page, 0)
    at(browser, 99)
    assert browser.run(ROWS) == [
        ["1", "a", "one", "", "step 0", "written"],
        ["2", "a_b", NASTY, "yes", "step 0", "written"],
    ]
    assert facts(browser) == {
        "the user": "Tidy up. (step 0)",
        "executed": "inspect left box (since step 30)",
        "done so far": "inspect left box",
        "planner": "asked because of: instruction; 3 s, requests: 2, tokens written: 40, in effect at step 30 (step 0)",
        "Sentry": "not_done, the oracle: not done; inspect left box (step 50)",
    }
    at(browser, 100)
    assert browser.run(ROWS) == [
        ["2", "a_b", "two anew", "yes", "step 100", "written"],
        ["4", "d", "four", "", "step 100", "written"],
    ]
    panel = browser.text(".panel")
    for words in ("evicted 1: one [a]", "delete 3: three [c]", "what the call at step 100 asked it: 2"):
        assert words in panel
    at(browser, 76)
    assert "done so far" not in facts(browser)
    at(browser, 399)
    assert [(row[0], row[-1]) for row in browser.run(ROWS)] == [("2", ""), ("4", "")]


def test_the_size_of_the_memory_is_a_line_of_steps(browser: Browser, page: Path) -> None:
    opened(browser, page, 0)
    path = browser.run("trace.querySelector('.size').getAttribute('d')")
    assert (path.count("H"), path.count("V")) == (3, 2)  # two changes of the size at most, and on to the end
    assert "0–2" in browser.run("[...trace.querySelectorAll('.timeline text')].map(e => e.textContent)")


def test_mouse_and_keys_choose_a_moment(browser: Browser, page: Path) -> None:
    opened(browser, page, 0)
    browser.click(".mark.evicted")
    assert browser.text(".story output") == "Control step 100 of 400"
    assert not browser.run("trace.querySelector('.tip').hidden")
    assert browser.text(".tip") == "evicted\n1: one [a]"
    line = "+trace.querySelector('.moment').getAttribute('x1')"
    cx = "+trace.querySelector('.mark.evicted circle').getAttribute('cx')"
    assert browser.run(f"{line} - {cx}") == pytest.approx(0)
    browser.run("trace.querySelector('.story input').focus()")
    browser.press("ArrowRight", 39)
    assert browser.text(".story output") == "Control step 101 of 400"
    shift = "new KeyboardEvent('keydown', {key: 'ArrowRight', shiftKey: true, cancelable: true})"
    browser.run(f"trace.querySelector('.story input').dispatchEvent({shift})")
    assert browser.text(".story output") == "Control step 130 of 400"


def test_traces_of_before_and_without_a_memory_have_the_lanes_that_they_can_have(
    browser: Browser, page: Path
) -> None:
    opened(browser, page, 1)
    assert marks(browser, ".mark.said") == [[0, "the user: Tidy up."]]
    assert [words for _, words in marks(browser, ".mark.odd")] == [
        "done, the oracle does not say; inspect left box"
    ]
    assert browser.run("trace.querySelectorAll('.bar.planner.pending').length") == 0
    assert "The memory holds 0 records:" in browser.text(".panel")
    opened(browser, page, 2)
    assert browser.run("trace.querySelectorAll('.size, .records').length") == 0
    assert facts(browser)["executed"] == "inspect left box (since step 0)"
    opened(browser, page, 3)
    assert browser.run("trace.querySelectorAll('.story').length") == 0


def test_a_narrow_window_shows_the_whole_timeline(browser: Browser, page: Path) -> None:
    opened(browser, page, 0)
    browser.narrow(360)
    try:
        browser.wait("trace.querySelector('svg.timeline').width.baseVal.value < 360")
        assert browser.run("episode.scrollWidth <= episode.clientWidth")
        assert len(marks(browser, ".mark")) == 15
    finally:
        browser.wide()


def test_the_page_itself_holds_nothing_of_it(page: Path) -> None:
    text = page.read_text()
    assert "two anew" not in text and "inspect left box" not in text
