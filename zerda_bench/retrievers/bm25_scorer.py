"""BM25 over a list of texts, with the published interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zerda_bench.analysis import tokenize
from zerda_bench.retrievers.texts import check_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zerda_bench.sparse import BM25Index

__all__ = ["BM25Scorer", "ranked"]


class BM25Scorer:
    """Score texts against a query with BM25.

    Documents are numbered in the order given. Scores are those of `zerda_bench.BM25Index` under the analyzer
    ``zerda``; unlike that index, a scorer by default fills an answer up with documents of score 0.0 in index order,
    and `top_k` cuts it as a Python slice does (a negative number drops documents from the end).

    Parameters
    ----------
    k1, b : float
        Saturation of term frequency (0 or greater) and strength of length normalisation (0 to 1). They may be set
        later; nothing is tokenised again.
    pad_with_zero_scores : bool
        False returns matching documents only.

    Raises
    ------
    ValueError
        If `k1` or `b` is out of range.
    """

    _tokenize = staticmethod(tokenize)

    def __init__(self, k1: float = 1.5, b: float = 0.75, *, pad_with_zero_scores: bool = True) -> None:
        if not 0.0 <= k1 < float("inf"):
            raise ValueError(f"k1 must be a finite number of at least 0, got {k1}")
        if not 0.0 <= b <= 1.0:
            raise ValueError(f"b must lie between 0 and 1, got {b}")
        self.k1 = k1
        self.b = b
        self.pad_with_zero_scores = pad_with_zero_scores
        self._index: BM25Index | None = None

    @property
    def _avg_dl(self) -> float:
        return self._index.avgdl if self._index is not None else 0.0

    @property
    def _idf(self) -> dict[str, float]:
        if self._index is None:
            return {}
        return dict(zip(self._index.vocabulary, self._index.idf.tolist(), strict=True))

    def index(self, documents: Iterable[str]) -> None:
        """Index `documents`, replacing what was indexed before; on an error the old index stays.

        Raises
        ------
        TypeError
            If `documents` is a lone str or a document is not a str; the message gives its position.
        """
        from zerda_bench.sparse import BM25Index

        if isinstance(documents, str):
            raise TypeError("documents must be an iterable of str, not one str; wrap it in a list")
        texts = (check_text(text, f"documents[{i}]") for i, text in enumerate(documents))
        self._index = BM25Index.from_texts(texts, k1=self.k1, b=self.b)

    def score(self, query: str, top_k: int | None = 20) -> list[tuple[int, float]]:
        """Pairs of document number and score: score descending, then ascending number.

        Parameters
        ----------
        query : str
            Terms that stand in it twice count twice.
        top_k : int, optional
            Cuts as a slice does: None for all documents, negative to drop from the end.

        Raises
        ------
        TypeError
            If `query` is not a str or `top_k` not an integer.
        """
        text = check_text(query, "query")
        index = self._index
        if index is None:
            return []
        if (index.k1, index.b) != (self.k1, self.b):
            index = self._index = index.with_parameters(self.k1, self.b)
        return ranked(index, text, top_k, pad_with_zero_scores=self.pad_with_zero_scores)


def ranked(
    index: BM25Index,
    query: str,
    top_k: int | None,
    *,
    allowed: NDArray[np.bool_] | None = None,
    pad_with_zero_scores: bool = True,
) -> list[tuple[int, float]]:
    """Documents of `index` by score, cut and filled up as `BM25Scorer.score` documents it.

    Parameters
    ----------
    allowed : bool[n_docs], optional
        Documents that may be returned, as hits or to fill up.
    """
    available = index.n_docs if allowed is None else int(allowed.sum())
    # The slice itself says how many it takes, and refuses what is no integer.
    wanted = len(range(available)[:top_k])
    if not pad_with_zero_scores:
        everything = top_k is None or top_k < 0
        ids, scores = index.search(query, available if everything else wanted, allow=allowed).row(0)
        return list(zip(ids.tolist(), scores.tolist(), strict=True))[:top_k]
    ids, scores = index.search(query, wanted, allow=allowed).row(0)
    pairs = list(zip(ids.tolist(), scores.tolist(), strict=True))
    if len(pairs) < wanted:
        found = set(ids.tolist())
        rest = iter(range(index.n_docs) if allowed is None else allowed.nonzero()[0].tolist())
        while len(pairs) < wanted:
            document = next(rest)
            if document not in found:
                pairs.append((document, 0.0))
    return pairs
