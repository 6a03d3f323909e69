"""Functions of one thing, run over a batch of them at once."""
