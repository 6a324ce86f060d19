"""Which chat model plays which role. The `llm` node of a config is the model of every role; `llm.roles` gives a role
other keys of that model, or a model of its own. It opens nothing.

    llm=openai llm.roles.reflector.model=gpt-4o               the same backend with another model
    llm=openai +llm@llm.roles.reflector=vllm                  another option of the group, with keys of its own
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.components import build
from harness.failures import UsageError

Node = Mapping[str, Any]


def base(llm: Node) -> Node:
    """The config of the model that plays every role without an entry."""
    return {key: value for key, value in llm.items() if key != "roles"}


def entries(llm: Node) -> Mapping[str, Node]:
    """Role to what its entry says. Raises `UsageError` for an entry that is no set of keys."""
    found: Mapping[str, Node] = llm.get("roles") or {}
    for role, entry in found.items():
        if not isinstance(entry, Mapping):
            raise UsageError(
                f"llm.roles.{role} is {entry!r}; it holds keys of a model, as in llm.roles.{role}.model={entry}."
            )
    return found


def of_role(llm: Node, role: str) -> tuple[Node, str]:
    """The config of the model that plays a role, and the key at which it stands. An entry with a `_target_` is a
    model of its own; any other changes keys of the base."""
    entry = entries(llm).get(role)
    if entry is None:
        return base(llm), "llm"
    return entry if "_target_" in entry else _merged(base(llm), entry), f"llm.roles.{role}"


def each(llm: Node) -> list[tuple[Node, str]]:
    """The base and the model of each role that has an entry, with the keys at which they stand."""
    return [(base(llm), "llm"), *(of_role(llm, role) for role in entries(llm))]


def settings(model: Node, where: str) -> Node:
    """What in a model's config can change an answer: not the keys that its dataclass calls `incidental`, and what
    it reads beside its keys."""
    config = build(model, where)
    incidental = getattr(config, "incidental", ())
    kept = {key: value for key, value in model.items() if key not in incidental}
    fingerprint = getattr(config, "fingerprint", None)
    if fingerprint is not None and (contents := fingerprint()):
        kept["contents"] = contents
    return kept


def is_cached(config: Any) -> bool:
    """Whether replies of a model are worth keeping; most are, and a config that says nothing is of those."""
    return bool(getattr(config, "cached", True))


def identity(llm: Node) -> Node:
    """What of the whole node can change a result."""
    (first, where), *others = each(llm)
    kept = dict(settings(first, where))
    if others:
        kept["roles"] = {where: settings(model, where) for model, where in others}
    return kept


def _merged(under: Node, over: Node) -> Node:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        nested = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _merged(below, value) if nested else value  # type: ignore[arg-type]
    return merged
