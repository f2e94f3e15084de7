"""Small dense linear systems, real or complex: LU with row pivoting, in place.  Golub, Van Loan, 3.4"""


def lu_factor(A, pivot):
    """A = P L U in place (unit L; inverse pivots on the diagonal of U).  A singular matrix leaves inf or nan.  n³/3"""
    n = A.shape[0]
    for k in range(n):
        best, at = -1.0, k
        for i in range(k, n):
            size = abs(A[i, k].real) + abs(A[i, k].imag)
            if size > best:
                best, at = size, i
        pivot[k] = at
        if at != k:
            for j in range(n):
                A[k, j], A[at, j] = A[at, j], A[k, j]
        A[k, k] = 1.0 / A[k, k]
        for i in range(k + 1, n):
            A[i, k] = A[i, k] * A[k, k]
            m = A[i, k]
            if m != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= m * A[k, j]


def lu_solve(A, pivot, b):
    """b <- A^-1 b with what `lu_factor` left."""
    n = A.shape[0]
    for k in range(n):
        at = int(pivot[k])
        if at != k:
            b[k], b[at] = b[at], b[k]
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= A[i, j] * b[j]
        b[i] = s
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= A[i, j] * b[j]
        b[i] = s * A[i, i]
