"""Scheduling: fused nests in order, strip-mined, as bytecode."""
