"""Fusion: nests over one iteration space become one, and memory is reused."""
