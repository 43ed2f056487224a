"""What is measured side by side: each leg alone (the baselines) and fusions of both."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerda_bench.fusion import FusionMethod

__all__ = ["ALL", "DEFAULT_FUSION", "LEGS", "Variant", "legs_of", "parse_variants"]

#: The single legs, in the order in which fusion methods see them.
LEGS = ("bm25", "dense")
#: Stands for the legs and every default fusion method.
ALL = "all"
#: The fusion that the retriever classes use by default.
DEFAULT_FUSION = "zerda"


@dataclass(frozen=True)
class Variant:
    """One row of the table.

    Attributes
    ----------
    name : str
        Canonical: a leg of `LEGS`, or the name of a fusion method with its parameters, without spaces.
    method : FusionMethod or None
        None for a single leg.
    slug : str
        The name as part of a file name; differs between the variants of one call of `parse_variants`, whatever the
        case of letters counts for in the file system.
    """

    name: str
    method: FusionMethod | None
    slug: str

    @property
    def is_leg(self) -> bool:
        """Whether this is a single leg: a baseline."""
        return self.method is None


def parse_variants(names: Iterable[str]) -> tuple[Variant, ...]:
    """Variants by name, each once: the single legs first, the rest in the order given.

    Both legs are always measured beside a fusion: they are searched anyway, and a fusion without its baselines says
    nothing.

    Parameters
    ----------
    names : iterable of str
        ``"all"``, legs (``"bm25"``, ``"dense"``) and fusion methods (``"rrf(k=60)"``), in any mixture.

    Raises
    ------
    TypeError
        If `names` is a single str.
    ValueError
        If there are no names, or one is unknown (listing what there is).
    """
    from zerda_bench.fusion import default_methods, parse_method

    if isinstance(names, str):
        raise TypeError("variants must be a sequence of str, got a single str")
    legs: set[str] = set()
    methods: dict[str, FusionMethod] = {}
    for name in names:
        if name in LEGS:
            legs.add(name)
            continue
        for method in default_methods() if name == ALL else [parse_method(name)]:
            weights = method.parameters.get("weights")
            if weights is not None and len(weights.values) != len(LEGS):
                raise ValueError(f"variant {name!r} has {len(weights.values)} weights for the legs {', '.join(LEGS)}")
            methods.setdefault(method.name, method)
    if methods:
        legs.update(LEGS)
    if not legs:
        raise ValueError(f"variants is empty; for example: {ALL}, {LEGS[0]} or rrf(k=60)")
    ordered: dict[str, FusionMethod | None] = {leg: None for leg in LEGS if leg in legs}
    ordered.update(methods)
    return tuple(
        Variant(name, method, slug) for (name, method), slug in zip(ordered.items(), _slugs(list(ordered)), strict=True)
    )


def legs_of(variants: Sequence[Variant]) -> tuple[str, ...]:
    """Legs that must be searched to measure `variants`."""
    if any(not variant.is_leg for variant in variants):
        return LEGS
    return tuple(variant.name for variant in variants)


def _slugs(names: Sequence[str]) -> list[str]:
    """File names for `names`; those that would share one get a digest of the name."""
    plain = [re.sub(r"[^A-Za-z0-9.+]+", "-", name).strip("-.") for name in names]
    folded = [slug.casefold() for slug in plain]
    return [
        slug if folded.count(slug.casefold()) == 1 else f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
        for name, slug in zip(names, plain, strict=True)
    ]
