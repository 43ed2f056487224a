"""Static embedding models of the model2vec package."""

from __future__ import annotations

from typing import Any

from zerda_bench.eval.embedders.pretrained import PretrainedEmbedder

__all__ = ["StaticModelEmbedder"]


class StaticModelEmbedder(PretrainedEmbedder):
    """A model2vec model: a text's vector is the weighted mean of its token vectors."""

    package = "model2vec"
    module = "model2vec"
    texts_a_batch = 1024

    def _load(self, source: str) -> Any:
        from model2vec import StaticModel

        return StaticModel.from_pretrained(source)

    def _embed(self, model: Any, batch: list[str]) -> Any:
        return model.encode(batch, show_progress_bar=False, use_multiprocessing=False)
