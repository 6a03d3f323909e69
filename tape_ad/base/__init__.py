"""What every layer stands on: errors, trees, names, optional libraries, and what an array is to us."""
