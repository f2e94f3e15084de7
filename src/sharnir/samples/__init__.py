"""Mechanisms to try things on: `sharnir.samples.four_bar()`, or `from sharnir.samples import four_bar`."""

from types import ModuleType as _ModuleType

from .flexible import flexible_four_bar as flexible_four_bar
from .flexible import flexible_pendulum as flexible_pendulum
from .flexible import flexible_slider_crank as flexible_slider_crank
from .flexible import flexible_slider_crank_start as flexible_slider_crank_start
from .flexible import rotating_beam as rotating_beam
from .flexible import segmented_beam as segmented_beam
from .loops import andrews as andrews
from .loops import andrews_start as andrews_start
from .loops import bricard as bricard
from .loops import car_axis as car_axis
from .loops import closed_chain as closed_chain
from .loops import four_bar as four_bar
from .loops import governor as governor
from .loops import n_four_bar as n_four_bar
from .loops import n_four_bar_start as n_four_bar_start
from .loops import planetary_gear as planetary_gear
from .loops import rolling_disc as rolling_disc
from .loops import slider_crank as slider_crank
from .loops import stewart as stewart
from .trees import all_joints as all_joints
from .trees import chain as chain
from .trees import double_pendulum as double_pendulum
from .trees import manipulator as manipulator
from .trees import pendulum as pendulum
from .trees import planar_chain as planar_chain
from .trees import rods as rods
from .trees import tree as tree
from .vehicles import bicycle as bicycle
from .vehicles import bicycle_start as bicycle_start
from .vehicles import quarter_car as quarter_car


def __dir__() -> list[str]:
    """The samples alone: not the modules they are in."""
    return sorted(name for name, x in globals().items() if name[0] != "_" and not isinstance(x, _ModuleType))
