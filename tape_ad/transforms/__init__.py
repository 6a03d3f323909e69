"""`grad`, `jacobian` and their like: each runs a function on handles of a record, and sweeps."""
