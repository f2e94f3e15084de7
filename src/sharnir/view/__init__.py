"""A model or a motion to be seen: pages, the live view, pictures. Start at `scene.py`.

`sharnir.view` is this package and the function that opens the live view: Python puts a package that is imported in the place of a
function of the same name, so the package can be called as well.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *what: Any, **options: Any) -> Any:
        from .live.view import view

        return view(*what, **options)


sys.modules[__name__].__class__ = _CallablePackage
