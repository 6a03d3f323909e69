"""Functions of functions: each runs a function on handles of a fresh record, and sweeps."""
