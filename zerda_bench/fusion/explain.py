"""Why a document has its fused score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zerda_bench.fusion.methods import FusionMethod, parse_method
from zerda_bench.fusion.normalise import normalise

if TYPE_CHECKING:
    from zerda_bench.hits import Hits

__all__ = ["FusionExplanation", "LegShare", "explain"]


@dataclass(frozen=True, slots=True)
class LegShare:
    """One leg's part: rank 1 is the best; None where the leg did not find the document.

    `normalised` is the score under the method's normalisation, also where the leg did not find the document; None
    where the method has none. `share` is what the leg adds to the fused score; None where the method is no sum over
    legs.
    """

    leg: str
    rank: int | None
    score: float | None
    normalised: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class FusionExplanation:
    """The fused score of one document; the shares add up to it, where the method is a sum.

    A score of ``-inf`` says that the method leaves the document out.
    """

    method: str
    score: float
    legs: tuple[LegShare, ...]


def explain(legs: Mapping[str, Hits], method: str | FusionMethod, query: int, doc: int) -> FusionExplanation:
    """How the fused score of `doc` for the query at position `query` comes about.

    Raises
    ------
    KeyError
        If no leg found the document.
    """
    from zerda_bench.fusion.pool import Pool
    from zerda_bench.hits import Hits

    fusion = parse_method(method) if isinstance(method, str) else method
    pool = Pool.from_legs({name: Hits.from_rows([hits.row(query)]) for name, hits in legs.items()})
    entries = (pool.docs == doc).nonzero()[0]
    if len(entries) == 0:
        raise KeyError(f"no leg found document {doc} for query {query}")
    entry = int(entries[0])
    shares = fusion.shares(pool)
    table = normalise(pool, fusion.parameters["norm"]) if "norm" in fusion.parameters else None
    parts = []
    for leg, name in enumerate(pool.legs):
        found = bool(pool.found[entry, leg])
        parts.append(
            LegShare(
                leg=name,
                rank=int(pool.ranks[entry, leg]) if found else None,
                score=float(pool.scores[entry, leg]) if found else None,
                normalised=float(table[entry, leg]) if table is not None else None,
                share=float(shares[entry, leg]) if shares.ndim == 2 else None,
            )
        )
    return FusionExplanation(fusion.name, float(fusion.scores(pool)[entry]), tuple(parts))
