"""Import time of the package and of its kernels, each in a fresh interpreter. Nothing is compiled by importing."""

from __future__ import annotations


class Import:
    """Whole statements in a new process."""

    def timeraw_package(self) -> str:
        return "import zerda_bench"

    def timeraw_retrievers(self) -> str:
        return "from zerda_bench import HybridRetriever, KeywordRetriever, MetadataRetriever, VectorRetriever"

    def timeraw_kernels(self) -> str:
        return "import zerda_bench.kernels"
