"""Solving with a symmetric positive definite matrix: dense, or along the tree without fill-in."""


def factor(L, y, n):
    """The leading n x n block M = L D L' (unit L, no square roots), in place of the lower triangle of M.

    Work y (n,).  Inverse pivots stand on the diagonal of L afterwards.  n³/6 multiplications.
    """
    for a in range(n):
        for b in range(a):                                         # y_b = L_ab D_b, so each product is made once
            s = L[a, b]
            for c in range(b):
                s = s - y[c] * L[b, c]
            y[b] = s
        s = L[a, a]
        for b in range(a):
            L[a, b] = y[b] * L[b, b]
            s = s - y[b] * L[a, b]
        L[a, a] = 1.0 / s


def substitute(L, x, n):
    """x <- M^-1 x with the factors that `factor` left."""
    for a in range(n):
        for b in range(a):
            x[a] = x[a] - L[a, b] * x[b]
    for a in range(n):
        x[a] = x[a] * L[a, a]
    for a in range(n - 1, -1, -1):
        for b in range(a):
            x[b] = x[b] - L[a, b] * x[a]


def tree_factor(tree, L):
    """M = L'D L from the leaves inward: an entry exists only where one axis carries the other, and none is added.

    L: the lower triangle of M in place; inverse pivots on its diagonal.  Featherstone 2005; docs/theory/solving.md
    The way to the base is followed a stretch at a time: neighbours in a row are neighbours in memory.
    """
    above, stretch = tree.above, tree.stretch
    for a in range(above.shape[0] - 1, -1, -1):
        L[a, a] = 1.0 / L[a, a]
        b = above[a]
        while b >= 0:
            s = L[a, b] * L[a, a]
            c = b
            while c >= 0:
                for e in range(stretch[c], c + 1):
                    L[b, e] = L[b, e] - s * L[a, e]
                c = above[stretch[c]]
            L[a, b] = s
            b = above[b]


def tree_substitute(tree, L, x):
    """x <- M^-1 x with the factors that `tree_factor` left."""
    above, stretch = tree.above, tree.stretch
    for a in range(above.shape[0] - 1, -1, -1):
        b = above[a]
        while b >= 0:
            for e in range(stretch[b], b + 1):
                x[e] = x[e] - L[a, e] * x[a]
            b = above[stretch[b]]
    for a in range(above.shape[0]):
        s = x[a] * L[a, a]
        b = above[a]
        while b >= 0:
            for e in range(stretch[b], b + 1):
                s = s - L[a, e] * x[e]
            b = above[stretch[b]]
        x[a] = s
