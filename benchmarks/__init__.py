"""tape_ad beside its peers, measured in one run and printed as ratios."""
