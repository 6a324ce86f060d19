"""Text embedders. `Lexical` is the core's own; the others need a package, weights or a server, and say so in
`problems`. Each is the config behind a file of `conf/embedder/`."""

from __future__ import annotations

from harness.embedding.lexical import Lexical
from harness.embedding.minilm import MiniLM
from harness.embedding.openai import OpenAIEmbedder
from harness.embedding.protocol import Embedder
from harness.embedding.sentence_transformers import SentenceTransformers

__all__ = ["Embedder", "Lexical", "MiniLM", "OpenAIEmbedder", "SentenceTransformers"]
