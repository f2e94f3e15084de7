"""No freedom at all."""

from __future__ import annotations

from .base import ElementaryMotion, Joint


class Weld(Joint):
    """Two bodies joined rigidly; all six components of its reaction are outputs."""

    def motions(self, label: str) -> list[ElementaryMotion]:
        self.drives(label)
        return []
