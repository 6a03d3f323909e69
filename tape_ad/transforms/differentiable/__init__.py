"""Copies of other people's code that keep handles; see `tape_ad.differentiable`."""
