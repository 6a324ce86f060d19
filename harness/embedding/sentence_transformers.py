"""Any model of the sentence-transformers library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.embedding.rows import unit_rows
from harness.failures import ProviderError
from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SentenceTransformers:
    """The config behind `conf/embedder/sentence_transformers.yaml`."""

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """A name on the model hub, or a folder."""
    revision: str | None = None
    """Commit of the model; null: the newest."""
    device: str = "cpu"
    """As torch names it. Each worker loads the model when it is first asked."""

    def problems(self) -> list[Problem]:
        if find_spec("sentence_transformers") is None:
            return [
                Problem(
                    "embedder=sentence_transformers needs the package sentence-transformers",
                    "pip install 'engram[sentence-transformers]'",
                )
            ]
        return []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D) float32. Raises `ProviderError` when the model cannot be loaded."""
        model = _model(self)
        return unit_rows(
            texts,
            model.get_embedding_dimension(),
            lambda filled: model.encode(filled, show_progress_bar=False),
        )


@cache
def _model(config: SentenceTransformers) -> Any:
    """One a process."""
    try:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(config.model, revision=config.revision, device=config.device)
    except (ImportError, OSError, ValueError) as error:
        raise ProviderError(f"sentence-transformers cannot load {config.model}: {error}") from error
