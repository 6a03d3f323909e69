"""Records: nodes and sweeps, handles, the dispatch of NumPy's calls, gradients, and inspection."""
