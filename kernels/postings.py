"""Building term-major postings from token ids: a counting sort by term that keeps documents in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from zerda_bench.kernels.jit import kernel

__all__ = ["document_frequencies", "fill"]


@kernel
def document_frequencies(tokens: Any, doc_offsets: Any, out: Any) -> None:
    """Count the documents that hold each term.

    Parameters
    ----------
    tokens : int32[n_tokens]
        Term ids, document after document.
    doc_offsets : int64[n_docs + 1]
        Document d is ``tokens[doc_offsets[d]:doc_offsets[d + 1]]``.
    out : int64[n_terms]
        Document frequencies; zeros on entry.
    """
    last_doc = np.full(out.shape[0], -1, np.int64)
    for doc in range(doc_offsets.shape[0] - 1):
        for position in range(doc_offsets[doc], doc_offsets[doc + 1]):
            term = tokens[position]
            if last_doc[term] != doc:
                last_doc[term] = doc
                out[term] += 1


@kernel
def fill(tokens: Any, doc_offsets: Any, term_offsets: Any, out_docs: Any, out_tfs: Any) -> None:
    """Write the postings of every term, ascending by document.

    Parameters
    ----------
    tokens, doc_offsets
        As in `document_frequencies`.
    term_offsets : int64[n_terms + 1]
        Cumulated document frequencies: the postings of term t are ``[term_offsets[t]:term_offsets[t + 1]]``.
    out_docs : int32[n_postings]
        Document of each posting.
    out_tfs : int32[n_postings]
        Term frequency of each posting.
    """
    n_terms = term_offsets.shape[0] - 1
    ends = np.empty(n_terms, np.int64)  # postings of term t written so far: [term_offsets[t]:ends[t]]
    for term in range(n_terms):
        ends[term] = term_offsets[term]
    for doc in range(doc_offsets.shape[0] - 1):
        for position in range(doc_offsets[doc], doc_offsets[doc + 1]):
            term = tokens[position]
            end = ends[term]
            if end > term_offsets[term] and out_docs[end - 1] == doc:
                out_tfs[end - 1] += 1
            else:
                out_docs[end] = doc
                out_tfs[end] = 1
                ends[term] = end + 1
