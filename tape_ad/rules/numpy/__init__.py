"""The rules for NumPy's own functions, in files named after the sections of its reference."""
