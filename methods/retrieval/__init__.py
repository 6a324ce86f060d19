"""In which order records of the code memory are tried for an instruction. Each retriever is the config of
`conf/retriever/` or of a control method."""

from __future__ import annotations

from methods.retrieval.controls import FixedExample, RandomRank
from methods.retrieval.hits import Hit, Retriever
from methods.retrieval.similarity import Cosine, Hybrid

__all__ = ["Cosine", "FixedExample", "Hit", "Hybrid", "RandomRank", "Retriever"]
