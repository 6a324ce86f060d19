"""The page in a real browser, opened from the disk: the list, filters, search, an episode's trace, keys, escapes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analysis.report import FOLDER, write
from tests.analysis.report.conftest import NASTY, Browser
from tests.analysis.tables.conftest import write_cell

pytestmark = pytest.mark.slow
SHOWN = "[...document.querySelectorAll('.row')].map(row => row.innerText)"


@pytest.fixture(scope="session")
def page(reported: Path) -> Path:
    return write(reported)


def count(browser: Browser) -> str:
    return browser.text("#count")


def select(browser: Browser, name: str, wanted: str) -> None:
    browser.run(
        f"(e => {{ e.value = {json.dumps('=' + wanted)}; e.dispatchEvent(new Event('change')) }})"
        f"(document.getElementById('{name}'))"
    )


def test_every_episode_is_listed_with_the_sums(browser: Browser, page: Path) -> None:
    browser.show(page)
    assert count(browser) == "16 of 16 episodes: 6 successes of 15 (40.0 %), 1 errors"
    assert len(browser.run(SHOWN)) == 16
    assert browser.text("h1") == "it's <b>#1 100%"


def test_filters_and_search_narrow_the_list_together(browser: Browser, page: Path) -> None:
    browser.show(page)
    select(browser, "method", "mtp")
    assert count(browser).startswith("8 of 16 episodes: 3 successes of 8")
    select(browser, "variant", "memory=playtable")
    select(browser, "status", "failure")
    assert count(browser).startswith("1 of 16 episodes: 0 successes of 1")
    browser.click("button[type=reset]")
    browser.wait("count.textContent.startsWith('16 of 16')")
    select(browser, "kind", "provider")
    assert "retry" in browser.run(SHOWN)[0] and "! error" in browser.run(SHOWN)[0]
    browser.click("button[type=reset]")
    browser.wait("count.textContent.startsWith('16 of 16')")
    for words, found in (("lamp MTP", 4), ("push_button-s1-i0", 4), ("</SCRIPT>", 1), ("no such word", 0)):
        browser.run(f"search.value = {json.dumps(words)}; search.dispatchEvent(new Event('input'))")
        browser.wait(f"count.textContent.startsWith('{found} of 16')")
        assert len(browser.run(SHOWN)) == found


def test_a_filter_is_in_the_address_and_comes_back_from_it(browser: Browser, page: Path) -> None:
    browser.show(page, "method=retry&search=lamp")
    assert count(browser).startswith("2 of 16")
    select(browser, "status", "error")
    assert browser.run("location.hash") == "#method=retry&status=error&search=lamp"
    browser.run("document.querySelector('a[href*=\"method=voxposer\"]').click()")
    browser.wait("count.textContent.startsWith('4 of 16 episodes: 1 successes of 4')")


def test_a_column_sorts_up_down_and_not(browser: Browser, page: Path) -> None:
    browser.show(page)
    first = browser.run(SHOWN)[0]
    browser.click("#head span:nth-child(7) button")
    assert "! error" in browser.run(SHOWN)[0]
    browser.click("#head span:nth-child(7) button")
    assert "success" in browser.run(SHOWN)[0]
    assert browser.text("#head span:nth-child(7)") == "status ↓"
    browser.click("#head span:nth-child(7) button")
    assert browser.run(SHOWN)[0] == first


def test_a_click_opens_the_trace_and_all_of_it_is_text(browser: Browser, page: Path) -> None:
    browser.show(page, "method=mtp&variant=memory%3Dplaytable&status=failure")
    browser.click(".row")
    browser.wait("trace.querySelectorAll('.event').length === 9")
    browser.run("trace.querySelectorAll('details').forEach(each => each.open = true)")
    said = browser.text("#trace")
    assert said.count(NASTY) >= 8  # instruction, reason, prompt, reply, code, call, hit, end of trial
    for text in ("You plan.", "composer('close gripper'", "too far", "a_kind_of_tomorrow", '"score": "nan"'):
        assert text in said
    assert browser.run("window.hacked") is None
    assert browser.run("document.querySelectorAll('b').length") == browser.run(
        "document.querySelectorAll('#items b').length"
    )
    assert browser.run("[...trace.querySelectorAll('img')].map(each => each.alt)") == [
        f"trial {trial}, {moment}" for trial in (1, 2, 11) for moment in ("start", "end")
    ]
    links = browser.run("[...trace.querySelectorAll('a, video')].map(each => each.href ?? each.src)")
    cell = next(page.parent.glob("mtp-*playtable*"))
    assert (cell / "traces" / "lamp_off-s1-i0.jsonl").as_uri() in links
    assert (cell / "videos" / "lamp_off-s1-i0.mp4").as_uri() in links


def test_kinds_of_events_can_be_put_away(browser: Browser, page: Path) -> None:
    browser.show(page, "method=mtp&variant=memory%3Dplaytable&status=failure")
    browser.click(".row")
    browser.wait("trace.querySelectorAll('.event').length === 9")
    browser.click("#trace fieldset label:nth-child(3)")
    assert browser.run("[...trace.querySelectorAll('.event')].filter(e => e.offsetHeight).length") == 8


def test_the_keyboard_alone_opens_walks_and_closes(browser: Browser, page: Path) -> None:
    browser.show(page, "method=mtp&variant=memory%3Dplaytable")
    browser.run("document.getElementById('list').focus()")
    browser.press("ArrowDown", 40)
    browser.press("End", 35)
    browser.press("Home", 36)
    browser.press("ArrowDown", 40)
    browser.press("Enter", 13)
    browser.wait("episode.open && trace.innerText.includes('trial 1, end')")
    assert "lamp_off-s1-i0" in browser.text("#title")
    assert "open=mtp-tabletop-playtable" in browser.run("location.hash")
    browser.click("#next")
    browser.wait("title.textContent.includes('push_button-s0-i0')")
    browser.press("Escape", 27)
    browser.wait("!episode.open && !location.hash.includes('open=')")  # its event comes after it has closed
    assert browser.run("document.activeElement.id") == "list"


def test_what_is_not_there_is_said(browser: Browser, page: Path, tmp_path: Path) -> None:
    cell = next(page.parent.glob("mtp-*playtable*")).name
    browser.show(page, f"open={cell}/push_button-s1-i0")
    browser.wait("trace.innerText.includes('traces/push_button-s1-i0.jsonl is not there any more')")
    browser.show(page, f"open={cell}/lamp_off-s0-i0")
    browser.wait("trace.innerText.includes('Nothing was recorded of this episode but its row')")
    alone = tmp_path / "alone.html"
    shutil.copy(page, alone)
    browser.show(alone, f"open={cell}/lamp_off-s1-i0")
    browser.wait("trace.innerText.includes('report/1.js is not beside this page')")


def test_a_long_list_is_drawn_in_part_and_scrolls_to_its_ends(browser: Browser, tmp_path: Path) -> None:
    scenes = 320_000  # above this the list is taller than what a browser can scroll
    write_cell(tmp_path / "long", "retry", "tabletop", 0, {("lamp_off", 0): "success"})
    rows = next(tmp_path.glob("long/*/episodes.jsonl"))
    row = rows.read_text()
    rows.write_text(
        "".join(
            row.replace('"scene": 0', f'"scene": {i}').replace("lamp_off-s0-", f"lamp_off-s{i}-")
            for i in range(scenes)
        )
    )
    page = write(tmp_path / "long")
    assert not list((page.parent / FOLDER).iterdir())
    browser.show(page)
    assert count(browser).startswith("320,000 of 320,000 episodes: 320000 successes")
    assert len(browser.run(SHOWN)) < 100
    browser.run("document.getElementById('list').focus()")
    browser.press("End", 35)
    browser.wait(f"document.querySelector('.row[aria-selected=true]')?.id === 'row{scenes - 1}'")
    assert browser.run("document.getElementById('list').scrollHeight") <= 8_000_000
    browser.press("Home", 36)
    browser.wait("document.querySelector('.row[aria-selected=true]')?.id === 'row0'")


def test_a_narrow_window_shows_the_list_without_scrolling_sideways(browser: Browser, page: Path) -> None:
    browser.show(page)
    browser.narrow(360)
    try:
        browser.wait("innerWidth === 360")
        assert browser.run("document.documentElement.scrollWidth") <= 360
        assert "✓ success" in browser.run(
            "[...document.querySelectorAll('.row')].map(e => e.innerText).join()"
        )
    finally:
        browser.wide()
