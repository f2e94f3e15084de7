"""Solving with a factorised matrix for many right-hand sides at once: the columns of derivatives.

Four columns of three matrices are solved together, so that what is read of L serves twelve numbers. Where fewer columns are left
the last one takes the places of the missing: all four are read before any is written.
"""


def get4(X, a, c):
    return (X[a, c[0]], X[a, c[1]], X[a, c[2]], X[a, c[3]])


def set4(X, a, c, x):
    X[a, c[0]] = x[0]
    X[a, c[1]] = x[1]
    X[a, c[2]] = x[2]
    X[a, c[3]] = x[3]


def less4(x, l, y):
    return (x[0] - l*y[0], x[1] - l*y[1], x[2] - l*y[2], x[3] - l*y[3])


def opposite4(x, l):
    return (-x[0]*l, -x[1]*l, -x[2]*l, -x[3]*l)


def at_most(c, n):
    if c >= n:
        c = n - 1
    return c


def tree_solve_columns(tree, L, X, Y, Z):
    """X <- -M^-1 X, Y <- -M^-1 Y, Z <- M^-1 with the factors that `tree_factor` left; all (n, n).

    X_ac and Y_ac are zero unless one of the axes a, c carries the other: inward there is little to do.   docs/theory/solving.md
    """
    above, n = tree.above, tree.above.shape[0]
    for block in range((n + 3) // 4):
        first = 4 * block
        c = (first, at_most(first + 1, n), at_most(first + 2, n), at_most(first + 3, n))
        opposite_units(Z, c)
        for a in range(n - 1, c[3], -1):
            b = a
            while b > c[3]:
                b = above[b]
            if b >= first:                                         # one of these columns carries row a
                inward(tree, L, X, Y, a, c)
        p, q, r, s = c[0], c[1], c[2], c[3]                        # four ways to the base, from the largest number down
        a = c[3]
        while a >= 0:
            inward(tree, L, X, Y, a, c)
            if a >= first:
                inward_unit(tree, L, Z, a, first, c)
            if p == a:
                p = above[p]
            if q == a:
                q = above[q]
            if r == a:
                r = above[r]
            if s == a:
                s = above[s]
            a = p
            if q > a:
                a = q
            if r > a:
                a = r
            if s > a:
                a = s
        for a in range(first):
            outward(tree, L, X, Y, a, c)
            set4(Z, a, c, (Z[c[0], a], Z[c[1], a], Z[c[2], a], Z[c[3], a]))     # M^-1 is symmetric
        for a in range(first, n):
            outward_all(tree, L, X, Y, Z, a, c)


def opposite_units(Z, c):
    for a in range(Z.shape[0]):
        set4(Z, a, c, (0.0, 0.0, 0.0, 0.0))
    Z[c[0], c[0]] = -1.0
    Z[c[1], c[1]] = -1.0
    Z[c[2], c[2]] = -1.0
    Z[c[3], c[3]] = -1.0


def inward(tree, L, X, Y, a, c):
    """Row a, eliminated from the rows above it."""
    x, y, b = get4(X, a, c), get4(Y, a, c), tree.above[a]
    while b >= 0:
        for e in range(tree.stretch[b], b + 1):
            l = L[a, e]
            set4(X, e, c, less4(get4(X, e, c), l, x))
            set4(Y, e, c, less4(get4(Y, e, c), l, y))
        b = tree.above[tree.stretch[b]]


def inward_unit(tree, L, Z, a, first, c):
    """`inward` for Z, where rows before the first of these columns are known already."""
    z, b = get4(Z, a, c), tree.above[a]
    while b >= first:
        set4(Z, b, c, less4(get4(Z, b, c), L[a, b], z))
        b = tree.above[b]


def outward(tree, L, X, Y, a, c):
    """Row a from the rows above it."""
    d, b = L[a, a], tree.above[a]
    x, y = opposite4(get4(X, a, c), d), opposite4(get4(Y, a, c), d)
    while b >= 0:
        for e in range(tree.stretch[b], b + 1):
            l = L[a, e]
            x, y = less4(x, l, get4(X, e, c)), less4(y, l, get4(Y, e, c))
        b = tree.above[tree.stretch[b]]
    set4(X, a, c, x)
    set4(Y, a, c, y)


def outward_all(tree, L, X, Y, Z, a, c):
    d, b = L[a, a], tree.above[a]
    x, y, z = opposite4(get4(X, a, c), d), opposite4(get4(Y, a, c), d), opposite4(get4(Z, a, c), d)
    while b >= 0:
        for e in range(tree.stretch[b], b + 1):
            l = L[a, e]
            x, y, z = less4(x, l, get4(X, e, c)), less4(y, l, get4(Y, e, c)), less4(z, l, get4(Z, e, c))
        b = tree.above[tree.stretch[b]]
    set4(X, a, c, x)
    set4(Y, a, c, y)
    set4(Z, a, c, z)


def solve_columns(L, X, Y, Z):
    """`tree_solve_columns` with the factors that `factor` left, of a matrix without zeros."""
    n = L.shape[0]
    for block in range((n + 3) // 4):
        first = 4 * block
        c = (first, at_most(first + 1, n), at_most(first + 2, n), at_most(first + 3, n))
        opposite_units(Z, c)
        for a in range(n):
            x, y, z = get4(X, a, c), get4(Y, a, c), get4(Z, a, c)
            for b in range(a):
                l = L[a, b]
                x, y, z = less4(x, l, get4(X, b, c)), less4(y, l, get4(Y, b, c)), less4(z, l, get4(Z, b, c))
            set4(X, a, c, x)
            set4(Y, a, c, y)
            set4(Z, a, c, z)
        for a in range(n - 1, -1, -1):
            x, y, z = opposite4(get4(X, a, c), L[a, a]), opposite4(get4(Y, a, c), L[a, a]), opposite4(get4(Z, a, c), L[a, a])
            for b in range(a + 1, n):
                l = L[b, a]
                x, y, z = less4(x, l, get4(X, b, c)), less4(y, l, get4(Y, b, c)), less4(z, l, get4(Z, b, c))
            set4(X, a, c, x)
            set4(Y, a, c, y)
            set4(Z, a, c, z)
