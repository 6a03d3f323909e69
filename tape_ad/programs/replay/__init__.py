"""Replay: which program a call belongs to, its guards, and what is checked."""
