"""What users hold: the handle, the one dispatch behind it, the record, and gradients."""
