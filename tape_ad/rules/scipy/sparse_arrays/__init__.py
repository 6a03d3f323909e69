"""Sparse arrays whose elements may be a handle; `tape_ad.sparse` publishes them."""
