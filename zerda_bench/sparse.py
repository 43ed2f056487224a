"""BM25 over an inverted index of a whole corpus: batch search at array level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerda_bench.analysis import get_analyzer
from zerda_bench.arguments import Allow, allow_masks, check_k, check_text, check_texts
from zerda_bench.arrays import FrozenArrays, frozen
from zerda_bench.batches import run_batches
from zerda_bench.hits import Hits
from zerda_bench.kernels import bm25, postings

if TYPE_CHECKING:
    from zerda_bench.analysis import Analyzer

__all__ = ["BM25Explanation", "BM25Index", "TermContribution", "check_parameters"]

# Queries a thread takes at a time: enough work to outweigh handing it out, few enough to share evenly.
_BATCH = 16


def check_parameters(k1: float, b: float) -> tuple[float, float]:
    """`k1` and `b` as floats.

    Raises
    ------
    ValueError
        If `k1` is negative or not finite, or `b` lies outside [0, 1].
    """
    k1, b = float(k1), float(b)
    if not (math.isfinite(k1) and k1 >= 0.0):
        raise ValueError(f"k1 must be a finite number of at least 0, got {k1}")
    if not 0.0 <= b <= 1.0:
        raise ValueError(f"b must lie between 0 and 1, got {b}")
    return k1, b


@dataclass(frozen=True, slots=True)
class TermContribution:
    """What one query token adds to a document's score."""

    term: str
    tf: int
    df: int
    idf: float
    length_norm: float
    contribution: float


@dataclass(frozen=True, slots=True)
class BM25Explanation:
    """Why a document has its score: the contributions add up to it exactly, in this order."""

    score: float
    doc_length: int
    avgdl: float
    terms: tuple[TermContribution, ...]

    def __str__(self) -> str:
        lengths = f"|d| = {self.doc_length}, avgdl = {self.avgdl:.2f}"
        lines = [f"{self.score:.6f} = sum over {len(self.terms)} query tokens ({lengths})"]
        for t in self.terms:
            factors = f"idf {t.idf:.4f} (df {t.df}), tf {t.tf}, length norm {t.length_norm:.4f}"
            lines.append(f"  {t.contribution:.6f} {t.term!r}: {factors}")
        return "\n".join(lines)


class BM25Index(FrozenArrays):
    """An immutable BM25 index: build once, search from any number of threads.

    The score is the specification's (Robertson and Zaragoza 2009, with Lucene's idf):
    the sum over query tokens, repeats counted, of ``idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))``,
    ``idf = ln((N - df + .5) / (df + .5) + 1)``. Search is exhaustive and exact in float64. Only documents that hold a
    query term are hits. The analyzer belongs to the index: queries go through the one that documents went through.

    Build with `from_texts` or `from_tokens`.

    Attributes
    ----------
    n_docs : int
    avgdl : float
        Mean document length in tokens; 0.0 for an index without documents.
    vocabulary : dict of str to int
        Term ids in order of first occurrence.
    doc_lengths : int64[n_docs]
    document_frequencies : int64[n_terms]
    idf : float64[n_terms]
    k1, b : float
    """

    def __init__(
        self,
        *,
        analyzer: Analyzer,
        vocabulary: dict[str, int],
        doc_lengths: NDArray[np.int64],
        term_offsets: NDArray[np.int64],
        docs: NDArray[np.int32],
        tfs: NDArray[np.int32],
        k1: float,
        b: float,
    ) -> None:
        self.k1, self.b = check_parameters(k1, b)
        self.analyzer = analyzer
        self.vocabulary = vocabulary
        self.doc_lengths = frozen(doc_lengths)
        self.n_docs = len(doc_lengths)
        # The specification's mean: total tokens over all documents, those without tokens included.
        self.avgdl = int(doc_lengths.sum()) / self.n_docs if self.n_docs else 0.0
        self._term_offsets = frozen(term_offsets)
        self._docs = frozen(docs)
        self._tfs = frozen(tfs)
        self.document_frequencies = frozen(np.diff(term_offsets))
        self.idf = frozen(_lucene_idf(self.n_docs, self.document_frequencies))
        impacts = np.empty(len(docs), np.float64)
        if len(docs):  # without postings avgdl may be 0
            bm25.impacts(
                self._docs,
                self._tfs,
                self._term_offsets,
                self.idf,
                self.doc_lengths,
                self.avgdl,
                self.k1,
                self.b,
                impacts,
            )
        self._impacts = frozen(impacts)

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, analyzer: str | Analyzer = "zerda", k1: float = 1.5, b: float = 0.75
    ) -> BM25Index:
        """Analyse and index texts; document i is the i-th text.

        Parameters
        ----------
        texts : iterable of str
            Read once; texts are not kept. A lone str is refused.
        analyzer : str or Analyzer
            A name that `get_analyzer` knows, such as ``"zerda"``, ``"english"`` or ``"arabic"``.
        k1, b : float
            The specification's defaults.

        Raises
        ------
        TypeError
            If a text is not a str; the message gives its position.
        ValueError
            If `k1` or `b` is out of range or the analyzer is unknown.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be an iterable of str, not one str; wrap it in a list")
        analyze = get_analyzer(analyzer) if isinstance(analyzer, str) else analyzer
        checked = (check_text(text, f"texts[{i}]") for i, text in enumerate(texts))
        return cls.from_tokens((analyze(text) for text in checked), analyzer=analyze, k1=k1, b=b)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        analyzer: str | Analyzer = "zerda",
        k1: float = 1.5,
        b: float = 0.75,
    ) -> BM25Index:
        """Index documents that are token lists already; `analyzer` is then used for queries only."""
        check_parameters(k1, b)
        vocabulary: dict[str, int] = {}
        doc_tokens = [
            np.fromiter((vocabulary.setdefault(t, len(vocabulary)) for t in tokens), np.int32) for tokens in documents
        ]
        doc_lengths = np.fromiter(map(len, doc_tokens), np.int64, len(doc_tokens))
        doc_offsets = frozen(np.concatenate([[0], np.cumsum(doc_lengths)]).astype(np.int64))
        tokens = frozen(np.concatenate(doc_tokens) if doc_tokens else np.empty(0, np.int32))
        frequencies = np.zeros(len(vocabulary), np.int64)
        postings.document_frequencies(tokens, doc_offsets, frequencies)
        term_offsets = frozen(np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64))
        docs, tfs = np.empty(term_offsets[-1], np.int32), np.empty(term_offsets[-1], np.int32)
        postings.fill(tokens, doc_offsets, term_offsets, docs, tfs)
        return cls(
            analyzer=get_analyzer(analyzer) if isinstance(analyzer, str) else analyzer,
            vocabulary=vocabulary,
            doc_lengths=doc_lengths,
            term_offsets=term_offsets,
            docs=docs,
            tfs=tfs,
            k1=k1,
            b=b,
        )

    def with_parameters(self, k1: float, b: float) -> BM25Index:
        """The same postings scored with another `k1` and `b`; nothing is tokenised again."""
        return BM25Index(
            analyzer=self.analyzer,
            vocabulary=self.vocabulary,
            doc_lengths=self.doc_lengths,
            term_offsets=self._term_offsets,
            docs=self._docs,
            tfs=self._tfs,
            k1=k1,
            b=b,
        )

    @property
    def n_postings(self) -> int:
        """Number of (term, document) pairs."""
        return len(self._docs)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of the index; the vocabulary is not counted."""
        arrays = (
            self._docs,
            self._tfs,
            self._impacts,
            self._term_offsets,
            self.idf,
            self.doc_lengths,
            self.document_frequencies,
        )
        return sum(array.nbytes for array in arrays)

    def search(
        self, queries: str | Sequence[str], k: int, *, allow: Allow = None, n_threads: int | None = None
    ) -> Hits:
        """The `k` best documents of each query: score descending, then ascending document index.

        Parameters
        ----------
        queries : str or sequence of str
            A lone str is a batch of one.
        k : int
            0 or greater; with `k` above the number of matches, fewer hits are returned.
        allow
            Documents that may be returned, see `zerda_bench.arguments.allow_masks`. Statistics (N, df, avgdl) stay
            those of the whole index.
        n_threads : int, optional
            Threads for the batch; default one a usable core. The answer does not depend on it.

        Returns
        -------
        Hits
            Rows of width ``min(k, n_docs)``.

        Raises
        ------
        TypeError, ValueError
            For a query that is no str, a negative `k` or a bad `allow`.
        """
        width = min(check_k(k), self.n_docs)
        terms, offsets = self._encode(check_texts(queries, "queries"))
        n_queries = len(offsets) - 1
        masks, mask_rows = allow_masks(allow, n_queries, self.n_docs)
        hits = Hits.empty(n_queries, width)
        if width == 0:
            return hits

        def run(start: int, stop: int) -> None:
            bm25.search(
                self._docs,
                self._impacts,
                self._term_offsets,
                self.n_docs,
                terms,
                offsets[start : stop + 1],
                masks,
                mask_rows[start:stop],
                hits.ids[start:stop],
                hits.scores[start:stop],
                hits.counts[start:stop],
            )

        run_batches(run, n_queries, _BATCH, n_threads)
        return hits

    def explain(self, query: str, doc: int) -> BM25Explanation:
        """How the score of one document comes about.

        Raises
        ------
        IndexError
            If `doc` is not a document of the index.
        """
        if not 0 <= doc < self.n_docs:
            raise IndexError(f"doc {doc} is not in the index, which holds documents 0 to {self.n_docs - 1}")
        terms = []
        score = 0.0
        length = int(self.doc_lengths[doc])
        norm = 1.0 - self.b + self.b * length / self.avgdl if self.avgdl else 1.0
        for term in self.analyzer(check_text(query, "query")):
            term_id = self.vocabulary.get(term)
            if term_id is None:
                continue
            start, stop = self._term_offsets[term_id], self._term_offsets[term_id + 1]
            p = start + np.searchsorted(self._docs[start:stop], doc)
            found = p < stop and self._docs[p] == doc
            contribution = float(self._impacts[p]) if found else 0.0
            score += contribution
            terms.append(
                TermContribution(
                    term=term,
                    tf=int(self._tfs[p]) if found else 0,
                    df=int(stop - start),
                    idf=float(self.idf[term_id]),
                    length_norm=norm,
                    contribution=contribution,
                )
            )
        return BM25Explanation(score=score, doc_length=length, avgdl=self.avgdl, terms=tuple(terms))

    def _encode(self, queries: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Term ids of all queries, one after the other, and where each begins; unknown terms are left out."""
        offsets = np.zeros(len(queries) + 1, np.int64)
        terms: list[int] = []
        for i, query in enumerate(queries):
            ids = map(self.vocabulary.get, self.analyzer(query))
            terms += [term for term in ids if term is not None]
            offsets[i + 1] = len(terms)
        return frozen(np.array(terms, np.int32)), frozen(offsets)


def _lucene_idf(n_docs: int, document_frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """``ln((N - df + .5) / (df + .5) + 1)`` by `math.log`: NumPy's vectorised log may differ in the last bit."""
    logs = (math.log((n_docs - df + 0.5) / (df + 0.5) + 1.0) for df in document_frequencies.tolist())
    return np.fromiter(logs, np.float64, len(document_frequencies))
