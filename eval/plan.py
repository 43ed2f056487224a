"""What an experiment will measure, checked before anything runs, and the identity of its result.

Two plans have one `run_id` exactly when everything that decides their figures agrees: the collection's content,
analyzer, parameters, embedder, variants, measures, this package's code and the libraries that do the arithmetic.
Neither times, threads nor the machine are part of it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import operator
import platform
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerda_bench.eval.variants import ALL, Variant, legs_of, parse_variants

if TYPE_CHECKING:
    from zerda_bench.analysis import Analyzer
    from zerda_bench.eval.datasets import Dataset
    from zerda_bench.eval.embedders import Embedder

__all__ = ["DEFAULT_B", "DEFAULT_DEPTH", "DEFAULT_K1", "Plan", "Request", "Sample", "code_digest"]

#: The specification's parameters of BM25.
DEFAULT_K1, DEFAULT_B = 1.5, 0.75
#: Candidates of each leg, and hits of each ranking.
DEFAULT_DEPTH = 1000

# Analyzer by the language of a collection; for all others the specification's, which knows no language.
_ANALYZER_OF = {"ar": "arabic", "en": "english"}
# Distributions whose version can change a figure.
_LIBRARIES = ("numpy", "scipy", "numba", "ir-measures", "pytrec-eval-terrier", "PyStemmer")
# Modules that only show figures: changing them does not make a result another one.
_PRESENTATION = re.compile(r"eval/(cli\w*|tables|compare|overview)\.py")


@dataclass(frozen=True, slots=True)
class Sample:
    """How many of how many judged queries were measured (`Dataset.sample_queries`), and the whole's content hash."""

    size: int
    of: int
    full_content_hash: str


@dataclass(frozen=True)
class Request:
    """Settings as asked for, checked as far as they can be without the collection. Made by `parse`."""

    analyzer: str | None
    k1: float
    b: float
    embedder: str | Embedder | None
    variants: tuple[Variant, ...]
    measures: tuple[Any, ...]
    depth: int
    sample: int | None
    default_variants: bool
    default_measures: bool

    @classmethod
    def parse(
        cls,
        *,
        analyzer: str | Analyzer | None = None,
        k1: float = DEFAULT_K1,
        b: float = DEFAULT_B,
        embedder: str | Embedder | None = None,
        variants: Sequence[str] = (ALL,),
        measures: Sequence[str] | None = None,
        depth: int = DEFAULT_DEPTH,
        sample: int | None = None,
    ) -> Request:
        """Check settings; for their meaning see `zerda_bench.eval.experiment.run_experiment`.

        Raises
        ------
        TypeError, ValueError
            Naming the argument, and what there is to choose from.
        ImportError
            If the embedder needs a package that is not installed, naming the extra.
        """
        from zerda_bench.analysis import get_analyzer
        from zerda_bench.eval.embedders import default_embedder, get_embedder
        from zerda_bench.eval.measures import DEFAULT_MEASURES, parse_measures
        from zerda_bench.sparse import check_parameters

        chosen = parse_variants(variants)
        if "dense" not in legs_of(chosen):
            embedder = None
        else:
            embedder = embedder or default_embedder()
            if isinstance(embedder, str):
                embedder = get_embedder(embedder).name
        if analyzer is not None:
            analyzer = get_analyzer(analyzer).name if isinstance(analyzer, str) else analyzer.name
        k1, b = check_parameters(k1, b)
        return cls(
            analyzer=analyzer,
            k1=k1,
            b=b,
            embedder=embedder,
            variants=chosen,
            measures=tuple(parse_measures(DEFAULT_MEASURES if measures is None else measures)),
            depth=_at_least_one(depth, "depth"),
            sample=None if sample is None else _at_least_one(sample, "sample"),
            default_variants=tuple(variants) == (ALL,),
            default_measures=measures is None,
        )

    def plan(self, dataset: Dataset, *, reference: Sequence[str] | None = None) -> Plan:
        """The plan for one collection.

        Parameters
        ----------
        dataset : Dataset
        reference : sequence of str, optional
            Arguments of ``zerda-bench run`` that name the collection, for the recorded command; default its name.

        Raises
        ------
        ValueError
            If the collection has no judged queries.
        """
        from zerda_bench.analysis import get_analyzer
        from zerda_bench.eval.embedders import get_embedder

        legs = legs_of(self.variants)
        full, sample = dataset, None
        if self.sample is not None and self.sample < len(dataset.judged_queries()):
            dataset = dataset.sample_queries(self.sample)
            sample = Sample(self.sample, len(full.judged_queries()), full.content_hash)
        if not dataset.judged_queries():
            raise ValueError(f"dataset {dataset.name}: no query has a judgment, so there is nothing to measure")
        analyzer = self.analyzer or _ANALYZER_OF.get(dataset.language or "", "zerda")
        return Plan(
            dataset=dataset,
            reference=tuple(reference if reference is not None else (dataset.name,)),
            sample=sample,
            analyzer=get_analyzer(analyzer) if "bm25" in legs else None,
            k1=self.k1,
            b=self.b,
            embedder=get_embedder(self.embedder) if isinstance(self.embedder, str) else self.embedder,
            variants=self.variants,
            measures=self.measures,
            depth=self.depth,
            default_variants=self.default_variants,
            default_measures=self.default_measures,
        )


@dataclass(frozen=True)
class Plan:
    """An experiment ready to run: settings resolved for one collection.

    Attributes
    ----------
    dataset : Dataset
        What is measured: the sample, where there is one.
    reference : tuple of str
        Arguments that name the collection on the command line.
    sample : Sample or None
    analyzer : Analyzer or None
        None where no variant needs the sparse leg.
    embedder : Embedder or None
        None where no variant needs the dense leg.
    """

    dataset: Dataset
    reference: tuple[str, ...]
    sample: Sample | None
    analyzer: Analyzer | None
    k1: float
    b: float
    embedder: Embedder | None
    variants: tuple[Variant, ...]
    measures: tuple[Any, ...]
    depth: int
    default_variants: bool
    default_measures: bool

    @property
    def legs(self) -> tuple[str, ...]:
        """Legs to search, in fusion order."""
        return legs_of(self.variants)

    @functools.cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that decides the figures, as JSON-ready values."""
        return {
            "dataset": self.dataset.content_hash,
            "analyzer": _named(self.analyzer),
            "bm25": {"k1": self.k1, "b": self.b} if "bm25" in self.legs else None,
            "embedder": _named(self.embedder),
            "variants": [variant.name for variant in self.variants],
            "measures": [str(measure) for measure in self.measures],
            "depth": self.depth,
            "code": {"version": importlib.metadata.version("zerda-bench"), "sha256": code_digest()},
            "libraries": {name: _version(name) for name in _LIBRARIES},
            "python": ".".join(platform.python_version_tuple()[:2]),
        }

    @functools.cached_property
    def run_id(self) -> str:
        """Readable prefix and ten hexadecimal digits of the SHA-256 digest of `identity`."""
        canonical = json.dumps(self.identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        names = [part.name for part in (self.analyzer, self.embedder) if part is not None]
        prefix = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(names)).strip("-.")[:80]
        return f"{prefix}-{hashlib.sha256(canonical.encode()).hexdigest()[:10]}"

    @property
    def command(self) -> str:
        """The command line that makes the result again, with the choices that a default may make otherwise."""
        words = ["zerda-bench", "run", *self.reference]
        if self.sample is not None:
            words += ["--sample", str(self.sample.size)]
        if self.analyzer is not None:
            words += ["--analyzer", self.analyzer.name]
            if (self.k1, self.b) != (DEFAULT_K1, DEFAULT_B):
                words += ["--k1", repr(self.k1), "--b", repr(self.b)]
        if self.embedder is not None:
            words += ["--embedder", self.embedder.name]
        if not self.default_variants:
            for variant in self.variants:
                words += ["--variant", variant.name]
        if not self.default_measures:
            for measure in self.measures:
                words += ["--measure", str(measure)]
        if self.depth != DEFAULT_DEPTH:
            words += ["--depth", str(self.depth)]
        return shlex.join(words)

    def deep_cutoffs(self) -> list[str]:
        """Measures whose cut-off lies deeper than the rankings go."""
        if self.depth >= len(self.dataset.doc_ids):
            return []
        return [str(measure) for measure in self.measures if (measure.params.get("cutoff") or 0) > self.depth]


@functools.cache
def code_digest() -> str:
    """SHA-256 over the package's Python sources, those that only show figures left out."""
    import zerda_bench

    root = Path(zerda_bench.__file__).parent
    # In a checkout kernels/ and eval/ are links, which rglob does not follow; the names are those of the wheel.
    sources = {
        path.relative_to(root).as_posix(): path
        for folder in (root, root / "kernels", root / "eval")
        for path in folder.rglob("*.py")
    }
    digest = hashlib.sha256()
    for name in sorted(sources):
        if not _PRESENTATION.fullmatch(name):
            digest.update(f"\0{name}\0".encode())
            digest.update(sources[name].read_bytes())
    return digest.hexdigest()


def _named(part: Analyzer | Embedder | None) -> dict[str, Any] | None:
    return None if part is None else {"name": part.name, "version": part.version}


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _at_least_one(value: int, argument: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument} must be an integer, not {type(value).__name__}") from None
    if number < 1:
        raise ValueError(f"{argument} must be 1 or greater, got {number}")
    return number
