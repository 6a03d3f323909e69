"""The rules for SciPy's functions, and our own where SciPy's cannot see a handle."""
