"""Models that ship in the package, at ``responsa/weights/NAME``, in the folder format of `responsa.models.onnx`."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

from responsa.errors import NotFound, suggestion
from responsa.models.onnx import GRAPH, SETTINGS, read_settings
from responsa.storage import write_json

MANIFEST = "manifest.json"
SCHEME = "embedded:"  # what the names of these models start with
Entry = dict[str, object]


def weights() -> Path:
    """The folder with a folder for each model, and the manifest."""
    return Path(str(resources.files("responsa"))) / "weights"


def shipped(folder: Path | None = None) -> list[str]:
    """The names of the models, sorted."""
    return sorted(path.parent.name for path in (folder or weights()).glob(f"*/{SETTINGS}"))


def find(name: str) -> Path:
    """The folder of a model. NotFound that lists those that ship."""
    names = shipped()
    if name not in names:
        known = suggestion(name, names) or "; this copy of Responsa has none"
        raise NotFound(f"no embedded model {name!r}{known}; a model folder of your own is onnx:FOLDER")
    return weights() / name


def manifest(folder: Path | None = None) -> list[Entry]:
    """What ships, by name: ``kind``, ``sha256`` of the graph, ``bytes`` of the folder, the ``data`` learned from and
    their ``terms`` as the model's own manifest tells, and the checksum of each of its ``files``."""
    folder = folder or weights()
    return [_entry(folder / name) for name in shipped(folder)]


def write_manifest(folder: Path | None = None) -> list[Entry]:
    """Write `manifest` beside the models; to be called after a model was put there."""
    entries = manifest(folder)
    write_json(entries, (folder or weights()) / MANIFEST)
    return entries


def _entry(folder: Path) -> Entry:
    told = json.loads((folder / MANIFEST).read_bytes()) if (folder / MANIFEST).is_file() else {}
    files = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    return {
        "name": folder.name,
        "kind": read_settings(folder).kind,
        "sha256": _sha256(files[GRAPH]),
        "bytes": sum(path.stat().st_size for path in files.values()),
        "data": told.get("data", []),
        "terms": told.get("terms", ""),
        "files": {name: _sha256(path) for name, path in files.items()},
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
