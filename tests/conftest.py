from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of given data, which is no part of the project: RESPONSA_DATA, else ../shared/data."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("RESPONSA_DATA") or root.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; set RESPONSA_DATA")
    return folder
