"""Models of the Hugging Face hub, or folders in its layout, through the packages that run them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_texts
from zerda_bench.eval.embedders.base import Embedder, Progress, encode_batches, require_extra, well_formed

__all__ = ["PretrainedEmbedder"]


class PretrainedEmbedder(Embedder):
    """What the packages for pretrained models share: a subclass says how to load a model and how to call it.

    Batches are cut in the order of the texts, so a rerun sees the same batches.

    Parameters
    ----------
    model : str
        Name on the Hugging Face hub, or a folder.

    Raises
    ------
    ValueError
        If `model` is empty.
    ImportError
        If the package is not installed, naming the extra.
    """

    #: Distribution, which is also the extra and the part of the name before the colon; and its import name.
    package: ClassVar[str]
    module: ClassVar[str]
    texts_a_batch: ClassVar[int]

    def __init__(self, model: str) -> None:
        if not model:
            raise ValueError(f"embedder {self.package}: write {self.package}:NAME")
        self.name = f"{self.package}:{model}"
        require_extra(self.module, embedder=self.name, package=self.package, extra=self.package)
        self._source = model
        self._model: Any = None

    @abstractmethod
    def _load(self, source: str) -> Any:
        """Return the model of that name."""

    @abstractmethod
    def _embed(self, model: Any, batch: list[str]) -> Any:
        """Vectors of `batch`, one row a text."""

    @property
    def version(self) -> str:
        """Of the package, of NumPy and of the model. A model not yet downloaded is downloaded to know it."""
        revision = _revision(self._source)
        if revision is None:
            self._loaded()
            revision = _revision(self._source) or "unknown"
        return f"{self.package}-{importlib.metadata.version(self.package)} numpy-{np.__version__} model-{revision}"

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> NDArray[np.float32]:
        """Embed `texts` as float32[len(texts), dim]."""
        texts = [well_formed(text) for text in check_texts(texts, "texts")]
        model = self._loaded()
        return encode_batches(texts, self.texts_a_batch, lambda batch: self._embed(model, batch), self.name, progress)

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                self._model = self._load(self._source)
            except Exception as error:
                reason = " ".join(str(error).split())
                raise ValueError(f"embedder {self.name}: cannot load the model ({reason})") from error
        return self._model


def _revision(source: str) -> str | None:
    """Digest of a model folder, or the commit of a downloaded hub model; None where neither is here."""
    folder = Path(source)
    if folder.is_dir():
        digest = hashlib.sha256()
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode())
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()[:16]
    if importlib.util.find_spec("huggingface_hub") is None:
        return None
    hub = importlib.import_module("huggingface_hub")
    for file in ("config.json", "modules.json"):
        try:
            found = hub.try_to_load_from_cache(source, file)
        except ValueError:  # not a name the hub could have
            return None
        if isinstance(found, str):
            return Path(found).parent.name
    return None
