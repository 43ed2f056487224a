"""The harness: measures fusion variants on test collections. Names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zerda_bench.eval.datasets import Dataset, DatasetError, load_dataset, load_trec
    from zerda_bench.eval.experiment import Experiment, run_experiment
    from zerda_bench.eval.results import Result

_HOME = {
    "Dataset": "datasets",
    "DatasetError": "datasets",
    "Experiment": "experiment",
    "Result": "results",
    "load_dataset": "datasets",
    "load_trec": "datasets",
    "run_experiment": "experiment",
}

__all__ = ["Dataset", "DatasetError", "Experiment", "Result", "load_dataset", "load_trec", "run_experiment"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
