"""An experiment with traces on disk, and a headless Chromium to look at its report with."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.store import ROWS
from harness.tracing import Trace
from tests.analysis.tables.conftest import experiment, verdicts, write_cell

__all__ = ["experiment"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NASTY = "</script><script>window.hacked=1</script><b>bold</b> & \"quoted\" 'é漢' \\ 😀"
PATIENCE = 300.0
"""Seconds until a page that does not come is a failure."""


class Browser:
    """Chromium over its DevTools pipe: descriptors 3 and 4, messages that end in a zero byte."""

    def __init__(self, profile: Path) -> None:
        read_by_it, self._to = os.pipe()
        self._from, written_by_it = os.pipe()
        # It may get them as 3 and 4 only from a shell: their numbers here are taken as they come.
        command = f'exec "$0" "$@" 3<&{read_by_it} 4>&{written_by_it}'
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
        flags += ["--disable-background-networking", f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, str(CHROMIUM), *flags, "--window-size=1400,1000", "about:blank"],
            pass_fds=(read_by_it, written_by_it),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_by_it)
        os.close(written_by_it)
        self._numbers = itertools.count(1)
        self._waiting = b""
        self._session: str | None = None
        targets = self._ask("Target.getTargets")["targetInfos"]
        target = next(target for target in targets if target["type"] == "page")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def close(self) -> None:
        self._session = None
        self._ask("Browser.close")
        self._process.wait(PATIENCE)
        os.close(self._to)
        os.close(self._from)

    def show(self, page: Path, says: str = "") -> None:
        """Open a page from the disk, with what stands behind # in its address, and wait until it is built."""
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=page.as_uri() + (f"#{says}" if says else ""))
        self.wait("document.body?.dataset.ready === ''")

    def run(self, script: str) -> Any:
        """The value of an expression."""
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < deadline, f"{condition} does not come true: {self.text('body')[:2000]}"
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def press(self, key: str, code: int) -> None:
        """A real key, by its name and its Windows code."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        event |= {"text": "\r"} if key == "Enter" else {}
        self._ask("Input.dispatchKeyEvent", type="keyDown", **event)
        self._ask("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in event.items() if k != "text"})

    def click(self, selector: str) -> None:
        """With the mouse, where the element stands."""
        x, y = self.run(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); "
            f"return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def narrow(self, width: int) -> None:
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )

    def wide(self) -> None:
        self._ask("Emulation.clearDeviceMetricsOverride")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._waiting:
                data = os.read(self._from, 1 << 20)
                assert data, "Chromium is gone"
                self._waiting += data
            answer, _, self._waiting = self._waiting.partition(b"\0")
            found: dict[str, Any] = json.loads(answer)
            if found.get("id") == number:
                assert "error" not in found, found["error"]
                return dict(found["result"])


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here (Debian: chromium), so the report is not looked at")
    found = Browser(tmp_path_factory.mktemp("chromium"))
    yield found
    found.close()


def write_tabletop(root: Path) -> Path:
    """Retry and two variants of MTP on the tabletop, one with two seeds, of an experiment whose name is awkward."""
    for seed, pattern in ((0, "+++-"), (1, "++++")):
        write_cell(root, "mtp", "tabletop", seed, verdicts(pattern), memory="playtable", name="it's a=b <1>")
    write_cell(root, "mtp", "tabletop", 0, verdicts("----"), memory="tabletop", name="it's a=b <1>")
    write_cell(root, "retry", "tabletop", 0, verdicts("++-!"), name="it's a=b <1>")
    return root


def record(folder: Path, episode: str, **changes: Any) -> None:
    """Change the row of an episode, as if it had been recorded so."""
    path = folder / ROWS
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        if row["episode"] == episode:
            row.update(changes)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def trace(folder: Path, episode: str, reply: str, query: str = "push the button") -> None:
    """A trace as the harness writes it, with one event of each kind that a replanning method has."""
    write = Trace(folder / "traces" / f"{episode}.jsonl")
    write("episode", method="mtp", env="tabletop", key=episode, seed=0)
    write("trial", index=0, state_hash="abc")
    write(
        "chat",
        role="planner",
        key="k",
        model="made-up",
        messages=[{"role": "system", "text": "You plan."}, {"role": "user", "text": query}],
        sampling={"temperature": 0.0},
        reply=reply,
        finish_reason="stop",
        tokens=[20, 5],
        cost_usd=None,
        cached=True,
        seconds=0.1,
        details={"score": float("nan")},
    )
    write("code", program="planner", query=query, code=reply, origin="asked")
    write("call", by="planner", name="composer", arguments=["'close gripper'", NASTY])
    write("motion", movable="gripper", maps=["<map>"], waypoints=[[0, 0, 1]], motions=2, missed=["too far"])
    write("retrieve", rank=0, records=9, hits=[{"task": "lamp_off", "instruction": NASTY, "score": 0.5}])
    write("trial_end", index=0, success=False, failure="goal", reason=NASTY)
    write("a_kind_of_tomorrow", what=NASTY)
    write.close()
    record(folder, episode, trace=f"traces/{episode}.jsonl")


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment with awkward names and texts, of 16 episodes, three of them recorded."""
    root = tmp_path_factory.mktemp("outputs") / "it's <b>#1 100%"
    write_cell(root, "voxposer", "tabletop", 0, verdicts("+---"))
    write_cell(root, "retry", "tabletop", 0, verdicts("++-!"))
    mtp = write_cell(root, "mtp", "tabletop", 0, verdicts("+++-"), memory="playtable")
    write_cell(root, "mtp", "tabletop", 0, verdicts("----"), memory="tabletop")
    trace(mtp, "push_button-s0-i0", 'composer("push the button")')
    trace(mtp, "lamp_off-s1-i0", NASTY, query=NASTY)
    record(mtp, "lamp_off-s1-i0", reason=NASTY, instruction=NASTY, video="videos/lamp_off-s1-i0.mp4")
    record(mtp, "push_button-s1-i0", trace="traces/push_button-s1-i0.jsonl")  # taken away since
    (mtp / "images").mkdir()
    for trial in (0, 1, 10):
        for moment in ("start", "end"):
            (mtp / "images" / f"lamp_off-s1-i0-t{trial}-{moment}.png").write_bytes(b"")
    return root
