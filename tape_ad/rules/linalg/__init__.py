"""The rules for `numpy.linalg`, and what SciPy's linear algebra shares with it."""
