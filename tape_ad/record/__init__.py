"""The inside of a record: indices, maps and arrays, and two sweeps; no handle, no rule."""
