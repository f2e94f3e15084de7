"""Flexible bodies in a file: those of the model, and modal bodies in archives beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import ModelError
from ...model import values as kinds
from ...model.element import Element, element, element_field
from ...model.flexible import FlexibleBeam, ModalBody, load_modal
from ...model.flexible.flexible_body import NOT_NEGATIVE
from ...model.flexible.tables import TableValue
from ..paths import MeshFolders
from .faults import at
from .file_kinds import Block

FLEXIBLE = (FlexibleBeam, ModalBody)


@element("modal")
class ModalArchive(Element):
    """A modal body in an archive of arrays that `ModalBody.save` has written. It is opened where meshes are: in the package of
    the file, or in `package_paths`."""

    file: str = element_field(kinds.Text(), meaning="the archive, .npz, from the folder of the file; package:// too")
    damping: Any = element_field(
        kinds.ScalarOrVector(NOT_NEGATIVE), default=None, meaning="ratio of critical damping, in place of that of the archive"
    )
    rayleigh: Sequence[float] | None = element_field(
        kinds.Vector(2, NOT_NEGATIVE),
        default=None,
        unit="1/s, s",
        meaning="damping α·mass + β·stiffness, likewise",
    )

    def changes(self) -> dict[str, Any]:
        """Values given in place of the archive's."""
        return {name: x for name in ("damping", "rayleigh") if (x := getattr(self, name)) is not None}


@element()
class IntegralsEntry(Element):
    """Integrals over the mass of m modes Φ, at undeformed places x, in the body's axes."""

    linear: Any = element_field(TableValue(), unit="kg m", meaning="∫ Φ of each mode, m×3")
    first: Any = element_field(Block(3), unit="kg m²", meaning="∫ x Φᵀ of each mode, m×3×3")
    product: Any = element_field(Block(4), unit="kg m²", meaning="∫ Φ Φᵀ of each pair of modes, m×m×3×3")
    mass_matrix: Any = element_field(
        TableValue(), default=None, unit="kg m²", meaning="∫ Φᵀ Φ, m×m, where it is not the trace of `product`"
    )


def open_archive(archive: ModalArchive, files: MeshFolders | None) -> ModalBody:
    """The modal body of an archive. `files`: in which folders it may be; None where there are none."""
    with at("file"):
        if files is None:
            raise ModelError("a text has no folder to look for an archive in; load a file, or write the body out in the text")
        path, why = files.mesh(archive.file)
        if path is None:
            raise ModelError(f"{archive.file!r}: {why}")
        body = load_modal(path)
    changes = archive.changes()
    return body.replaced(**changes) if changes else body
