"""The keys of a cell's config and their types. Groups (`method`, `env`, `llm`, `embedder`, `image_embedder`,
`memory`, `retriever`, `executor`, `tracker`) hold a `_target_` whose dataclass declares that entry's own keys;
`harness.components` checks them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.failures import UsageError

MISSING: Any = "???"
"""OmegaConf's mark for a value that has to be given; workers do not import OmegaConf."""

SELECTION_KEYS = ("tasks", "scenes", "instructions")
"""Keys of `env` that choose episodes. They are no part of a cell's identity: a longer grid only adds.
Not so for methods with an `order`, whose episodes hang on those before: another choice is another cell."""
IDENTITY_KEYS = ("method", "env", "llm", "sampling", "sandbox", "seed")
"""Keys that can change a result, `budget.episode` beside them. What is not here (workers, tracker, recording, cache,
name) cannot, or is part of the methods that use it, which name it as `${memory}`, `${retriever}`, `${executor}`,
`${embedder}` or `${image_embedder}`."""


def _refuse(key: str, value: float | None, least: int) -> None:
    if value is not None and value < least:
        raise UsageError(f"{key} is {value}; it has to be at least {least}.")


@dataclass
class RunConfig:
    """How episodes are played; cannot change a result."""

    workers: int | None = None
    """Worker processes; null: one per core. 0 plays in this process, for debugging: no watchdog."""
    episode_timeout: float = 1200.0
    """Wall-clock seconds after which the watchdog ends an episode's worker."""
    retries: int = 1
    """How often an episode is played again in the same sweep after its worker died or hung."""
    max_errors: int = 5
    """Errors in a row after which a cell is stopped."""
    fail_fast: bool = False
    """Stop the sweep at the first error."""
    stop: str = "all"
    """all: every episode is played. sequential: those of two methods as long as their comparison is undecided."""
    compare: list[list[str]] | None = None
    """Pairs of methods for sequential, as [[mtp,voxposer]]; null: each with the first."""
    alpha: float = 0.05
    """Chance of any false decision of a sequential sweep, over all of its comparisons."""
    margin: float = 0.0
    """Difference of success rates up to which two methods are alike, which also decides; 0: never."""
    test: dict[str, Any] = field(
        default_factory=lambda: {"_target_": "analysis.statistics.sequential.Sequential"}
    )
    """What decides: may be looked at after every pair."""

    def __post_init__(self) -> None:
        _refuse("run.workers", self.workers, 0)
        _refuse("run.retries", self.retries, 0)
        _refuse("run.max_errors", self.max_errors, 1)
        if not self.episode_timeout > 0:
            raise UsageError(f"run.episode_timeout is {self.episode_timeout:g}; it has to be above 0.")


@dataclass
class RecordConfig:
    """What is kept of an episode beside its row."""

    trace: bool = True
    images: bool = False
    video: str = "none"
    """none, failures or all."""
    camera: str | None = None
    """Whose pictures; null: the environment's first camera."""
    fps: float = 10.0


@dataclass
class SamplingConfig:
    """How replies are drawn; the same for all methods."""

    temperature: float = 0.0
    max_tokens: int = 512

    def __post_init__(self) -> None:
        _refuse("sampling.temperature", self.temperature, 0)
        _refuse("sampling.max_tokens", self.max_tokens, 1)


@dataclass
class CacheConfig:
    """Replies of chat models that are kept and served again; see `harness.chat.cache`."""

    path: str | None = "outputs/cache.sqlite"
    """One file for all sweeps of a machine; null: no cache."""


@dataclass
class EpisodeBudget:
    """What one episode may use, whoever serves it; beyond it the episode is a failure `budget`."""

    usd: float | None = None
    """Of one episode, as are the next two; replies from the cache count."""
    tokens: int | None = None
    calls: int | None = None


@dataclass
class BudgetConfig:
    """What a sweep may spend anew, replies from the cache not counted; then it stops and can be continued."""

    usd: float | None = None
    """What a sweep may spend before it stops; the same command with more goes on. Kept replies cost nothing."""
    tokens: int | None = None
    """Prompts and replies together."""
    calls: int | None = None
    episode: EpisodeBudget = field(default_factory=EpisodeBudget)


@dataclass
class SandboxConfig:
    """Limits on one run of a generated program, time inside the task API not counted."""

    seconds: float = 5.0
    memory_mb: int = 1024
    output_chars: int = 10_000
    api_calls: int = 2_000


def open_roles() -> Any:
    """A model's own keys come from its YAML; any of them can be given to a role, as `llm.roles.ROLE.KEY=...`."""
    from omegaconf import DictConfig

    return DictConfig({"roles": DictConfig({}, flags={"struct": False})})


@dataclass
class Config:
    """One cell."""

    name: str = "default"
    """Names the folder under `outputs/`."""
    seed: int = 0
    method: Any = MISSING
    env: Any = MISSING
    llm: Any = field(default_factory=open_roles)
    """Keys that are another model's for one role, as in `llm.roles.reflector.model=...`."""
    embedder: Any = MISSING
    image_embedder: Any = MISSING
    memory: Any = MISSING
    retriever: Any = MISSING
    executor: Any = MISSING
    tracker: Any = MISSING
    item: Any = None
    """Of an experiment: the paper's table or figure that its cells are for (`analysis.items`)."""
    record: RecordConfig = field(default_factory=RecordConfig)
    run: RunConfig = field(default_factory=RunConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
