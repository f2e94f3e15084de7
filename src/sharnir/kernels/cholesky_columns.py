"""Solving with a factorised matrix for many right-hand sides at once: the columns of derivatives."""


def tree_substitute_columns(tree, L, X):
    """X <- -M^-1 X with the factors that `tree_factor` left; X (n, m).

    Row by row, so that neighbours in memory are neighbours in the loop; docs/theory/solving.md
    """
    above, stretch = tree.above, tree.stretch
    n, m = X.shape[0], X.shape[1]
    for a in range(n - 1, -1, -1):
        b = above[a]
        while b >= 0:
            for e in range(stretch[b], b + 1):
                for c in range(m):
                    X[e, c] = X[e, c] - L[a, e] * X[a, c]
            b = above[stretch[b]]
    for a in range(n):
        for c in range(m):
            s = -X[a, c] * L[a, a]
            b = above[a]
            while b >= 0:
                for e in range(stretch[b], b + 1):
                    s = s - L[a, e] * X[e, c]
                b = above[stretch[b]]
            X[a, c] = s


def substitute_columns(L, X):
    """X <- -M^-1 X with the factors that `factor` left; X (n, m)."""
    n, m = X.shape[0], X.shape[1]
    for a in range(n):
        for b in range(a):
            for c in range(m):
                X[a, c] = X[a, c] - L[a, b] * X[b, c]
    for a in range(n):
        for c in range(m):
            X[a, c] = -X[a, c] * L[a, a]
    for a in range(n - 1, -1, -1):
        for b in range(a):
            for c in range(m):
                X[b, c] = X[b, c] - L[a, b] * X[a, c]
