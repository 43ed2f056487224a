"""Fusing the ranked lists of several legs into one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zerda_bench.fusion.explain import FusionExplanation, LegShare, explain
from zerda_bench.fusion.methods import METHODS, FusionMethod, default_methods, parse_method
from zerda_bench.fusion.normalise import NORMALISATIONS
from zerda_bench.fusion.pool import Pool

if TYPE_CHECKING:
    from zerda_bench.hits import Hits

__all__ = [
    "METHODS",
    "NORMALISATIONS",
    "FusionExplanation",
    "FusionMethod",
    "LegShare",
    "Pool",
    "default_methods",
    "explain",
    "fuse",
    "parse_method",
]


def fuse(
    legs: Mapping[str, Hits],
    method: str | FusionMethod,
    k: int,
    *,
    depth: int | None = None,
    n_threads: int | None = None,
) -> Hits:
    """Fuse the ranked lists of a batch of queries.

    Parameters
    ----------
    legs : mapping of str to Hits
        Ranked lists by leg name, each row in rank order. ``bm25`` and ``dense`` are names that some methods know.
    method : str or FusionMethod
        Such as ``"rrf(k=60)"``; see `METHODS`.
    k : int
        Documents to return for each query.
    depth : int, optional
        Hits to take from each list; default all.
    n_threads : int, optional
        Default: one a usable core. The answer does not depend on it.

    Returns
    -------
    Hits
        Fused scores descending, then ascending document index. To fuse the same lists by several methods, build a
        `Pool` once and call ``method.fuse(pool, k)``.

    Raises
    ------
    ValueError
        If the method is unknown or does not suit the legs.
    """
    fusion = parse_method(method) if isinstance(method, str) else method
    return fusion.fuse(Pool.from_legs(legs, depth, n_threads=n_threads), k, n_threads=n_threads)
