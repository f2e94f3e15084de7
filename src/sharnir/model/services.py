"""Services of a model that layers further down in the table of ARCHITECTURE.md implement.

`Model.assemble`, `mobility`, `integrate`, `difference` and `save` belong to the user's view of a model; their code needs
equations, backends and file formats, which need models. `sharnir/__init__.py`, which knows every layer, says where each is.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_addresses: dict[str, tuple[str, str]] = {}


def provide(addresses: Mapping[str, tuple[str, str]]) -> None:
    """{service: (module, function)}; the module is imported when the service is first used."""
    _addresses.update(addresses)


def service(name: str) -> Any:
    module, function = _addresses[name]
    return getattr(import_module(module), function)
