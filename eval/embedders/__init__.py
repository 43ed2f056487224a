"""Embedders of the dense leg, by name.

======================================  ================================================================
name                                    what it is
======================================  ================================================================
``lsa``, ``lsa(dim=128)``               truncated SVD over tf-idf, fitted on the documents; no model
``use-multilingual``                    Universal Sentence Encoder, 16 languages (extra ``models``)
``sentence-transformers:NAME``          a sentence-transformers model (extra ``sentence-transformers``)
``model2vec:NAME``                      a model2vec static model (extra ``model2vec``)
``module:callable``                     your own function: list of str -> array [n, dim]
======================================  ================================================================
"""

from __future__ import annotations

from zerda_bench.eval.embedders.base import Embedder, Progress
from zerda_bench.eval.embedders.cache import Embedded, embed_cached

__all__ = ["NAMES", "Embedded", "Embedder", "Progress", "default_embedder", "embed_cached", "get_embedder"]

#: Forms `get_embedder` understands, for help texts.
NAMES = ("lsa", "use-multilingual", "sentence-transformers:NAME", "model2vec:NAME", "module:callable")


def get_embedder(name: str) -> Embedder:
    """Embedder called `name`; models are not loaded before their first text.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a ``module:callable`` cannot be found.
    ImportError
        If the package behind it is not installed, naming the extra that has it.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == "sentence-transformers":
        from zerda_bench.eval.embedders.sentence_transformer import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(rest)
    if colon and kind == "model2vec":
        from zerda_bench.eval.embedders.static_model import StaticModelEmbedder

        return StaticModelEmbedder(rest)
    if name == "use-multilingual":
        from zerda_bench.eval.embedders.use_multilingual import UseMultilingual

        return UseMultilingual()
    if name == "lsa" or name.startswith("lsa("):
        from zerda_bench.eval.embedders.lsa import parse_lsa

        return parse_lsa(name)
    if colon:
        from zerda_bench.eval.embedders.function import FunctionEmbedder

        return FunctionEmbedder(name)
    raise ValueError(f"unknown embedder {name!r}; there are: {', '.join(NAMES)}")


def default_embedder() -> str:
    """Name of the best embedder that needs no download here: ``use-multilingual`` where installed, else ``lsa``."""
    from zerda_bench.eval.embedders.use_multilingual import is_installed

    return "use-multilingual" if is_installed() else "lsa"
