"""Two results, or two variants of one, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zerda_bench.eval.results import Result

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """One measure of two systems on the same queries.

    Attributes
    ----------
    measure, first, second : str
        First and second are variants.
    first_mean, second_mean : float
    wins, ties, losses : int or None
        Queries on which the second system is better, equal or worse; None where values by query were not kept.
    """

    measure: str
    first: str
    second: str
    first_mean: float
    second_mean: float
    wins: int | None
    ties: int | None
    losses: int | None

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second_mean - self.first_mean


def compare(
    first: Result, second: Result, variants: Sequence[str] = (), measures: Sequence[str] = ()
) -> list[Comparison]:
    """Compare two results on the same collection, or two variants of one result given twice.

    Parameters
    ----------
    first, second : Result
    variants : sequence of str
        None: every variant that both hold. One: that one of both. Two: the first of the one, the second of the other.
    measures : sequence of str
        Canonical names; default all that both hold if one pair of variants is compared, else their first.

    Raises
    ------
    ValueError
        If the collections differ in content, more than two variants are given, a variant or measure was not
        measured, or the results have nothing in common.
    """
    if first.content_hash != second.content_hash:
        raise ValueError(
            f"the results are on different data: {first.dataset} ({first.content_hash[:10]}) and "
            f"{second.dataset} ({second.content_hash[:10]}); differences between them mean nothing"
        )
    pairs = _pairs(first, second, variants)
    common = [measure for measure in first.measures if measure in second.measures]
    for measure in measures:
        if measure not in common:
            raise ValueError(f"measure {measure!r} is not in both results; they share: {', '.join(common) or 'none'}")
    chosen = list(measures) or (common if len(pairs) == 1 else common[:1])
    if not chosen:
        raise ValueError("the results have no measure in common")
    values = first.per_query(), second.per_query()
    found = []
    for one, other in pairs:
        means = first.row(one).mean, second.row(other).mean
        for measure in chosen:
            counts: tuple[int | None, int | None, int | None] = (None, None, None)
            if values[0] is not None and values[1] is not None:
                counts = _counts(values[0][one][measure], values[1][other][measure])
            found.append(Comparison(measure, one, other, means[0][measure], means[1][measure], *counts))
    return found


def _pairs(first: Result, second: Result, variants: Sequence[str]) -> list[tuple[str, str]]:
    if len(variants) > 2:
        raise ValueError(f"give at most two variants, not {len(variants)}")
    if variants:
        pair = variants[0], variants[-1]
        first.row(pair[0]), second.row(pair[1])
        return [pair]
    theirs = {row.variant for row in second.rows}
    common = [row.variant for row in first.rows if row.variant in theirs]
    if not common:
        raise ValueError("the results have no variant in common; name one of each")
    return [(variant, variant) for variant in common]


def _counts(first: dict[str, float], second: dict[str, float]) -> tuple[int, int, int]:
    """Wins, ties and losses of the second, query by query; matched by id, whatever the order."""
    if first.keys() != second.keys():
        raise ValueError("the results hold values for different queries")
    wins = sum(second[query] > value for query, value in first.items())
    losses = sum(second[query] < value for query, value in first.items())
    return wins, len(first) - wins - losses, losses
