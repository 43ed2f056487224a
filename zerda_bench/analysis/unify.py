"""Normalisation that holds for every script."""

from __future__ import annotations

import re
import unicodedata

from zerda_bench.analysis.tokenize import IGNORABLE

__all__ = ["compose", "unify"]

_IGNORABLE = re.compile(f"[{IGNORABLE}]+")


def compose(text: str) -> str:
    """Unicode's NFKC: letters with their marks become one character, width and presentation forms plain letters."""
    return unicodedata.normalize("NFKC", text)


def unify(text: str) -> str:
    """Bring spellings together that differ in composition, case or characters that show nothing.

    What is ignorable goes first, so that a letter composes with a mark behind it; and composition follows lower-casing,
    which takes some letters apart.
    """
    return compose(compose(_IGNORABLE.sub("", text)).lower())
