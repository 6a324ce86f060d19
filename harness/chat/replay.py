"""`llm=replay`: answers the calls of a recorded experiment as they were answered then, without a network or a key.

An episode is served from the recording of the same episode: same method, environment, seed, task, scene and
instruction. The nth time that a role asks a request it gets the nth reply to that request. What was not recorded is an
error that shows how the request differs from the nearest recorded one, and stops the sweep; nothing is made up.

The rows are those of the recording without `cell` and `llm`, which name the model (`harness.play.comparable_to_recording`).
"""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.failures import NotRecorded, UsageError
from harness.protocols import ChatModel, Message, Problem, Reply, Sampling

if TYPE_CHECKING:
    from harness.cells import Cell
    from harness.chat.recorded import Call, RecordedCell
    from harness.records import EpisodeKey

SHOWN = 60
"""Lines of a difference that an error shows."""


@dataclass(frozen=True)
class Replay:
    """The config behind `conf/llm/replay.yaml`."""

    source: str = field(default="", metadata={"key": "from"})
    """An experiment's folder, one cell's folder, or a file of `python -m harness cache export`."""

    cached: ClassVar[bool] = False
    incidental: ClassVar[frozenset[str]] = frozenset({"from"})

    def problems(self) -> list[Problem]:
        if not self.source:
            return [Problem("llm=replay has nothing to replay", "Name it: llm.from=outputs/EXPERIMENT")]
        try:
            _read(self.source)
        except UsageError as error:
            return [Problem(str(error).rstrip("."), "Name what to replay: llm.from=outputs/EXPERIMENT")]
        return []

    def fingerprint(self) -> str:
        """Hash of what is replayed: a recording that was moved is the same, one that was made again another."""
        return _fingerprint_once(Path(self.source), _stamp(Path(self.source))) if self.source else ""

    def open(self) -> Recording:
        return Recording(_read(self.source))


class Recording:
    """An open recording. It answers in the name of an episode: `episode` gives the models that do."""

    name = "replay"

    def __init__(self, cells: Sequence[RecordedCell]) -> None:
        self._cells = cells

    def episode(self, cell: Cell, key: EpisodeKey) -> Callable[[str], ChatModel]:
        """Role to a model that answers as it did in that episode."""
        return ReplayedEpisode(self._calls(cell, str(key)), str(key)).role

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        raise NotRecorded("A recording answers the calls of episodes; this call belongs to none.")

    def close(self) -> None:
        """Nothing to close."""

    def _calls(self, cell: Cell, episode: str) -> Sequence[Call]:
        found = [recorded for recorded in self._cells if recorded.is_of(cell)]
        same = [recorded for recorded in found if recorded.work == cell.work] or found
        if not same:
            known = sorted({f"{known.method} {known.env} seed {known.seed}" for known in self._cells})
            raise NotRecorded(
                f"{cell.method} {cell.env} seed {cell.seed} was not recorded. Recorded: {', '.join(known)}."
            )
        if len(same) > 1:
            places = "".join(f"\n  {recorded.where} ({recorded.llm})" for recorded in same)
            raise NotRecorded(
                f"{cell.method} {cell.env} seed {cell.seed} was recorded {len(same)} times. Name the folder of one "
                f"with llm.from=..., or export one alone:{places}"
            )
        try:
            calls = same[0].calls(episode)
        except UsageError as error:
            raise NotRecorded(str(error)) from error
        if calls is None:
            raise NotRecorded(
                f"{episode} has no recording in {same[0].where}: it was not played to an end, or with record=none."
            )
        return calls


class ReplayedEpisode:
    """What is left to serve in one episode."""

    def __init__(self, calls: Sequence[Call], episode: str) -> None:
        self._calls, self._episode = calls, episode
        self._left: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
        for call in reversed(calls):
            self._left[call.role, call.key].append(call)

    def role(self, role: str) -> ChatModel:
        return _Role(partial(self._answer, role))

    def _answer(self, role: str, messages: Sequence[Message], sampling: Sampling) -> Reply:
        from harness.chat.keys import request_key

        left = self._left[role, request_key(messages, sampling)]
        if not left:
            raise NotRecorded(self._what_is_missing(role, messages, sampling))
        return left.pop().reply

    def _what_is_missing(self, role: str, messages: Sequence[Message], sampling: Sampling) -> str:
        from harness.chat.keys import request_key, written_down

        key = request_key(messages, sampling)
        asked = _as_lines(written_down(messages), asdict(sampling))
        of_role = [call for call in self._calls if call.role == role]
        if not of_role:
            roles = ", ".join(sorted({call.role for call in self._calls})) or "none"
            return f"{self._episode}: `{role}` asked, but the recording has no call of that role (it has: {roles})."
        again = sum(call.key == key for call in of_role)
        if again:
            return f"{self._episode}: `{role}` asked once more what the recording has {again} times."
        lines = [_as_lines(call.messages, call.sampling) for call in of_role]
        nearest = max(
            lines, key=lambda known: difflib.SequenceMatcher(None, known, asked, autojunk=False).ratio()
        )
        difference = list(difflib.unified_diff(nearest, asked, "recorded", "asked now", lineterm="", n=2))
        more = [f"... {len(difference) - SHOWN} more lines"] if len(difference) > SHOWN else []
        first = (
            f"{self._episode}: a call of `{role}` was not recorded. It differs from the nearest recorded one:"
        )
        return "\n".join([first, *difference[:SHOWN], *more])


class _Role:
    """One role in a replayed episode."""

    name = "replay"

    def __init__(self, answer: Callable[[Sequence[Message], Sampling], Reply]) -> None:
        self._answer = answer

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        return self._answer(messages, sampling)

    def close(self) -> None:
        """Nothing to close."""


def _as_lines(messages: Sequence[Mapping[str, Any]], sampling: Mapping[str, Any]) -> list[str]:
    """A request as text. What makes no difference is not in it: the seed where nothing is drawn."""
    drawn = sampling["temperature"] > 0
    settings = {**sampling, "stop": list(sampling["stop"])}
    lines = [f"{name}: {value}" for name, value in settings.items() if name != "seed" or drawn]
    for message in messages:
        lines += [f"[{message['role']}]", *message["text"].splitlines()]
        lines += [f"picture {image}" for image in message.get("images", ())]
    return lines


def _read(source: str) -> Sequence[RecordedCell]:
    """The cells of a recording. Raises `UsageError` for what is none."""
    return _read_once(Path(source), _stamp(Path(source)))


@cache
def _read_once(source: Path, stamp: object) -> Sequence[RecordedCell]:
    from harness.chat import recorded

    return recorded.read(source)


@cache
def _fingerprint_once(source: Path, stamp: object) -> str:
    from harness.chat import recorded

    return recorded.fingerprint(source)


def _stamp(source: Path) -> object:
    """Tells a recording from what it was before it was written to; every cell of a sweep asks for the same one."""
    files = [source, *source.glob("*.json*"), *source.glob("*/*.json*")]
    return tuple(
        (str(file), status.st_size, status.st_mtime_ns) for file in files if (status := _status(file))
    )


def _status(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:
        return None
