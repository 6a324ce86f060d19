"""Embedders of texts (`conf/embedder/`) and of pictures (`conf/image_embedder/`). `Lexical` and `ColourLayout` are the
core's own; the others need a package, weights or a server, and say so in `problems`."""

from __future__ import annotations

from harness.embedding.colour_layout import ColourLayout
from harness.embedding.lexical import Lexical
from harness.embedding.minilm import MiniLM
from harness.embedding.openai import OpenAIEmbedder
from harness.embedding.protocol import Embedder, ImageEmbedder
from harness.embedding.sentence_transformers import SentenceTransformers, SentenceTransformersImages

__all__ = [
    "ColourLayout",
    "Embedder",
    "ImageEmbedder",
    "Lexical",
    "MiniLM",
    "OpenAIEmbedder",
    "SentenceTransformers",
    "SentenceTransformersImages",
]
