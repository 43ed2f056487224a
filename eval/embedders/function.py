"""An embedder of your own: any function of your code."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerda_bench.arguments import check_texts
from zerda_bench.eval.embedders.base import Embedder, Progress, encode_batches

__all__ = ["FunctionEmbedder"]

_TEXTS_A_CALL = 256


class FunctionEmbedder(Embedder):
    """Call ``module:callable`` with a list of at most 256 texts at a time, or with one text where it only takes str.

    The list form returns one row a text, [n, dim]; the other one vector, [dim]. Arrays and lists of numbers both do.
    The module is looked for on the import path, then in the current folder.

    Its `version` is a digest of the module's file: vectors cached on disk are dropped when that file changes, but not
    when something it imports or downloads does.

    Parameters
    ----------
    name : str
        ``module:callable``; the second part may have dots, as in ``mymodels:small.encode``.

    Raises
    ------
    ValueError
        If the module cannot be imported or has no such callable.
    """

    def __init__(self, name: str) -> None:
        module_name, _, attribute = name.partition(":")
        if not module_name or not attribute:
            raise ValueError(f"embedder {name!r}: write module:callable")
        module = _imported(name, module_name)
        target: Any = module
        for part in attribute.split("."):
            try:
                target = getattr(target, part)
            except AttributeError:
                raise ValueError(f"embedder {name}: {module_name} has no {attribute!r}") from None
        if isinstance(target, type) or not callable(target):
            raise ValueError(f"embedder {name}: {attribute!r} is a {type(target).__name__}, not a function of texts")
        self.name = name
        self._function: Callable[[Any], Any] = target
        self._takes_lists: bool | None = None
        self._version = _digest(module)

    @property
    def version(self) -> str:
        """Digest of the module's file, or its ``__version__`` where it has no file."""
        return self._version

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> NDArray[np.float32]:
        """Embed `texts` as float32[len(texts), dim].

        Raises
        ------
        ValueError
            If the function fails, or does not return one finite vector of one dimension a text.
        """
        return encode_batches(check_texts(texts, "texts"), _TEXTS_A_CALL, self._call, self.name, progress)

    def _call(self, batch: list[str]) -> Any:
        """Return what the function says of `batch`, finding out on the first call whether it takes lists."""
        if self._takes_lists is None:
            self._takes_lists, answer = self._try_lists(batch)
            if self._takes_lists:
                return answer
        if self._takes_lists:
            return self._guarded(batch)
        return [self._guarded(text) for text in batch]

    def _try_lists(self, batch: list[str]) -> tuple[bool, Any]:
        """Whether the function takes a list, and its answer if so.

        A function of one str either raises TypeError or AttributeError on a list, or takes it for a text and returns
        one vector.
        """
        try:
            answer = self._function(list(batch))
        except (TypeError, AttributeError) as error:
            try:
                self._function(batch[0])
            except Exception:  # noqa: BLE001  (it fails on both: the first failure is the one to tell)
                raise ValueError(_failure(self.name, error)) from error
            return False, None
        except Exception as error:
            raise ValueError(_failure(self.name, error)) from error
        return not _is_one_vector(answer), answer

    def _guarded(self, argument: Any) -> Any:
        try:
            return self._function(argument)
        except Exception as error:
            raise ValueError(_failure(self.name, error)) from error


def _is_one_vector(answer: Any) -> bool:
    try:
        return np.ndim(answer) == 1
    except ValueError:  # ragged: for `checked_vectors` to refuse
        return False


def _failure(name: str, error: Exception) -> str:
    return f"embedder {name} failed: {type(error).__name__}: {' '.join(str(error).split())}"


def _imported(name: str, module_name: str) -> ModuleType:
    """Module of that name; the current folder counts as the last place to look while it is imported."""
    here = os.getcwd()
    sys.path.append(here)
    try:
        return importlib.import_module(module_name)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"embedder {name}: cannot import {module_name} ({reason})") from error
    finally:
        # The last of equal entries is the one added above.
        del sys.path[len(sys.path) - 1 - sys.path[::-1].index(here)]


def _digest(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).is_file():
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
    return str(getattr(module, "__version__", "unknown"))
