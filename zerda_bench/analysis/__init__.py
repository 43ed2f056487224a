"""Text analysis: named, versioned pipelines (normalise, tokenise, stop, stem). An analyzer belongs to its index."""

from __future__ import annotations

from zerda_bench.analysis.analyzers import ANALYZERS, Analyzer, get_analyzer
from zerda_bench.analysis.tokenize import tokenize

__all__ = ["ANALYZERS", "Analyzer", "get_analyzer", "tokenize"]
