"""`llm=local`: a language model from a GGUF file, run by llama.cpp (the package xllamacpp) on this machine. This module
is the config; it loads nothing. The file is `weights`, the process that has it in memory `server`, and a model's side
of that `model`.

All processes of this machine that ask for the same share one process that has the model in memory. It is there as long
as somebody asks, and ends by itself `server.LINGER` seconds after the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from harness.chat.local.weights import KNOWN, Weights, located, problem_of
from harness.failures import ProviderError
from harness.protocols import Message, Problem, Sampling

if TYPE_CHECKING:
    from harness.protocols import ChatModel

RUNTIME = "xllamacpp"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Local:
    """The config behind `conf/llm/local.yaml`, which says what the keys are."""

    model: str = "qwen2.5-coder-1.5b-instruct"
    path: str | None = None
    sha256: str | None = None
    layout: Literal["chat", "completion"] = "chat"
    grammar: Literal["none", "planner"] = "none"
    threads: int = 2
    context: int = 4096
    slots: int = 12
    prompt_cache: bool = True
    timeout: float = 900.0

    incidental: ClassVar[tuple[str, ...]] = ("path", "timeout")

    def __post_init__(self) -> None:
        known = KNOWN.get(self.model)
        if known is None and (self.path is None or self.sha256 is None):
            raise ValueError(
                f"model is {self.model!r}; known are {', '.join(KNOWN)}. For a file of your own give its path and sha256"
            )
        if self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"sha256 is {self.sha256!r}; it has 64 digits, as `sha256sum FILE` prints them")
        if known is not None and self.sha256 not in (None, known.sha256):
            raise ValueError(
                f"{self.model} has the SHA-256 {known.sha256}; give another file another name with model=..."
            )
        if min(self.threads, self.context, self.slots) < 1 or not self.timeout > 0:
            raise ValueError("threads, context, slots and timeout have to be above 0")

    @cached_property
    def weights(self) -> Weights:
        """What the file has to be."""
        if self.model in KNOWN:
            return KNOWN[self.model]
        assert self.path is not None and self.sha256 is not None
        return Weights(Path(self.path).name, self.sha256)

    @property
    def served(self) -> str:
        """What rows say answered: everything outside the request that its text hangs on."""
        name = self.weights.file.removesuffix(".gguf")
        return f"{name} {self.weights.sha256[:12]} {RUNTIME}-{_version()} {self.threads} threads"

    def fingerprint(self) -> str:
        """With another file or another runtime it is another model."""
        return f"{self.weights.sha256} {RUNTIME} {_version()}"

    def is_priced(self) -> bool:
        """It costs nothing."""
        return True

    def problems(self) -> list[Problem]:
        """What keeps it from running. A known file that is not here yet is none: it is downloaded with the first use."""
        found = []
        if find_spec(RUNTIME) is None:
            found.append(Problem(f"The package {RUNTIME} is missing", "pip install 'engram[local]'"))
        file = located(self.weights, self.path)
        if (self.path is not None or file.exists()) and (problem := problem_of(file, self.weights)):
            found.append(problem)
        return found

    def parts(self) -> Mapping[str, list[Problem]]:
        """The known models, and whether their files are here."""
        return {name: _absent(name, weights) for name, weights in KNOWN.items()}

    def probe(self, sampling: Sampling) -> list[Problem]:
        """Download the file if it is not here, load it, and ask one question."""
        try:
            model = self.open()
            try:
                model.complete([Message("user", "Answer with the word OK.")], Sampling(max_tokens=4))
            finally:
                model.close()
        except ProviderError as error:
            return [Problem(str(error).rstrip("."), "With the file from elsewhere: llm.path=FILE")]
        return []

    def open(self) -> ChatModel:
        """Raises `ProviderError` when the file cannot be had or the model cannot be loaded."""
        from harness.chat.local.model import LocalModel

        return LocalModel(self)


def _version() -> str:
    return version(RUNTIME) if find_spec(RUNTIME) else "none"


def _absent(name: str, weights: Weights) -> list[Problem]:
    file = located(weights, None)
    if not file.exists():
        size = f"{weights.gigabytes:g} GB"
        return [
            Problem(f"Not downloaded yet ({size})", f"Use it once: python run.py llm=local llm.model={name}")
        ]
    problem = problem_of(file, weights)
    return [problem] if problem else []
