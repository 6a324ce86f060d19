from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf

import conf
from harness.components import key_of, locate
from harness.compose import Composer, split_hydra, to_plain
from hydra_plugins.engram import GROUPS

TESTING = "hydra.searchpath=[pkg://harness.testing.conf]"
CONF = Path(conf.__file__).parent


@pytest.fixture
def composer() -> Iterator[Composer]:
    Plugins.instance()
    with initialize_config_module("conf", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("config", [TESTING], run_mode=RunMode.MULTIRUN)
        yield Composer(loader, master)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["seed=3"],
        ["env=noop", "method=noop", "seed=1", "env.scenes=2", "method.trials=3"],
        ["env=noop", "env.tasks=[task0,task1]", "env.rate=0.25"],
        ["env=noop", "method=noop", "method.fault='put the lid on, then wait'"],
        ["record=video", "record.fps=5"],
        ["+experiment=quick"],
        ["+experiment=quick", "env.scenes=3", "name=mine"],
        ["env=noop", "++env.size=4"],
        ["env=noop", "method=noop", "~method.seconds"],
        ["sampling={temperature: 1.0, max_tokens: 5}"],
    ],
)
def test_the_fast_path_gives_what_hydra_gives(composer: Composer, overrides: list[str]) -> None:
    composer.cell(["seed=9", "env=noop", "method=noop"])  # a warm cache must not leak into what follows
    cell = composer.cell(overrides)
    theirs, choices = split_hydra(composer._loader.load_sweep_config(composer._master, overrides))
    assert cell.config == to_plain(theirs)
    assert cell.choices == choices


def test_hydra_composes_once_per_choice_of_groups(composer: Composer) -> None:
    for method in ("noop", "retry"):
        for seed in range(5):
            cell = composer.cell([f"method={method}", "env=noop", f"seed={seed}"])
            assert (cell.method, cell.seed) == (method, seed)
    assert len(composer._bases) == 2


@pytest.mark.parametrize("override", ["env.scense=5", "sed=1", "method=mtpp", "run.workers=many", "seed=1.5"])
def test_what_does_not_fit_is_refused(composer: Composer, override: str) -> None:
    with pytest.raises(HydraException):
        composer.cell([override])


def config_files() -> list[str]:
    found = [*CONF.glob("*/*.yaml"), *(CONF / "hydra").glob("*/*.yaml")]
    return [str(path.relative_to(CONF).with_suffix("")) for path in sorted(found)]


@pytest.mark.parametrize("file", config_files())
def test_every_config_in_the_tree_composes(composer: Composer, file: str) -> None:
    group, _, option = file.rpartition("/")
    cell = composer.cell([f"{'+' if group == 'experiment' else ''}{group}={option}"])
    for part in GROUPS:
        cell.component(part)


@pytest.mark.parametrize(
    "file",
    [f for f in config_files() if f.split("/")[0] in GROUPS],
)
def test_a_yaml_spells_every_key_of_its_dataclass_with_its_default(file: str) -> None:
    """YAML and code cannot drift: a key that is only in the code could not be set on the command line."""
    node = OmegaConf.to_container(OmegaConf.load(CONF / f"{file}.yaml"))
    assert isinstance(node, dict)
    if "defaults" in node:
        return
    declared = {key_of(field) for field in fields(locate(str(node.pop("_target_")), file)) if field.init}
    assert set(node) == declared
