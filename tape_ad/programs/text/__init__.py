"""Programs written as Python."""
