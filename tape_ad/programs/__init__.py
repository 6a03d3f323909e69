"""Programs: a function's calls written down once, made simpler, and replayed without the tape."""
