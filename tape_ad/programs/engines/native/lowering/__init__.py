"""Lowering: what each call becomes as loop nests."""
