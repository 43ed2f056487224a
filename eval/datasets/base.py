"""What a dataset is: documents, queries, and which documents are relevant to which query."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

__all__ = ["Dataset", "DatasetError", "checked", "document_text", "judgment_notices"]

Qrels = dict[str, dict[str, int]]


class DatasetError(Exception):
    """A dataset cannot be had. The message is one line: what, where and how to proceed."""


@dataclass(frozen=True)
class Dataset:
    """A test collection in memory.

    Attributes
    ----------
    name : str
        ``pydocs``, an ir_datasets id, or the name of a folder.
    doc_ids, texts : list of str
        Documents in the order of the source.
    query_ids, queries : list of str
    qrels : dict
        Query id -> document id -> grade. Holds what the source holds: also unknown documents, which count as relevant
        documents that cannot be found, and grades of 0 or less.
    language : str or None
        Language code, where the source names one.
    source : dict of str to str
        Where it came from: versions, licence.
    notices : tuple of str
        What a reader of the figures should know: dangling judgments, queries without judgments.
    """

    name: str
    doc_ids: list[str]
    texts: list[str]
    query_ids: list[str]
    queries: list[str]
    qrels: Qrels
    language: str | None = None
    source: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """Hex SHA-256 over ids, texts, queries and qrels, each with its length: equal content, equal hash."""
        digest = hashlib.sha256()

        def add(kind: str, values: Iterable[str]) -> None:
            digest.update(f"\0{kind}\0".encode())
            for value in values:
                data = value.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "little"))
                digest.update(data)

        add("doc_ids", self.doc_ids)
        add("texts", self.texts)
        add("query_ids", self.query_ids)
        add("queries", self.queries)
        for query, judged in sorted(self.qrels.items()):
            add("judged", [query, str(len(judged))])
            add("qrels", (part for doc, grade in sorted(judged.items()) for part in (doc, str(grade))))
        # Library versions decide what pydocs holds; they count even if no docstring changed.
        add("versions", (f"{k}={v}" for k, v in sorted(self.source.items()) if k.startswith("version ")))
        return digest.hexdigest()

    def judged_queries(self) -> list[int]:
        """Positions in `queries` of those with at least one judgment, in order."""
        return [i for i, query in enumerate(self.query_ids) if self.qrels.get(query)]

    def sample_queries(self, n: int, *, seed: int = 0) -> Dataset:
        """The dataset with `n` of its judged queries, always the same ones: those whose seed and id hash lowest.

        All documents stay. With `n` at or above the number of judged queries, the dataset itself. A larger sample of
        the same seed holds the smaller ones.

        Raises
        ------
        ValueError
            If `n` is less than 1.
        """
        if n < 1:
            raise ValueError(f"a sample needs 1 query or more, got {n}")
        judged = self.judged_queries()
        if n >= len(judged):
            return self

        def order(query: int) -> bytes:
            return hashlib.sha256(f"{seed} {self.query_ids[query]}".encode("utf-8", "surrogatepass")).digest()

        by_hash = sorted(judged, key=order)
        kept = sorted(by_hash[:n])
        ids = [self.query_ids[i] for i in kept]
        # What was said of the judgments of the whole does not hold for the sample.
        whole = judgment_notices(self)
        sample = replace(
            self,
            query_ids=ids,
            queries=[self.queries[i] for i in kept],
            qrels={query: self.qrels[query] for query in ids},
            notices=tuple(notice for notice in self.notices if notice not in whole),
        )
        said = f"a fixed sample of {n} of {len(judged)} judged queries" + (f" (seed {seed})" if seed else "")
        return replace(sample, notices=(*sample.notices, *judgment_notices(sample), said))


def document_text(title: str, text: str) -> str:
    """Title, a blank, text; just one of them where the other is empty."""
    return f"{title} {text}" if title and text else title or text


def judgment_notices(dataset: Dataset) -> tuple[str, ...]:
    """What a reader of the figures should know of the judgments, counted."""
    documents = dict(zip(dataset.doc_ids, dataset.texts, strict=True))
    queries = dict(zip(dataset.query_ids, dataset.queries, strict=True))
    qrels = {query: judged for query, judged in dataset.qrels.items() if judged}
    dangling = sum(doc not in documents for judged in qrels.values() for doc in judged)
    unjudged = sum(query not in qrels for query in queries)
    missing = sum(query not in queries for query in qrels)
    hopeless = sum(all(grade <= 0 for grade in judged.values()) for judged in qrels.values())
    # As in ArguAna. Equal ids alone say nothing: many collections number both kinds from 1.
    both = [query for query in qrels if query in queries and query in documents]
    themselves = sum(_holds(documents[query], queries[query]) for query in both)
    notices = [
        (dangling, "judgments name documents that the corpus lacks; they stay in the denominator of recall"),
        (unjudged, "queries have no judgment; they are left out"),
        (missing, "judged queries are not among the queries; they count as 0"),
        (hopeless, "judged queries have no relevant document; they count as 0, as in trec_eval"),
        (themselves, "queries are themselves documents (same id and text); these are not taken out of their results"),
    ]
    return tuple(f"{count} {what}" for count, what in notices if count)


def _holds(document: str, query: str) -> bool:
    """Whether a document's text, after a title that it may have, is the query."""
    return bool(query.strip()) and " ".join(document.split()).endswith(" ".join(query.split()))


def checked(dataset: Dataset) -> Dataset:
    """`dataset` with notices on its judgments.

    Raises
    ------
    DatasetError
        If there are no documents, no queries or no judgments, if no query is judged, or an id stands twice.
    """
    if not dataset.doc_ids:
        raise DatasetError(f"{dataset.name}: the corpus is empty; check the source")
    if not dataset.query_ids:
        raise DatasetError(f"{dataset.name}: there are no queries; check the source")
    if not any(dataset.qrels.values()):
        raise DatasetError(f"{dataset.name}: there are no judgments (qrels); nothing can be measured without")
    for kind, ids in (("document", dataset.doc_ids), ("query", dataset.query_ids)):
        if len(set(ids)) < len(ids):
            seen: set[str] = set()
            twice = next(i for i in ids if i in seen or seen.add(i))  # type: ignore[func-returns-value]
            raise DatasetError(f"{dataset.name}: {kind} id {twice!r} stands twice; ids must be unique")
    if not dataset.judged_queries():
        asked, judged = dataset.query_ids[0], next(iter(dataset.qrels))
        raise DatasetError(
            f"{dataset.name}: none of the queries is judged; do their ids agree? query {asked!r}, judgments {judged!r}"
        )
    return replace(dataset, notices=(*dataset.notices, *judgment_notices(dataset)))
