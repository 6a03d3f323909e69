"""The lowest layer: errors, trees, names, optional libraries, and what counts as an array."""
