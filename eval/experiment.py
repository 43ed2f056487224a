"""One experiment: index, embed, search each leg once, then fuse and evaluate one variant at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zerda_bench.eval.plan import DEFAULT_B, DEFAULT_DEPTH, DEFAULT_K1, Plan, Request
from zerda_bench.eval.stages import Progress, Stage, Stages
from zerda_bench.eval.variants import ALL, Variant
from zerda_bench.eval.warmup import Warmup, warm_up
from zerda_bench.hits import Hits

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from zerda_bench.analysis import Analyzer
    from zerda_bench.eval.datasets import Dataset
    from zerda_bench.eval.embedders import Embedder
    from zerda_bench.eval.legs import Leg

__all__ = ["Experiment", "OnRanking", "VariantOutcome", "execute", "run_experiment"]

_logger = logging.getLogger("zerda_bench.eval.experiment")

#: Told each ranking as it is made: variant, ids of the rows (judged queries), hits. Rankings are not kept.
OnRanking = Callable[[Variant, Sequence[str], Hits], None]


@dataclass(frozen=True, slots=True)
class VariantOutcome:
    """Figures of one variant.

    Attributes
    ----------
    mean : dict of str to float
        By canonical measure name.
    per_query : dict of str to float64[n_judged]
        Aligned with `Experiment.query_ids`.
    tied_queries : int
        Judged queries whose value depends on how trec_eval orders equal scores.
    queries_without_hits : int
    fuse_seconds, evaluate_seconds : float
        Wall time for all queries.
    """

    mean: dict[str, float]
    per_query: dict[str, NDArray[np.float64]]
    tied_queries: int
    queries_without_hits: int
    fuse_seconds: float
    evaluate_seconds: float


@dataclass(frozen=True, eq=False)
class Experiment:
    """Outcome of `run_experiment`.

    Attributes
    ----------
    plan : Plan
        Settings, collection and the identity of the result.
    query_ids : tuple of str
        Judged queries, in the order of the qrels.
    outcomes : dict of str to VariantOutcome
        By canonical variant name, in the order of the plan.
    legs : dict of str to Leg
    stages : tuple of Stage
    warmup : Warmup
        What compiling took.
    threads : int
    policies : mapping of str to str
        Rules of the measures.
    warnings : tuple of str
    """

    plan: Plan
    query_ids: tuple[str, ...]
    outcomes: dict[str, VariantOutcome]
    legs: dict[str, Leg]
    stages: tuple[Stage, ...]
    warmup: Warmup
    threads: int
    policies: Mapping[str, str]
    warnings: tuple[str, ...]


def run_experiment(
    dataset: str | Dataset,
    *,
    split: str | None = None,
    analyzer: str | Analyzer | None = None,
    k1: float = DEFAULT_K1,
    b: float = DEFAULT_B,
    embedder: str | Embedder | None = None,
    variants: Sequence[str] = (ALL,),
    measures: Sequence[str] | None = None,
    depth: int = DEFAULT_DEPTH,
    sample: int | None = None,
    threads: int | None = None,
    cache_dir: str | Path | None = None,
    progress: Progress | None = None,
    on_ranking: OnRanking | None = None,
) -> Experiment:
    """Measure variants on a collection. Nothing is written but the cache of embeddings.

    Parameters
    ----------
    dataset : str or Dataset
        What `load_dataset` understands, or a collection already loaded.
    split : str, optional
        Of a BEIR folder.
    analyzer : str, optional
        Default by the collection's language: ``arabic``, ``english``, otherwise ``zerda``.
    k1, b : float
        Parameters of BM25; the specification's defaults.
    embedder : str or Embedder, optional
        Default: `default_embedder()`.
    variants : sequence of str
        Canonical names, legs, or ``all``; see `parse_variants`.
    measures : sequence of str, optional
        Default: `DEFAULT_MEASURES`. The first one orders tables.
    depth : int
        Candidates of each leg and hits of each ranking; apart from the measures' cut-offs.
    sample : int, optional
        Measure on a fixed sample of that many judged queries.
    threads : int, optional
        Default one a usable core. No figure depends on it.
    cache_dir : path, optional
        Where embeddings are kept.
    progress : Progress, optional
    on_ranking : callable, optional
        Told each variant's hits, which are not kept.

    Raises
    ------
    DatasetError
        If the collection cannot be loaded.
    TypeError, ValueError
        For bad arguments, by name, before anything runs.
    ImportError
        If the embedder needs a package that is not installed.
    """
    request = Request.parse(
        analyzer=analyzer,
        k1=k1,
        b=b,
        embedder=embedder,
        variants=variants,
        measures=measures,
        depth=depth,
        sample=sample,
    )
    stages = Stages(progress)
    if isinstance(dataset, str):
        from zerda_bench.eval.datasets import load_dataset

        with stages("load"):
            dataset = load_dataset(dataset, split=split)
    return execute(request.plan(dataset), stages, threads=threads, cache_dir=cache_dir, on_ranking=on_ranking)


def execute(
    plan: Plan,
    stages: Stages,
    *,
    threads: int | None = None,
    cache_dir: str | Path | None = None,
    on_ranking: OnRanking | None = None,
) -> Experiment:
    """Run a plan; see `run_experiment`. `stages` may hold the loading already."""
    from zerda_bench.eval.environment import usable_cores
    from zerda_bench.eval.legs import dense_leg, sparse_leg
    from zerda_bench.eval.measures import POLICIES, Judge
    from zerda_bench.fusion import Pool

    if threads is None:
        threads = usable_cores()
    elif threads < 1:
        raise ValueError(f"threads must be 1 or greater, got {threads}")
    warnings = []
    if deep := plan.deep_cutoffs():
        warnings.append(
            f"{', '.join(deep)}: the cut-off lies deeper than the rankings, which end at depth {plan.depth}"
        )
    with stages("compile") as report:
        warmup = warm_up(report)

    data = plan.dataset
    rows = data.judged_queries()
    query_ids = [data.query_ids[row] for row in rows]
    queries = [data.queries[row] for row in rows]
    found: dict[str, tuple[Hits, Leg]] = {}
    if "bm25" in plan.legs:
        found["bm25"] = sparse_leg(plan, queries, threads, stages)
    if "dense" in plan.legs:
        found["dense"] = dense_leg(plan, queries, threads, cache_dir, stages)
    for name, (_, leg) in found.items():
        if leg.queries_without_hits:
            warnings.append(f"{name} found nothing for {leg.queries_without_hits} of {len(queries)} queries")
    for warning in warnings:
        _logger.warning("%s: %s", data.name, warning)

    with stages("evaluate"):
        judge = Judge(data.qrels, query_ids, data.doc_ids, plan.measures)
    hits = {name: ranking for name, (ranking, _) in found.items()}
    pool: Pool | None = None
    outcomes: dict[str, VariantOutcome] = {}
    for done, variant in enumerate(plan.variants, 1):
        fuse_seconds = 0.0
        if variant.method is None:
            ranking = hits[variant.name]
        else:
            with stages("fuse") as report:
                if pool is None:
                    pool = Pool.from_legs(hits, plan.depth, n_threads=threads)
                ranking = variant.method.fuse(pool, plan.depth, n_threads=threads)
                report(done, len(plan.variants))
            fuse_seconds = stages.last_seconds
        with stages("evaluate") as report:
            evaluation = judge.evaluate(ranking)
            report(done, len(plan.variants))
        outcomes[variant.name] = VariantOutcome(
            mean=evaluation.mean,
            per_query=evaluation.per_query,
            tied_queries=evaluation.tied_queries,
            queries_without_hits=len(evaluation.queries_without_hits),
            fuse_seconds=fuse_seconds,
            evaluate_seconds=stages.last_seconds,
        )
        if on_ranking is not None:
            with stages("write runs") as report:
                on_ranking(variant, query_ids, ranking)
                report(done, len(plan.variants))
    return Experiment(
        plan=plan,
        query_ids=judge.query_ids,
        outcomes=outcomes,
        legs={name: leg for name, (_, leg) in found.items()},
        stages=tuple(stages),
        warmup=warmup,
        threads=threads,
        policies=POLICIES,
        warnings=tuple(warnings),
    )
