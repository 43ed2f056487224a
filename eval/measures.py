"""Measures, spelt and computed by ir_measures; the rules around them are written down in `POLICIES`."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.eval.measure_names import DEFAULT_MEASURES, parse_measures
from zerda_bench.hits import Hits

__all__ = ["DEFAULT_MEASURES", "POLICIES", "Evaluation", "Judge", "evaluate", "parse_measures"]

_logger = logging.getLogger("zerda_bench.eval.measures")

#: The rules a value depends on beside the formula. Part of every result.
POLICIES: Mapping[str, str] = {
    "denominator": "all queries with at least one judgment; a query without hits counts 0",
    "unjudged_documents": "not relevant",
    "queries_without_judgments": "not evaluated, counted",
    "queries_without_relevant_documents": "count 0, as in trec_eval",
    "negative_grades": "not relevant, gain 0",
    "relevance_level": "grade >= 1, unless the measure says rel=",
    "gain": "the grade, discounted by log2(rank + 1); ideal ranking over all judged documents",
    "score_precision": "trec_eval's measures see scores in float32",
    "ties": "trec_eval's measures: descending document id; RR@k (MS MARCO's): ascending document id",
    "self_match": "kept: a document with the query's id is a document like any other",
    "mean": "arithmetic, of float64 values",
}

# Judged documents and their ranks decide these: what stands below the last judged document cannot change them.
_SETTLED_BY_JUDGED = frozenset({"nDCG", "R", "P", "AP", "RR", "Rprec", "Success", "SetR"})

# trec_eval counts documents by grade in an array: a document id read as a grade would take minutes, or all memory.
_GREATEST_GRADE = 10_000

# Queries evaluated at a time: at a depth of 1000 their run takes some 100 MB as Python dicts.
_QUERIES_A_CHUNK = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Values of one run.

    Attributes
    ----------
    query_ids : tuple of str
        The judged queries, in the order of the qrels.
    per_query : dict of str to float64[n_judged]
        Values by canonical measure name, aligned with `query_ids`; never NaN.
    mean : dict of str to float
        Arithmetic means over all judged queries (sums for the counting measures NumQ, NumRel, NumRet).
    queries_without_hits, queries_without_relevant, queries_not_judged : tuple of str
        Judged queries with an empty ranking, judged queries with no grade above 0, and queries of the run without any
        judgment, which are left out.
    tied_queries : int
        Judged queries in which a relevant document shares its score (as float32) with another document: their values
        depend on the tie order.
    policies : mapping of str to str
        `POLICIES`.
    """

    query_ids: tuple[str, ...]
    per_query: dict[str, NDArray[np.float64]]
    mean: dict[str, float]
    queries_without_hits: tuple[str, ...]
    queries_without_relevant: tuple[str, ...]
    queries_not_judged: tuple[str, ...]
    tied_queries: int
    policies: Mapping[str, str]


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    query_ids: Sequence[str],
    doc_ids: Sequence[str],
    hits: Hits,
    measures: Sequence[Any],
) -> Evaluation:
    """Evaluate one run; see `Judge`, which is made once for several."""
    return Judge(qrels, query_ids, doc_ids, measures).evaluate(hits)


class Judge:
    """Evaluates runs over the same queries and documents.

    Parameters
    ----------
    qrels : mapping of query id to mapping of document id to grade
        A query with an empty mapping counts as not judged. Documents and queries that are not in the collection stay
        in the denominators. To evaluate a sample of queries, pass the qrels of the sample.
    query_ids : sequence of str
        Id of each row of the hits.
    doc_ids : sequence of str
        Id of each document index.
    measures : sequence
        From `parse_measures`, or expressions.

    Raises
    ------
    TypeError
        If an id is not a str.
    ValueError
        If ids are not unique, a grade is not a whole number of at most 10,000, no query is judged, or a measure is
        unknown.
    """

    def __init__(
        self,
        qrels: Mapping[str, Mapping[str, int]],
        query_ids: Sequence[str],
        doc_ids: Sequence[str],
        measures: Sequence[Any],
    ) -> None:
        import ir_measures

        self.measures = parse_measures(measures)
        self._qrels = {q: _grades(q, judged) for q, judged in qrels.items() if judged}
        if not self._qrels:
            raise ValueError("qrels holds no judgments; there is nothing to evaluate")
        self.query_ids = tuple(self._qrels)
        self._doc_ids = list(doc_ids)
        position_of = _positions(self._doc_ids, "doc_ids")
        row_of = _positions(query_ids, "query_ids")
        self._n_rows = len(row_of)
        self._queries = [_JudgedQuery.of(q, row_of.get(q), self._qrels[q], position_of) for q in self._qrels]
        self._not_judged = tuple(q for q in query_ids if q not in self._qrels)
        self._without_relevant = tuple(q for q, grades in self._qrels.items() if max(grades.values()) < 1)
        if self._without_relevant:
            _logger.warning(
                "%d of %d judged queries have no relevant document and count 0, for example %s",
                len(self._without_relevant),
                len(self._qrels),
                self._without_relevant[0],
            )
        self._shorten = all(type(measure).NAME in _SETTLED_BY_JUDGED for measure in self.measures)
        self._evaluators = [
            ir_measures.evaluator(self.measures, {query.name: _safe(self._qrels[query.name]) for query in chunk})
            for chunk in _chunks(self._queries)
        ]

    def evaluate(self, hits: Hits) -> Evaluation:
        """Values of `hits`, one row a query of `query_ids`.

        Raises
        ------
        ValueError
            If `hits` has another number of rows, names documents that do not exist, holds NaN, or is not in
            descending order of score.
        """
        self._check_hits(hits)
        values = {str(m): np.full(len(self._queries), float(m.DEFAULT)) for m in self.measures}
        ranks = np.full(len(self._doc_ids), -1, np.int64)  # of the query in hand
        tied = 0
        without_hits: list[str] = []
        first = 0
        for chunk, evaluator in zip(_chunks(self._queries), self._evaluators, strict=True):
            run: dict[str, dict[str, float]] = {}
            for query in chunk:
                ids, scores = _NOTHING if query.row is None else hits.row(query.row)
                if not len(ids):
                    without_hits.append(query.name)
                    continue
                rounded = scores.astype(np.float32)
                ranks[ids] = np.arange(len(ids))
                found = ranks[query.documents]
                ranks[ids] = -1
                tied += _has_tie(rounded, found[query.relevant & (found >= 0)])
                stop = len(ids)
                if self._shorten:
                    # Up to the last judged document and all that share its score, whatever the tie order.
                    last = found.max(initial=-1)
                    stop = 0 if last < 0 else int(np.searchsorted(-rounded, -rounded[last], side="right"))
                if stop:
                    documents = [self._doc_ids[i] for i in ids[:stop].tolist()]
                    run[query.name] = dict(zip(documents, scores[:stop].tolist(), strict=True))
            self._collect(evaluator, run, {query.name: first + i for i, query in enumerate(chunk)}, values)
            first += len(chunk)
        return Evaluation(
            query_ids=self.query_ids,
            per_query=values,
            mean={str(m): _aggregate(m, values[str(m)]) for m in self.measures},
            queries_without_hits=tuple(without_hits),
            queries_without_relevant=self._without_relevant,
            queries_not_judged=self._not_judged,
            tied_queries=tied,
            policies=POLICIES,
        )

    def _check_hits(self, hits: Hits) -> None:
        if hits.n_queries != self._n_rows:
            raise ValueError(f"hits has {hits.n_queries} rows for {self._n_rows} query_ids")
        if hits.ids.max(initial=-1) >= len(self._doc_ids):
            raise ValueError(f"hits names document {hits.ids.max()}, but there are {len(self._doc_ids)} doc_ids")
        real = np.arange(hits.width) < hits.counts[:, None]
        if np.isnan(hits.scores[real]).any():
            raise ValueError("hits has NaN scores")
        if (real[:, 1:] & (hits.scores[:, 1:] > hits.scores[:, :-1])).any():
            raise ValueError("hits must be in descending order of score")

    @staticmethod
    def _collect(
        evaluator: Any, run: dict[str, dict[str, float]], slots: dict[str, int], values: dict[str, NDArray[np.float64]]
    ) -> None:
        """Put what the evaluator says of `run` in its slots; queries it is silent on keep the measure's default."""
        if not run:
            return
        columns: dict[int, NDArray[np.float64]] = {}  # by identity: the hash of a measure formats its name
        for metric in evaluator.iter_calc(run):
            column = columns.get(id(metric.measure))
            if column is None:
                column = columns[id(metric.measure)] = values[str(metric.measure)]
            if math.isfinite(metric.value):
                column[slots[metric.query_id]] = metric.value
            else:
                _logger.warning("%s of query %s is %s: counted 0", metric.measure, metric.query_id, metric.value)


@dataclass(frozen=True, slots=True, eq=False)
class _JudgedQuery:
    """One query's row in the hits (None: not in the collection) and its judged documents in the collection.

    Attributes
    ----------
    documents : int64[n_judged_documents]
    relevant : bool[n_judged_documents]
        Grade of at least 1.
    """

    name: str
    row: int | None
    documents: NDArray[np.int64]
    relevant: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, row: int | None, grades: Mapping[str, int], position_of: Mapping[str, int]) -> _JudgedQuery:
        known = [(position_of[document], grade) for document, grade in grades.items() if document in position_of]
        documents = np.array([position for position, _ in known], np.int64)
        return cls(name, row, documents, np.array([grade >= 1 for _, grade in known], np.bool_))


_NOTHING = (np.empty(0, np.int64), np.empty(0, np.float64))


def _chunks(queries: Sequence[_JudgedQuery]) -> list[Sequence[_JudgedQuery]]:
    return [queries[first : first + _QUERIES_A_CHUNK] for first in range(0, len(queries), _QUERIES_A_CHUNK)]


def _has_tie(scores: NDArray[np.float32], ranks: NDArray[np.int64]) -> bool:
    """Whether a document at one of `ranks` has the score of a neighbour; `scores` are in descending order."""
    if not len(ranks):
        return False
    above = scores[np.maximum(ranks - 1, 0)]
    below = scores[np.minimum(ranks + 1, len(scores) - 1)]
    return bool(
        (((ranks > 0) & (above == scores[ranks])) | ((ranks + 1 < len(scores)) & (below == scores[ranks]))).any()
    )


def _aggregate(measure: Any, values: NDArray[np.float64]) -> float:
    """Mean over all judged queries, exactly rounded; the sum for ir_measures' counting measures."""
    from ir_measures import SumAgg

    total = math.fsum(values.tolist())
    return total if isinstance(measure.aggregator(), SumAgg) else total / len(values)


def _positions(ids: Sequence[str], argument: str) -> dict[str, int]:
    """Position of each id, having checked that ids are str and unique."""
    positions: dict[str, int] = {}
    for i, name in enumerate(ids):
        if not isinstance(name, str):
            raise TypeError(f"{argument}[{i}] must be str, got {type(name).__name__} ({name!r})")
        if positions.setdefault(name, i) != i:
            raise ValueError(f"{argument} holds {name!r} twice")
    return positions


def _safe(grades: dict[str, int]) -> dict[str, int]:
    """Grade 0 for all where all are negative: of those trec_eval makes an array of no size, and reads beyond it.

    Other negative grades stay: trec_eval takes them for not judged, which Bpref and infAP tell from not relevant.
    """
    return grades if max(grades.values()) >= 0 else dict.fromkeys(grades, 0)


def _grades(query: str, judged: Mapping[str, int]) -> dict[str, int]:
    """Grades as int, having checked the ids' types and that no grade would be changed by that."""
    if not isinstance(query, str):
        raise TypeError(f"qrels: query id {query!r} must be str, got {type(query).__name__}")
    grades: dict[str, int] = {}
    for document, grade in judged.items():
        if not isinstance(document, str):
            raise TypeError(f"qrels of query {query}: document id {document!r} must be str")
        try:
            whole = int(grade)
        except (TypeError, ValueError, OverflowError):
            whole = None
        if whole is None or whole != grade:
            raise ValueError(f"qrels of query {query}, document {document}: grade {grade!r} is not a whole number")
        if whole > _GREATEST_GRADE:
            raise ValueError(f"qrels of query {query}, document {document}: grade {whole} is above {_GREATEST_GRADE}")
        grades[document] = whole
    return grades
