"""Models of the sentence-transformers package."""

from __future__ import annotations

from typing import Any

from zerda_bench.eval.embedders.pretrained import PretrainedEmbedder

__all__ = ["SentenceTransformerEmbedder"]


class SentenceTransformerEmbedder(PretrainedEmbedder):
    """A sentence-transformers model with its own pooling and normalisation, without prompts.

    Whether a rerun agrees in the last bits is up to torch and the device.
    """

    package = "sentence-transformers"
    module = "sentence_transformers"
    texts_a_batch = 1024  # the package sorts them by length and cuts batches of its own

    def _load(self, source: str) -> Any:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(source)

    def _embed(self, model: Any, batch: list[str]) -> Any:
        return model.encode(batch, convert_to_numpy=True, show_progress_bar=False)
