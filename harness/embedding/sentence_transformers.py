"""Any model of the sentence-transformers library, for texts or for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.embedding.rows import unit_length, unit_rows
from harness.failures import ProviderError
from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.protocols import Image


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


@dataclass(frozen=True)
class SentenceTransformersImages:
    """The config behind `conf/image_embedder/clip.yaml`."""

    model: str = "sentence-transformers/clip-ViT-B-32"
    """A name on the model hub, or a folder; a model that takes pictures."""
    revision: str | None = None
    """Commit of the model; null: the newest."""
    device: str = "cpu"
    """As torch names it. Each worker loads the model when it is first asked."""

    def problems(self) -> list[Problem]:
        return [
            Problem(f"pictures need the package {name}", "pip install 'engram[clip]'")
            for name in ("sentence_transformers", "torchvision")
            if find_spec(name) is None
        ]

    def embed_images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """See `ImageEmbedder`. Raises `ProviderError` when the model cannot be loaded or takes no pictures."""
        from PIL import Image as Pictures

        model = _model(self)
        try:
            found = model.encode([Pictures.fromarray(image) for image in images], show_progress_bar=False)
        except ValueError as error:
            raise ProviderError(f"{self.model} embedded no picture: {error}") from error
        return unit_length(found.reshape(len(images), -1 if len(images) else model.get_embedding_dimension()))


@cache
def _model(config: SentenceTransformers | SentenceTransformersImages) -> Any:
    """One a process."""
    try:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(config.model, revision=config.revision, device=config.device)
    except (ImportError, OSError, ValueError) as error:
        raise ProviderError(f"sentence-transformers cannot load {config.model}: {error}") from error
