"""What tests share: where the real collections lie, and hypothesis' profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
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
