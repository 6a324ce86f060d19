"""Another model for one role, for every backend alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import RunMode

from harness import store
from harness.cells import Cell
from harness.chat import roles
from harness.chat.models import OpenModels
from harness.components import build
from harness.compose import Composer
from harness.failures import UsageError
from harness.preflight import check
from harness.records import EpisodeKey
from harness.sweep import run_cells

MakeCell = Callable[..., Cell]
PARROT = {"_target_": "harness.testing.talk.Parrot"}
TALK = {"_target_": "harness.testing.talk.Talk"}
RULES = {"_target_": "harness.chat.rules.Rules"}
LLM: dict[str, Any] = {
    "_target_": "a.B",
    "model": "m",
    "extra": {"x": 1, "y": 2},
    "roles": {"reflector": {"model": "n", "extra": {"y": 3}}, "adapter": {"_target_": "c.D", "size": 4}},
}


def test_an_entry_changes_keys_of_the_base_or_is_a_model_of_its_own() -> None:
    base = {"_target_": "a.B", "model": "m", "extra": {"x": 1, "y": 2}}
    assert roles.of_role(LLM, "planner") == (base, "llm")
    assert roles.of_role(LLM, "reflector") == (
        {"_target_": "a.B", "model": "n", "extra": {"x": 1, "y": 3}},
        "llm.roles.reflector",
    )
    assert roles.of_role(LLM, "adapter") == ({"_target_": "c.D", "size": 4}, "llm.roles.adapter")
    assert [where for _, where in roles.each(LLM)] == ["llm", "llm.roles.reflector", "llm.roles.adapter"]
    assert LLM["extra"] == {"x": 1, "y": 2}


@pytest.mark.parametrize("llm", [RULES, {**RULES, "roles": {}}, {**RULES, "roles": None}])
def test_without_entries_there_is_the_base(llm: dict[str, Any]) -> None:
    assert roles.of_role(llm, "planner") == (RULES, "llm")
    assert roles.identity(llm) == RULES


def test_an_entry_that_holds_no_keys_is_a_mistake() -> None:
    with pytest.raises(UsageError, match=r"as in llm.roles.reflector.model=gpt-4o"):
        roles.of_role({**RULES, "roles": {"reflector": "gpt-4o"}}, "planner")


def test_what_cannot_change_an_answer_makes_no_other_cell_and_a_role_does(make_cell: MakeCell) -> None:
    def identity(**llm: Any) -> str:
        return make_cell(llm={**PARROT, **llm}).identity

    plain = identity()
    assert identity(cost_usd=3.0, log="elsewhere") == plain
    assert identity(model="parrot-2") != plain
    assert identity(roles={"reflector": {"model": "parrot-2"}}) != plain
    assert identity(roles={"reflector": {"model": "parrot-2"}}) != identity(
        roles={"adapter": {"model": "parrot-2"}}
    )
    assert identity(roles={"reflector": {"model": "parrot-2", "log": "x"}}) == identity(
        roles={"reflector": {"model": "parrot-2"}}
    )
    assert make_cell(llm={**PARROT, "roles": {"reflector": {"model": "p"}}}).work == make_cell().work


def test_each_role_is_answered_by_its_model_and_the_row_says_so(tmp_path: Path, make_cell: MakeCell) -> None:
    llm = {
        **PARROT,
        "roles": {"reflector": {"model": "other", "cost_usd": 1.0}, "adapter": {**PARROT, "text": "A"}},
    }
    method = {**TALK, "calls": 1, "asked": ["planner", "reflector", "adapter"]}
    cell = make_cell(
        llm=llm, method=method, env={"size": 1, "scenes": 1}, cache={"path": str(tmp_path / "c.sqlite")}
    )
    assert run_cells([cell], tmp_path / "out").complete
    (row,) = store.load(tmp_path / "out")
    assert row["models"] == ["other", "parrot-1"]
    assert row["usage"]["cost_usd"] == 1.5
    assert row["usage"]["roles"] == {"planner": 1, "reflector": 1, "adapter": 1}
    planner, reflector, adapter = row["trials"][0]["facts"]["heard"]
    assert len({planner, reflector, adapter}) == 3
    assert adapter == "A"


def test_roles_with_one_config_share_one_open_model(make_cell: MakeCell) -> None:
    llm = {**PARROT, "roles": {"reflector": {"model": "other"}, "adapter": {"model": "other"}}}
    opened = OpenModels()
    key = EpisodeKey("task0", 0, 0)
    of, elsewhere = opened.of(make_cell(llm=llm), key), opened.of(make_cell(llm=llm, seed=1), key)
    assert of("reflector") is of("adapter") is elsewhere("reflector")
    assert of("planner") is not of("reflector")
    assert (of("planner").name, of("reflector").name) == ("parrot-1", "other")
    opened.close()


def test_a_role_that_no_method_asks_for_is_told_before_anything_runs(make_cell: MakeCell) -> None:
    def cell(role: str, *asked: str, **method: Any) -> Cell:
        llm = {**PARROT, "roles": {role: {"model": "other"}}}
        return make_cell(llm=llm, method={**TALK, "asked": list(asked), **method})

    with pytest.raises(UsageError, match=r"llm.roles.reflecter: .* Did you mean reflector\?"):
        check([cell("reflecter", "planner", "reflector")])
    with pytest.raises(UsageError, match=r"Known: planner\."):
        check([cell("sentry", "planner")])
    # another method of the sweep asks for it, or a method does not say what it asks for
    check([cell("reflector", "planner"), cell("reflector", "reflector")])
    check([cell("sentry", "planner", says_so=False)])


def test_a_role_that_was_never_asked_is_told(tmp_path: Path, make_cell: MakeCell) -> None:
    llm = {**PARROT, "roles": {"planner": {"model": "p"}, "sentry": {"model": "s"}}}
    cell = make_cell(llm=llm, method={**TALK, "says_so": False})
    assert [note for note in run_cells([cell], tmp_path).notes if "llm.roles" in note] == [
        "llm.roles: nothing of what was played now asked for sentry."
    ]
    assert run_cells([cell], tmp_path).notes == []  # nothing was played


def test_problems_of_a_roles_model_are_told_with_its_key(make_cell: MakeCell) -> None:
    replay = {"_target_": "harness.chat.replay.Replay", "from": "/nowhere"}
    with pytest.raises(UsageError, match=r"llm.roles.planner: /nowhere is not there"):
        check([make_cell(llm={**PARROT, "roles": {"planner": replay}}, method=TALK)])
    with pytest.raises(UsageError, match=r"llm.roles.planner \(Parrot\) has no key `modle`"):
        check([make_cell(llm={**PARROT, "roles": {"planner": {"modle": "x"}}}, method=TALK)])


@pytest.fixture
def composer() -> Iterator[Composer]:
    Plugins.instance()
    with initialize_config_module("conf", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        yield Composer(loader, loader.load_configuration("config", [], run_mode=RunMode.MULTIRUN))


@pytest.mark.parametrize("option", ["openai", "vllm", "rules"])
def test_a_role_is_given_another_model_on_the_command_line(composer: Composer, option: str) -> None:
    cell = composer.cell([f"llm={option}", "llm.roles.reflector.model=another"])
    plain = composer.cell([f"llm={option}"])
    assert roles.entries(plain.config["llm"]) == {}
    node, _ = roles.of_role(cell.config["llm"], "reflector")
    assert node == {**roles.base(plain.config["llm"]), "model": "another"}


def test_a_role_is_given_another_option_of_the_group(composer: Composer) -> None:
    cell = composer.cell(["llm=openai", "+llm@llm.roles.sentry=vllm", "llm.roles.sentry.model=small"])
    node, where = roles.of_role(cell.config["llm"], "sentry")
    assert build(node, where).model == "small"
    assert node["base_url"] == composer.cell(["llm=vllm"]).config["llm"]["base_url"]
    assert roles.of_role(cell.config["llm"], "planner")[0] == roles.base(
        composer.cell(["llm=openai"]).config["llm"]
    )


@pytest.mark.parametrize(
    ("method", "asks"),
    [
        ("voxposer", {"planner", "composer", "low_level"}),
        ("self_reflection", {"planner", "composer", "low_level", "reflector"}),
        ("mtp", {"planner", "composer", "low_level", "adapter"}),
        ("mtp_no_adaptation", {"planner", "composer", "low_level"}),
    ],
)
def test_methods_say_what_they_ask_for(composer: Composer, method: str, asks: set[str]) -> None:
    assert set(composer.cell([f"method={method}"]).component("method").roles) == asks
