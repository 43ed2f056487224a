"""Embeddings kept on disk by the content they were computed from."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_texts
from zerda_bench.eval.embedders.base import Embedder, Progress
from zerda_bench.eval.storage import cache_folder, write_npy

__all__ = ["Embedded", "embed_cached"]

_logger = logging.getLogger("zerda_bench.eval.embedders")


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Vectors and where they came from.

    Attributes
    ----------
    vectors : float32[n_texts, dim]
        One row a text.
    from_cache : bool
        Whether they were read from disk.
    seconds : float
        Wall time of computing (with fitting and loading the model) or of reading.
    """

    vectors: NDArray[np.float32]
    from_cache: bool
    seconds: float


def embed_cached(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    corpus_hash: str,
    cache_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Vectors of `texts`, from disk when the same texts met the same embedder before.

    Processes may share a folder: a file appears whole, and two that compute the same thing write the same bytes. A
    damaged file is computed anew. A folder that cannot be written costs a warning, not the result.

    Parameters
    ----------
    embedder : Embedder
        Call its `fit` before; that costs nothing until vectors are really computed.
    texts : sequence of str
        Documents or queries.
    corpus_hash : str
        Digest of the documents the embedder is fitted on (of more, if convenient). Counts only where
        ``embedder.fitted``: other embedders share vectors between collections that share texts.
    cache_dir : path, optional
        Default: `cache_folder()`. Vectors lie in its subfolder ``embeddings``.
    progress : callable, optional
        Called with the number of texts done and of all texts.
    """
    texts = check_texts(texts, "texts")
    started = time.perf_counter()
    folder = cache_folder() if cache_dir is None else Path(cache_dir)
    path = None if folder is None or not texts else _path(folder, embedder, texts, corpus_hash)
    if path is not None:
        stored = _load(path, len(texts))
        if stored is not None:
            return Embedded(stored, True, time.perf_counter() - started)
    vectors = embedder.encode(texts, progress=progress)
    if path is not None:
        try:
            write_npy(path, vectors)
        except OSError as error:
            _logger.warning("embeddings are not cached: %s", error)
    return Embedded(vectors, False, time.perf_counter() - started)


def _path(folder: Path, embedder: Embedder, texts: Sequence[str], corpus_hash: str) -> Path:
    """File named by a digest over all that decides the vectors."""
    head = [embedder.name, embedder.version, corpus_hash if embedder.fitted else None, len(texts)]
    digest = hashlib.sha256(json.dumps(head).encode())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", embedder.name).strip("-.")[:60]
    return folder / "embeddings" / f"{readable}-{digest.hexdigest()}.npy"


def _load(path: Path, n_texts: int) -> NDArray[np.float32] | None:
    """Vectors in `path`, or None where there are none that can be trusted."""
    try:
        with path.open("rb") as stream:
            vectors: NDArray[np.float32] = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError) as error:
        _logger.warning("cached embeddings %s are damaged (%s): computing them anew", path.name, error)
        return None
    sound = (
        vectors.dtype == np.float32
        and vectors.ndim == 2
        and len(vectors) == n_texts
        and bool(np.isfinite(vectors).all())
    )
    if not sound:
        _logger.warning("cached embeddings %s do not fit their texts: computing them anew", path.name)
        return None
    return vectors
