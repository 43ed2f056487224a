"""Read-only arrays: what indexes hold and kernels take."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["FrozenArrays", "frozen"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


def frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """A read-only, C-contiguous view.

    Numba gives read-only arrays a type of their own. All kernel inputs are passed as such, so that memory-mapped
    (read-only) and fresh arrays run the same machine code and nothing is compiled twice.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


class FrozenArrays:
    """Base of objects whose arrays never change: also after unpickling, which makes arrays writable."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, frozen(value) if isinstance(value, np.ndarray) else value)
