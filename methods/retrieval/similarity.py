"""Rankings by what instructions say: the paper's cosine, and one that weighs the action apart. Where the memory is one
of text and images, what the scenes look like counts too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.embedding import ColourLayout, Embedder, ImageEmbedder
from methods.code_memory import Record
from methods.code_memory.pictures import decode, reduced
from methods.retrieval.hits import Allowed, Hit, first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.protocols import Image
    from methods.retrieval.index import Index

    Vectors = NDArray[np.float32]

_LEAD = frozenset(
    (
        "please",
        "now",
        "then",
        "first",
        "just",
        "kindly",
        "robot",
        "you",
        "can",
        "could",
        "would",
        "should",
        "to",
        "the",
        "a",
        "an",
        "and",
    )
)
_PARTICLES = frozenset(
    (
        "on",
        "off",
        "up",
        "down",
        "out",
        "in",
        "into",
        "onto",
        "open",
        "closed",
        "shut",
        "away",
        "from",
        "under",
        "left",
        "right",
        "over",
        "back",
        "top",
    )
)


@dataclass(frozen=True)
class Cosine:
    """The cosine of the embeddings of two instructions (MTP paper, equation 6). With a picture of the scene it is
    weighed with the cosine of the pictures; a record that has none is judged by its instruction alone."""

    embedder: Embedder
    image_embedder: ImageEmbedder = field(default_factory=ColourLayout)
    image_weight: float = 0.3
    """Share of the pictures, where there are any: (1 - w) * text + w * image."""
    drop_duplicates: bool = True
    """A program comes once, so that rank 1 differs from rank 0; false is the paper's plain ranking."""

    def __post_init__(self) -> None:
        if not 0 <= self.image_weight < 1:
            raise ValueError(f"image_weight is {self.image_weight}; it is a share from 0 to below 1")

    def rank(
        self,
        instruction: str,
        records: Sequence[Record],
        allowed: Allowed,
        count: int,
        seed: int,
        image: Image | None = None,
    ) -> list[Hit]:
        if not records:
            return []
        return first(self._ranking(instruction, records, image), allowed, count, self.drop_duplicates)

    def embed(self, instructions: Sequence[str]) -> Vectors:
        """(N, D) float32, rows of at most unit length: what instructions are compared by."""
        return self.embedder.embed(instructions)

    def _ranking(self, instruction: str, records: Sequence[Record], image: Image | None) -> Iterator[Hit]:
        text = self.embed([instruction])[0]
        if image is None:
            index, _, _ = _prepared(self, records, False)
            for row, score in index.ranking(text):
                yield Hit(records[row], score)
            return
        import numpy as np

        picture = self.image_embedder.embed_images([reduced(image)])[0]
        share = np.float32(self.image_weight)
        index, texts, pictures = _prepared(self, records, True)
        for row, score in index.ranking(np.hstack([np.sqrt(1 - share) * text, np.sqrt(share) * picture])):
            seen = float(pictures[row] @ picture) if records[row].image else None
            yield Hit(records[row], score, float(texts[row] @ text), seen)


@dataclass(frozen=True)
class Hybrid(Cosine):
    """The cosine of the actions and that of the rest, weighed: "open the drawer" is then nearer to "open the
    cupboard" than to "close the drawer"."""

    action_weight: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.action_weight <= 1:
            raise ValueError(f"action_weight is {self.action_weight}; it is a share from 0 to 1")

    def embed(self, instructions: Sequence[str]) -> Vectors:
        """(N, 2 D): the weighed halves side by side, so that a dot product is the weighed sum of cosines."""
        import numpy as np

        halves = [split_action(text) for text in instructions]
        actions = self.embedder.embed([action for action, _ in halves])
        rest = self.embedder.embed([rest for _, rest in halves])
        weight = self.action_weight
        return np.hstack([np.sqrt(weight) * actions, np.sqrt(1 - weight) * rest]).astype(np.float32)


def split_action(instruction: str) -> tuple[str, str]:
    """The action of an instruction, its first content word and all particles, and the other words."""
    words = re.findall(r"\w+", instruction.lower())
    verb = next((i for i, word in enumerate(words) if word not in _LEAD), None)
    action = [word for i, word in enumerate(words) if i == verb or word in _PARTICLES]
    rest = [
        word for i, word in enumerate(words) if i != verb and word not in _PARTICLES and word not in _LEAD
    ]
    return " ".join(action), " ".join(rest)


_prepared_for: dict[tuple[int, str, bool], tuple[Sequence[Record], tuple[Index, Vectors, Vectors]]] = {}
_KEPT = 4
"""How many memories are kept ready in a process."""


def _prepared(
    retriever: Cosine, records: Sequence[Record], with_images: bool
) -> tuple[Index, Vectors, Vectors]:
    """The index of a memory, with the vectors of its texts and pictures. Kept for the next question."""
    key = (id(records), repr(retriever), with_images)
    if key not in _prepared_for:
        while len(_prepared_for) >= _KEPT:
            del _prepared_for[next(iter(_prepared_for))]
        _prepared_for[key] = records, _prepare(retriever, records, with_images)
    return _prepared_for[key][1]


def _prepare(
    retriever: Cosine, records: Sequence[Record], with_images: bool
) -> tuple[Index, Vectors, Vectors]:
    import numpy as np

    from methods.retrieval.index import Index

    texts = retriever.embed([record.instruction for record in records])
    if not with_images:
        return Index(texts), texts, texts[:, :0]
    seen = np.array([bool(record.image) for record in records])
    found = retriever.image_embedder.embed_images(
        [decode(record.image) for record in records if record.image]
    )
    pictures = np.zeros((len(records), found.shape[1]), dtype=np.float32)
    pictures[seen] = found
    # A query is (sqrt(1 - w) text, sqrt(w) image): a record without a picture gets what leaves it its whole text.
    share = np.float32(retriever.image_weight)
    scale = np.where(seen, np.sqrt(1 - share), 1 / np.sqrt(1 - share))[:, None]
    return Index(np.hstack([scale * texts, np.sqrt(share) * pictures])), texts, pictures
