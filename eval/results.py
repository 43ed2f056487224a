"""Result files: one JSON document a run. docs/results-format.md describes every field."""

from __future__ import annotations

import dataclasses
import datetime
import gzip
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zerda_bench.eval.experiment import Experiment

__all__ = [
    "PER_QUERY_SCHEMA",
    "SCHEMA",
    "SCHEMA_VERSION",
    "Result",
    "ResultPaths",
    "Row",
    "per_query_document",
    "result_document",
]

SCHEMA, PER_QUERY_SCHEMA = "zerda-bench/result", "zerda-bench/per-query"
SCHEMA_VERSION = 1

# What tables and comparisons read.
_NEEDED = ("run_id", "created", "command", "dataset", "analyzer", "bm25", "embedder", "measures", "table")
_LATENCY = (
    "wall time of single-query calls on one thread, each once; bm25 with the analysis of the query, dense without its "
    "embedding"
)


@dataclass(frozen=True)
class ResultPaths:
    """Where the files of a result lie: ``<root>/<dataset>/<run-id>...``."""

    folder: Path
    run_id: str

    @classmethod
    def of(cls, root: str | os.PathLike[str], dataset: str, run_id: str) -> ResultPaths:
        """Paths below `root`; characters of the collection's name that a file system may refuse become ``-``."""
        return cls(Path(root) / (re.sub(r"[^\w.+-]+", "-", dataset).strip("-.") or "dataset"), run_id)

    @property
    def result(self) -> Path:
        """The JSON document."""
        return self.folder / f"{self.run_id}.json"

    @property
    def table(self) -> Path:
        """The table as CSV."""
        return self.folder / f"{self.run_id}.csv"

    @property
    def per_query(self) -> Path:
        """Values by query."""
        return self.folder / f"{self.run_id}.per-query.json.gz"

    def run(self, slug: str) -> Path:
        """The TREC run file of a variant."""
        return self.folder / self.run_id / f"{slug}.run.gz"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    variant: str
    is_leg: bool
    mean: Mapping[str, float]


@dataclass(frozen=True)
class Result:
    """A result document, fresh or read from its file.

    Attributes
    ----------
    document : dict
    path : Path or None
    """

    document: dict[str, Any]
    path: Path | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result file.

        Raises
        ------
        OSError
            If it cannot be read.
        ValueError
            If it is no result file, damaged, or of a newer schema.
        """
        document = _json(Path(path), Path(path).read_bytes())
        _check_schema(Path(path), document, SCHEMA)
        result = cls(document, Path(path))
        missing = [field for field in _NEEDED if field not in document]
        if missing:
            raise ValueError(f"{path} is no complete result file: it lacks {', '.join(missing)}")
        if not document["table"] or any(set(row["mean"]) != set(result.measures) for row in document["table"]):
            raise ValueError(f"{path} is no complete result file: its table does not fit its measures")
        return result

    @property
    def run_id(self) -> str:
        """Identity of the run."""
        return str(self.document["run_id"])

    @property
    def dataset(self) -> str:
        """Name of the collection."""
        return str(self.document["dataset"]["name"])

    @property
    def content_hash(self) -> str:
        """Digest of what was measured."""
        return str(self.document["dataset"]["content_hash"])

    @property
    def measures(self) -> list[str]:
        """Canonical names; the first orders the table."""
        return list(self.document["measures"])

    @property
    def rows(self) -> list[Row]:
        """The table: first measure descending, ties by name."""
        rows = [Row(row["variant"], row["kind"] == "leg", row["mean"]) for row in self.document["table"]]
        first = self.measures[0]
        return sorted(rows, key=lambda row: (-row.mean[first], row.variant))

    def row(self, variant: str) -> Row:
        """The line of a variant.

        Raises
        ------
        ValueError
            If it was not measured, listing what was.
        """
        for row in self.rows:
            if row.variant == variant:
                return row
        measured = ", ".join(row.variant for row in self.rows)
        raise ValueError(f"variant {variant!r} is not in result {self.run_id}; it holds: {measured}")

    def best(self, *, leg: bool) -> Row | None:
        """The best single leg, or the best fusion, on the first measure; None where none was measured."""
        return next((row for row in self.rows if row.is_leg == leg), None)

    def per_query(self) -> dict[str, dict[str, dict[str, float]]] | None:
        """Values by variant, measure and query id; None where the file was not kept.

        Raises
        ------
        ValueError
            If the file is damaged or belongs to another run.
        """
        if self.path is None:
            return None
        path = ResultPaths(self.path.parent, self.run_id).per_query
        try:
            data = gzip.decompress(path.read_bytes())
        except FileNotFoundError:
            return None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged or cut short: {error}") from None
        document = _json(path, data)
        _check_schema(path, document, PER_QUERY_SCHEMA)
        if document["run_id"] != self.run_id:
            raise ValueError(f"{path} belongs to run {document['run_id']}, not to {self.run_id}")
        return {
            variant: {
                measure: dict(zip(document["query_ids"], values, strict=True)) for measure, values in table.items()
            }
            for variant, table in document["values"].items()
        }


def result_document(experiment: Experiment) -> dict[str, Any]:
    """The JSON document of an experiment. It names no folder, user or host."""
    from zerda_bench.eval.environment import environment
    from zerda_bench.eval.stages import PEAK_RSS

    plan = experiment.plan
    kinds = {variant.name: "leg" if variant.is_leg else "fusion" for variant in plan.variants}
    table = [
        {
            "variant": name,
            "kind": kinds[name],
            "mean": outcome.mean,
            "tied_queries": outcome.tied_queries,
            "queries_without_hits": outcome.queries_without_hits,
            "fuse_seconds": _rounded(outcome.fuse_seconds),
            "evaluate_seconds": _rounded(outcome.evaluate_seconds),
        }
        for name, outcome in experiment.outcomes.items()
    ]
    identity = plan.identity
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "run_id": plan.run_id,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": plan.command,
        "dataset": _dataset(experiment),
        "analyzer": identity["analyzer"],
        "bm25": identity["bm25"],
        "embedder": identity["embedder"],
        "depth": plan.depth,
        "variants": [{"name": v.name, "kind": kinds[v.name], "slug": v.slug} for v in plan.variants],
        "measures": identity["measures"],
        "policies": dict(experiment.policies),
        "seeds": {"embedder": getattr(plan.embedder, "seed", None)},
        "warnings": list(experiment.warnings),
        "table": table,
        "legs": {name: _rounded(dataclasses.asdict(leg)) for name, leg in experiment.legs.items()},
        "stages": [_rounded(dataclasses.asdict(stage)) for stage in experiment.stages],
        "jit": {
            "seconds": _rounded(experiment.warmup.seconds),
            "kernels": [_rounded(dataclasses.asdict(kernel)) for kernel in experiment.warmup.kernels],
        },
        "notes": {"peak_rss_bytes": PEAK_RSS, "latency": _LATENCY},
        "threads": experiment.threads,
        "identity": identity,
        "environment": environment(),
    }


def _dataset(experiment: Experiment) -> dict[str, Any]:
    plan, data = experiment.plan, experiment.plan.dataset
    return {
        "name": data.name,
        "content_hash": data.content_hash,
        "language": data.language,
        "counts": {
            "documents": len(data.doc_ids),
            "queries": len(data.query_ids),
            "judged_queries": len(experiment.query_ids),
            "judgments": sum(map(len, data.qrels.values())),
        },
        "sample": None if plan.sample is None else dataclasses.asdict(plan.sample),
        "source": dict(data.source),
        "notices": list(data.notices),
    }


def per_query_document(experiment: Experiment) -> dict[str, Any]:
    """Values by variant and measure, aligned with the query ids."""
    return {
        "schema": PER_QUERY_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "run_id": experiment.plan.run_id,
        "query_ids": list(experiment.query_ids),
        "values": {
            variant: {measure: values.tolist() for measure, values in outcome.per_query.items()}
            for variant, outcome in experiment.outcomes.items()
        },
    }


def _rounded(value: Any) -> Any:
    """Times to the microsecond, also within a dict: more digits are noise."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return round(value, 6) if isinstance(value, float) else value


def _json(path: Path, data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"{path} is no JSON, or cut short: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path} is no result file: it holds no JSON object")
    return document


def _check_schema(path: Path, document: Mapping[str, Any], schema: str) -> None:
    if document.get("schema") != schema:
        raise ValueError(f"{path} is no result file of zerda-bench (its schema is {document.get('schema')!r})")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(
            f"{path} has schema version {document.get('schema_version')!r}; this zerda-bench reads {SCHEMA_VERSION}"
        )
