"""An MJCF file on its way into a model: what its readers share."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..model.import_report import ImportReport
from ..model.model import Model
from ..model.pose import Pose
from .mjcf_record import CompiledModel
from .mjcf_source import Source
from .rigid_groups import Carrier
from .xml import located


class ModelCoordinate(NamedTuple):
    """A joint of the model, and which of its coordinates and speeds a joint of the file became."""

    joint: str
    q: int
    v: int


@dataclass
class MjcfImport:
    model: Model
    compiled: CompiledModel
    source: Source
    report: ImportReport
    passive: bool
    carriers: Mapping[int, Carrier] = field(default_factory=dict)
    """Bodies of the file, by number."""
    coordinates: Mapping[int, ModelCoordinate] = field(default_factory=dict)
    """Hinges and slides of the file, by number; those that an equality holds have none."""

    def located(self, kind: str, i: int) -> AbstractContextManager[None]:
        """A ModelError raised inside gets the file, line and name of the object that is being read."""
        compiled = self.compiled
        return located(lambda words: self.source.error(words, compiled.line_of(kind, i), compiled.label(kind, i)))

    def site(self, k: int) -> Carrier:
        """The body that a site is on, and its pose there."""
        on = self.carriers[int(self.compiled.site_bodyid[k])]
        return Carrier(on.body, on.at @ pose_of(self.compiled.site_pos[k], self.compiled.site_quat[k]))


class Names:
    """Makes names unique."""

    def __init__(self, *taken: str) -> None:
        self.taken = set(taken)

    def unique(self, name: str, kind: str) -> str:
        wanted, k = name, 1
        while name in self.taken:
            name = f"{wanted} ({kind})" if k == 1 else f"{wanted} ({kind} {k})"
            k += 1
        self.taken.add(name)
        return name


def pose_of(position: Any, quaternion: Any) -> Pose:
    return Pose([float(x) for x in position], [float(x) for x in quaternion])
