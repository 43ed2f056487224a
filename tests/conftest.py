"""What tests share: where the real collections lie, and hypothesis' profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],  # explaining a failure can take very long
)
settings.register_profile("default", _COMMON, max_examples=60)
settings.register_profile("nightly", _COMMON, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

CHECKOUT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path | None:
    """The folder of shared material (collections, conformance cases): $ZERDA_SHARED, or beside the checkout."""
    folder = Path(os.environ.get("ZERDA_SHARED") or CHECKOUT.parent / "shared")
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the shared material; the test is skipped where it is absent."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("shared material is absent (set ZERDA_SHARED to its folder)")
    return folder


@pytest.fixture(scope="session")
def collections(shared: Path) -> Path:
    """Folder of the real collections in BEIR layout."""
    folder = shared / "data" / "collections"
    if not folder.is_dir():
        pytest.skip(f"no collections in {shared}")
    return folder
