"""Numba kernels: arrays in, arrays out. Importing this package compiles nothing.

One algorithm a module; a slow, obvious twin of each stands in tests/naive/. Kernels know nothing of texts, chunks or
indexes, and check nothing: the modules of `zerda_bench` that call them do.
"""

from __future__ import annotations

from pathlib import Path

from zerda_bench.kernels.jit import kernel_cache

with kernel_cache(Path(__file__).parent) as CACHE_DIRECTORY:
    from zerda_bench.kernels import bm25, cosine, fusion, postings, topk

__all__ = ["CACHE_DIRECTORY", "bm25", "cosine", "fusion", "postings", "topk"]
