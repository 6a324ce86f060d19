"""How a reply is drawn, in the words that a model takes. Models refuse some request parameters; what one refuses is
found once, and all processes of this machine know it then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.chat.openai.faults import Fault
from harness.chat.openai.shared import SharedState
from harness.protocols import Sampling

OTHER_NAMES = {"max_tokens": "max_completion_tokens"}
"""Sent by this name when the first is refused."""
DROPPED = ("temperature", "stop", "seed")
"""Left out when refused. A limit on tokens never is: without one a reply could cost anything."""
_REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra_forbidden|deprecated",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Adapted:
    """Request parameters, and what was done to them."""

    values: Mapping[str, Any]
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] | None = None


class Parameters:
    """What one model is known to refuse."""

    def __init__(self, folder: Path, layout: str) -> None:
        self._refused = SharedState(folder / f"refused-{layout}.json")

    def adapt(self, sampling: Sampling) -> Adapted:
        """The parameters for a reply. Seeds are cut to 31 bits, which every server takes."""
        wanted: dict[str, Any] = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens}
        if sampling.stop:
            wanted["stop"] = list(sampling.stop)
        wanted["seed"] = sampling.seed & 0x7FFFFFFF
        refused = self._refused.read()
        dropped = tuple(name for name in wanted if name in refused and name in DROPPED)
        renamed = {name: OTHER_NAMES[name] for name in wanted if name in refused and name in OTHER_NAMES}
        values = {renamed.get(name, name): value for name, value in wanted.items() if name not in dropped}
        return Adapted(values, dropped, renamed or None)

    def learn(self, fault: Fault, sent: Mapping[str, Any]) -> bool:
        """Remember what a refusal names. Returns whether the request can be sent in another way now."""
        name = _named(fault, sent)
        if name is None:
            return False
        self._refused.change(lambda state: state.update({name: True}))
        return True

    def forget(self) -> None:
        """What was found was another start's of the server, perhaps."""
        self._refused.change(lambda state: state.clear())


def _named(fault: Fault, sent: Mapping[str, Any]) -> str | None:
    """The parameter that an error refuses as such; not one whose value is wrong, such as a temperature of 3."""
    if fault.status not in (400, 422) or not _REFUSAL.search(f"{fault.code} {fault.message}"):
        return None
    for name in (*DROPPED, *OTHER_NAMES):
        if name in sent and (fault.param == name or _names(fault.message, name)):
            return name
    return None


def _names(message: str, name: str) -> bool:
    """Whether a message speaks of a parameter; `stop` alone may be a word of its language."""
    quoted = rf"""["'`]{name}["'`]"""
    return bool(re.search(rf"{quoted}|\bparameters?:? {name}\b|\b{name} (?:is|does|parameter)\b", message))
