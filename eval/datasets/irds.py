"""Datasets of the ir_datasets catalogue, by id."""

from __future__ import annotations

import contextlib
import difflib
import io
import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from zerda_bench.eval.datasets.base import Dataset, DatasetError, Qrels, checked, document_text

__all__ = ["load_irds"]

_HOW = "download it by hand into $IR_DATASETS_HOME as `ir_datasets` documents it, or use a BEIR folder"


def _library(name: str) -> Any:
    """The module ir_datasets, which makes its folder when it is imported."""
    try:
        import ir_datasets
    except OSError as error:
        raise DatasetError(
            f"{name}: ir_datasets cannot make its folder ({error}); set IR_DATASETS_HOME to one that can be written"
        ) from None
    return ir_datasets


def _registered() -> list[str]:
    import ir_datasets

    return sorted(ir_datasets.registry)


def _find(name: str) -> Any:
    import ir_datasets

    try:
        return ir_datasets.load(name)
    except KeyError:
        close = difflib.get_close_matches(name, _registered(), n=3, cutoff=0.5)
        hint = f"; close to it: {', '.join(close)}" if close else ""
        raise DatasetError(
            f"{name}: no such ir_datasets id, and no folder of that name{hint}; see `zerda-bench datasets`"
        ) from None


def _complete(name: str, dataset: Any) -> None:
    """Refuse ids without queries or judgments, naming those below that have them."""
    missing = [part for part in ("docs", "queries", "qrels") if not getattr(dataset, f"has_{part}")()]
    if not missing:
        return
    below = [i for i in _registered() if i.startswith(f"{name}/")]
    usable = [i for i in below if all(getattr(_find(i), f"has_{part}")() for part in ("docs", "queries", "qrels"))]
    hint = f"; try {', '.join(usable[:5])}" if usable else ""
    raise DatasetError(f"{name}: has no {' and no '.join(missing)}{hint}")


def _text(document: Any, titled: bool) -> str:
    """Title and text, or just the text where it is `titled` already; other types by ir_datasets' own default."""
    title, text = getattr(document, "title", None), getattr(document, "text", None)
    if not isinstance(text, str):
        return str(document.default_text())
    title = title if isinstance(title, str) else ""
    if titled and " ".join(text.split()).startswith(" ".join(title.split())):
        title = ""
    return document_text(title, text)


def _judgments(name: str, rows: Iterable[Any]) -> tuple[Qrels, int]:
    """Judgments, and how many rows repeated one with the same grade."""
    qrels: Qrels = {}
    repeated = 0
    for row in rows:
        query, doc, grade = str(row.query_id), str(row.doc_id), int(row.relevance)
        judged = qrels.setdefault(query, {})
        if doc in judged:
            if judged[doc] != grade:
                raise DatasetError(
                    f"{name}: query {query!r} and document {doc!r} are judged {judged[doc]} and {grade}; "
                    "use a BEIR folder with one grade for each pair"
                )
            repeated += 1
        judged[doc] = grade
    return qrels, repeated


def _reason(error: Exception) -> str:
    """The innermost cause in one line; ir_datasets and requests wrap it in long ones."""
    sources = error.args[-1] if error.args else None  # ir_datasets: [(source, its error), ...]
    if isinstance(sources, list) and sources and isinstance(sources[-1], tuple):
        error = sources[-1][-1]
    cause = getattr(error.args[0], "reason", error) if error.args else error  # requests: the error of urllib3
    if not isinstance(cause, BaseException):
        cause = error
    return " ".join(f"{type(cause).__name__}: {cause}".split()).removesuffix(":")[:200]


def _refuse_fewer(name: str, dataset: Any, found: dict[str, int]) -> None:
    """Refuse a file that was cut short: one that is there already is not checked by ir_datasets.

    More than the catalogue says is no damage: a collection may have grown.
    """
    catalogue = dataset.metadata()
    for kind, count in found.items():
        expected = catalogue.get(kind, {}).get("count")
        if expected is not None and count < expected:
            raise DatasetError(
                f"{name}: holds {count} {kind} where the catalogue says {expected}; a file in $IR_DATASETS_HOME was "
                f"cut short or changed: delete its folder there ({name.split('/')[0]}) and load it again"
            )


@contextlib.contextmanager
def _quiet_unless_watched() -> Iterator[None]:
    """Let the library's progress bars through to a terminal; keep them out of logs and pipes."""
    if sys.stderr.isatty():
        yield
        return
    logger = logging.getLogger("ir_datasets")
    before = logger.disabled
    logger.disabled = True
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.disabled = before


def load_irds(name: str) -> Dataset:
    """Load a dataset of the ir_datasets catalogue (MacAvaney et al. 2021), downloading it if need be.

    Raises
    ------
    DatasetError
        If the id is unknown, has no queries or judgments, cannot be downloaded, or holds less than the catalogue says.
    """
    ir_datasets = _library(name)
    with _quiet_unless_watched():
        dataset = _find(name)
        _complete(name, dataset)
    # All texts of cranfield but two begin with their title; saying it twice would double its terms.
    titled = name == "cranfield"
    try:
        with _quiet_unless_watched():
            documents = [(str(d.doc_id), _text(d, titled)) for d in dataset.docs_iter()]
            queries = [(str(q.query_id), str(q.default_text())) for q in dataset.queries_iter()]
            qrels, repeated = _judgments(name, dataset.qrels_iter())
    except (DatasetError, MemoryError):
        raise
    except Exception as error:
        raise DatasetError(f"{name}: could not be downloaded or read ({_reason(error)}); {_HOW}") from error
    n_qrels = sum(map(len, qrels.values())) + repeated
    _refuse_fewer(name, dataset, {"docs": len(documents), "queries": len(queries), "qrels": n_qrels})
    language = dataset.docs_lang() if hasattr(dataset, "docs_lang") else None
    return checked(
        Dataset(
            name=name,
            doc_ids=[identifier for identifier, _ in documents],
            texts=[text for _, text in documents],
            query_ids=[identifier for identifier, _ in queries],
            queries=[text for _, text in queries],
            qrels=qrels,
            language=language,
            source={"format": "ir_datasets", "ir_datasets": str(ir_datasets.__version__)},
            notices=(f"{repeated} judgments stand twice with the same grade",) if repeated else (),
        )
    )
