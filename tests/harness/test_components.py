from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import pytest

from harness.components import build, suggest
from harness.failures import UsageError


class Part(Protocol):
    def act(self) -> None: ...


@dataclass(frozen=True)
class Inner:
    size: int = 1


@dataclass(frozen=True)
class Outer:
    rate: float = 0.5
    count: int = 2
    name: str = ""
    choice: Literal["a", "b"] = "a"
    tasks: list[str] | None = None
    pair: tuple[str, ...] = ()
    table: dict[str, float] = field(default_factory=dict)
    inner: Inner = field(default_factory=Inner)
    part: Part | None = None

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count is negative")


def node(**values: Any) -> dict[str, Any]:
    return {"_target_": f"{__name__}.Outer", **values}


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are imported by path; let their dataclasses be found by name."""
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules[Outer.__module__])


def test_values_are_converted_and_nested_nodes_built() -> None:
    built = build(
        node(
            rate=1,
            tasks=["x"],
            pair=["p", "q"],
            table={"k": 2},
            inner={"size": 3},
            part={"_target_": f"{__name__}.Inner", "size": 4},
        ),
        "env",
    )
    assert built == Outer(1.0, tasks=["x"], pair=("p", "q"), table={"k": 2.0}, inner=Inner(3), part=Inner(4))  # type: ignore[arg-type]
    assert isinstance(built.rate, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"ratee": 1}, r"env \(Outer\) has no key `ratee`. Did you mean rate\?"),
        ({"count": "many"}, "env.count is 'many', which is not of type int"),
        ({"count": True}, "env.count is True"),
        ({"count": 1.5}, "env.count is 1.5"),
        ({"name": 1000.0}, "env.name is 1000.0, which is not of type str"),
        ({"name": None}, "env.name is None"),
        ({"choice": "c"}, "it can be a, b"),
        ({"tasks": [1]}, "env.tasks"),
        ({"pair": "x"}, r"write env.pair=\[x\]"),
        ({"inner": {"sise": 1}}, r"env.inner \(Inner\) has no key `sise`. Did you mean size\?"),
        ({"part": "text"}, "env.part"),
        ({"count": -1}, "env: count is negative"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_key(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(node(**values), "env")


@pytest.mark.parametrize(
    "target", ["nowhere.Thing", "harness.cells.Nothing", "harness.cells.select_tasks", "plain", "", "os.path"]
)
def test_a_target_that_cannot_be_built_is_named(target: str) -> None:
    with pytest.raises(UsageError, match="llm"):
        build({"_target_": target}, "llm")


def test_a_node_without_a_target_is_refused() -> None:
    with pytest.raises(UsageError, match="_target_"):
        build({"rate": 1.0}, "env")


def test_suggestions() -> None:
    assert suggest("open_drawr", ["open_drawer", "push_button"]) == "Did you mean open_drawer?"
    assert suggest("zzz", ["b", "a"]) == "Known: a, b."
    assert suggest("zzz", []) == ""
