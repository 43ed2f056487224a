"""The fusion methods by canonical name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zerda_bench.fusion import formulas
from zerda_bench.fusion.normalise import NORMALISATIONS
from zerda_bench.names import format_name, parse_name, value_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zerda_bench.fusion.pool import Pool
    from zerda_bench.hits import Hits

__all__ = ["METHODS", "Family", "FusionMethod", "default_methods", "parse_method"]


@dataclass(frozen=True)
class Weights:
    """Weights of the legs, written ``0.7:0.3``."""

    values: tuple[float, ...]

    def __str__(self) -> str:
        return ":".join(map(value_text, self.values))


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(f"must lie between {low:g} and {high:g}")
        return value

    return parse


def _norm(text: str) -> str:
    if text not in NORMALISATIONS:
        raise ValueError(f"must be one of {', '.join(NORMALISATIONS)}: legs of different scale do not add up")
    return text


def _weights(text: str) -> Weights:
    values = tuple(float(part) for part in text.split(":"))
    if not all(math.isfinite(value) and value >= 0.0 for value in values) or not 0.0 < sum(values) < math.inf:
        raise ValueError("must be finite numbers of at least 0, not all 0, such as 0.7:0.3")
    return Weights(values)


@dataclass(frozen=True)
class Parameter:
    """A parameter: how its text is read, and its default; None where it is left out unless given."""

    parse: Callable[[str], Any]
    default: Any
    always: bool = True  # part of the canonical name even at its default


@dataclass(frozen=True)
class Family:
    """A fusion method with its parameters open."""

    formula: Callable[..., NDArray[np.floating[Any]]]
    summary: str
    source: str
    parameters: Mapping[str, Parameter]


_NORM = {"norm": Parameter(_norm, "minmax")}
_WEIGHTS = {"weights": Parameter(_weights, None, always=False)}
_UNIT = _number(0.0, 1.0)
_FREE = _number(0.0, 1e6)
_FOX = "Fox and Shaw, Combination of Multiple Searches, TREC-2 (1994)"
_ZERDA = {"vector": Parameter(_FREE, 0.6, always=False), "keyword": Parameter(_FREE, 0.3, always=False)}

#: Name -> family, in the order in which they are listed to users.
METHODS: Mapping[str, Family] = {
    "zerda": Family(
        formulas.zerda,
        ".6 cosine + .3 BM25/max + .2 rrf/max(rrf): HybridRetriever's default",
        "the zerda retriever module 0.1.0, as published",
        _ZERDA | {"bonus": Parameter(_FREE, 0.2, always=False), "k": Parameter(_FREE, 60.0, always=False)},
    ),
    "zerda-documented": Family(
        formulas.zerda_documented,
        ".6 cosine + .3 BM25/max: the bonus is computed and discarded",
        "the zerda retriever module, by its documentation",
        _ZERDA,
    ),
    "rrf": Family(
        formulas.rrf,
        "sum of 1 / (k + rank)",
        "Cormack, Clarke and Buettcher, Reciprocal Rank Fusion, SIGIR 2009",
        {"k": Parameter(_FREE, 60.0)} | _WEIGHTS,
    ),
    "isr": Family(
        formulas.isr,
        "number of legs x sum of 1 / rank^2",
        "Mourao, Martins and Magalhaes, Inverse Square Rank fusion, CBMI 2014",
        {},
    ),
    "convex": Family(
        formulas.convex,
        "alpha x normalised dense + (1 - alpha) x normalised BM25",
        "Bruch, Gai and Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023",
        _NORM | {"alpha": Parameter(_UNIT, 0.5)} | _WEIGHTS,
    ),
    "combsum": Family(formulas.combsum, "sum of normalised scores", _FOX, _NORM),
    "combmnz": Family(formulas.combmnz, "number of legs x sum of normalised scores", _FOX, _NORM),
    "combanz": Family(formulas.combanz, "mean normalised score over the legs that found it", _FOX, _NORM),
    "combmax": Family(formulas.combmax, "highest normalised score", _FOX, _NORM),
    "combmin": Family(formulas.combmin, "lowest normalised score over the legs that found it", _FOX, _NORM),
    "combmed": Family(formulas.combmed, "median normalised score over the legs that found it", _FOX, _NORM),
    "borda": Family(
        formulas.borda, "sum of points by rank; missing documents share the rest", "Aslam and Montague, SIGIR 2001", {}
    ),
    "condorcet": Family(
        formulas.condorcet,
        "documents beaten in pairwise majority votes; an even vote counts a half",
        "Montague and Aslam, Condorcet Fusion, CIKM 2002; scored after Copeland",
        {},
    ),
}


@dataclass(frozen=True)
class FusionMethod:
    """A fusion method with all its parameters; made by `parse_method`.

    Attributes
    ----------
    name : str
        Canonical text form, such as ``rrf(k=60)``; `parse_method` takes it back.
    family : str
        Key in `METHODS`.
    parameters : dict
    """

    name: str
    family: str
    parameters: Mapping[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return self.name

    def shares(self, pool: Pool) -> NDArray[np.floating[Any]]:
        """What the formula gives: ``[n_entries, n_legs]`` to add up over legs; ``[n_entries]`` where it is no sum."""
        values = {k: v.values if isinstance(v, Weights) else v for k, v in self.parameters.items()}
        return METHODS[self.family].formula(pool, **values)

    def scores(self, pool: Pool) -> NDArray[np.floating[Any]]:
        """Fused score of every entry of a pool, ``float64[n_entries]``; legs are added up in their order."""
        shares = self.shares(pool)
        if shares.ndim == 1:
            return shares
        total = shares[:, 0].copy()
        for leg in range(1, shares.shape[1]):
            total += shares[:, leg]
        return total

    def fuse(self, pool: Pool, k: int, *, n_threads: int | None = None) -> Hits:
        """The `k` best documents of each query: score descending, then ascending document index."""
        return pool.rank(self.scores, k, n_threads=n_threads)


def parse_method(text: str) -> FusionMethod:
    """The fusion method of that name, such as ``"rrf(k=60)"`` or ``"convex(norm=tmm,alpha=0.8)"``.

    Raises
    ------
    TypeError
        If `text` is not a str.
    ValueError
        If the method, a parameter or a value is unknown; the message lists what there is.
    """
    base, given = parse_name(text, "fusion method")
    family = METHODS.get(base)
    if family is None:
        raise ValueError(f"unknown fusion method {base!r}; there are: {', '.join(METHODS)}")
    for name in given:
        if name not in family.parameters:
            known = ", ".join(family.parameters) or "none"
            raise ValueError(f"fusion method {base!r} has no parameter {name!r}; it has: {known}")
    values: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    for name, parameter in family.parameters.items():
        values[name] = parameter.default
        if name in given:
            try:
                values[name] = parameter.parse(given[name])
            except ValueError as error:
                raise ValueError(f"fusion method {text!r}: {name}={given[name]} {_reason(error)}") from None
        if parameter.always or values[name] != parameter.default:
            shown[name] = values[name]
    if base == "convex" and "weights" in shown:
        if "alpha" in given:
            raise ValueError(f"fusion method {text!r}: give alpha or weights, not both")
        del shown["alpha"]
    return FusionMethod(format_name(base, shown), base, values)


def _reason(error: ValueError) -> str:
    text = str(error)
    return text if text.startswith("must") else "is no number"


_DEFAULTS = (
    "zerda",
    "zerda-documented",
    "rrf(k=60)",
    "rrf(k=10)",
    "rrf(k=60,weights=0.3:0.7)",
    "rrf(k=60,weights=0.7:0.3)",
    "isr",
    *(f"convex(norm={norm},alpha=0.5)" for norm in NORMALISATIONS),
    *(f"convex(norm={norm},alpha={alpha})" for norm in ("minmax", "tmm") for alpha in (0.2, 0.8)),
    "combsum(norm=minmax)",
    "combsum(norm=zscore)",
    "combmnz(norm=minmax)",
    "combmnz(norm=zscore)",
    "combanz(norm=minmax)",
    "combmax(norm=minmax)",
    "combmin(norm=minmax)",
    "combmed(norm=minmax)",
    "borda",
    "condorcet",
)


def default_methods() -> list[FusionMethod]:
    """What the harness measures as ``all``: every method, and every normalisation and some weights of `convex`."""
    return [parse_method(name) for name in _DEFAULTS]
