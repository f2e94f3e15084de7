"""Table 1 of [K] as printed, and why our counts differ. Polynomials in N: coefficients, the constant first."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    number: str
    what: str
    multiplications: tuple[float, ...]
    additions: tuple[float, ...]
    kernel: str
    why: str


TABLE_1 = (
    Row("1", "m^Σ", (0,), (0, 1), "row_masses", "first moments are summed with the masses, 3 more each, for joints that shift"),
    Row("2", "r_ij", (0,), (3, -4.5, 1.5), "row_r", "differences of positions for neighbours too; [K] has those from (2)"),
    Row("3, 4", "c_ij; here s_ij", (0, -1.5, 1.5), (0, -1.5, 1.5), "row_s", "m r is formed for r_ii = 0 as well"),
    Row("6", "M¹", (0,), (-9, 9), "row_M1", "symmetric: 6 numbers, not 9"),
    Row(
        "7", "M²", (-18, 0, 18), (9, -27, 18), "row_M2",
        "x̃ỹᵀ = (xᵀy)E − yxᵀ takes 9 multiplications and 3 additions, not 27 and 27, and no mass: that is in s. "
        "Misprint: 18N² − 18 for 18N² − 18N",
    ),
    Row(
        "8", "M³", (27, -40.5, 13.5), (36, -54, 18), "row_M3",
        "x̃ỹᵀ as in row 7. The printed row leaves out the N − 1 matrices of (15a), 27 + 27 each by [K]'s text",
    ),
    Row("9", "M^Σ", (0,), (-9, -4.5, 13.5), "row_sum", "sums that are zero at the tip are added like the others"),
    Row(
        "10", "A", (0, 3, 3), (0, 3, 3), "row_A",
        "Rᵀ M R is 12 multiplications and 8 additions, printed as 6 and 6",
    ),
)  # fmt: skip

TOTALS = {
    "recursive": ((9, -39, 36), (30, -97.5, 55.5)),
    "kosynka": ((0, -9, 24, 3), (0, -50, 105, 11)),
    "stepanenko": ((0, 38, 38), (0, 31, 31)),
}
"""Rows 11-13."""

BY_ITS_OWN_RULES = ((0, -22.5, 34.5), (6, -52.5, 58.5))
"""The corrected recursion with every row counted as [K] counts (docs/theory/kane.md)."""

ALGORITHMS = ("recursive", "kosynka", "stepanenko", "composite", "direct")
