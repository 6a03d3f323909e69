"""Capture: running a function once while its calls are written down as a program."""
